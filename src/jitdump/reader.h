/* SPDX-License-Identifier: MIT */
/* What the index takes from a reader beyond its records. */
#ifndef JITDUMP_READER_H
#define JITDUMP_READER_H

#include "dump.h"

/* All of it that a pass over the records can tell; complete when the reader has come to the end. */
const struct jitdump_stats *reader_stats(const struct jitdump_reader *reader);

/* A record that the caller found to be invalid: reported and counted like the reader's own. */
void reader_reject(struct jitdump_reader *reader, const struct jitdump_record *record,
                   const char *why);

#endif /* JITDUMP_READER_H */
