/* SPDX-License-Identifier: MIT */
/*
 * Processes that ran code in memory without a file though the recording names no dump of theirs:
 * perf came when the dump was no longer mapped, or the runtime never wrote one. Only the user can
 * tell.
 */
#ifndef INJECT_UNLOGGED_H
#define INJECT_UNLOGGED_H

#include "recording.h"

/* Warns of them, once samples are counted. 0 or -ENOMEM. */
int unlogged_report(const struct recording *recording);

#endif /* INJECT_UNLOGGED_H */
