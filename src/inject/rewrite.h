/* SPDX-License-Identifier: MIT */
/* The recording again, with the new mapping events. */
#ifndef INJECT_REWRITE_H
#define INJECT_REWRITE_H

#include "emit.h"
#include "output.h"
#include "recording.h"

/*
 * Writes all records to `output`, and counts its samples in the rows of the summary. The objects of
 * `emit` are finished when their build-ids are due. 0 or a negative errno.
 */
int rewrite_records(const struct recording *recording, const struct output *output,
                    struct emit *emit);

#endif /* INJECT_REWRITE_H */
