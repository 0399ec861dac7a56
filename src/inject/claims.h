/* SPDX-License-Identifier: MIT */
/* Which files are the dumps of a recording: those that the user gave, and those that its markers
 * claim. Each is read once, however many processes had it mapped. */
#ifndef INJECT_CLAIMS_H
#define INJECT_CLAIMS_H

#include "recording.h"

/* Fills recording->dumps, each with its index and its owner, and gives the markers their dumps. 0
 * or a negative errno. */
int claims_find_dumps(struct recording *recording);

#endif /* INJECT_CLAIMS_H */
