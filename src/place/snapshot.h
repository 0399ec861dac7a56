/* SPDX-License-Identifier: MIT */
/*
 * Names without times, as a perf map has them. They hold wherever the process has memory without a
 * file, from the time that it came to be, as readers of such maps have it; and not where a piece of
 * its own time is known. What is left of each becomes pieces like any.
 */
#ifndef PLACE_SNAPSHOT_H
#define PLACE_SNAPSHOT_H

#include "place_internal.h"

/* Makes the pieces of all processes, once each life is one. 0 or -ENOMEM. */
int snapshot_fill_all(struct place *place);
/* Adds them to those with times. 0 or -ENOMEM. */
int snapshot_add_all(struct place *place);

#endif /* PLACE_SNAPSHOT_H */
