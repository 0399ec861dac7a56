/* SPDX-License-Identifier: MIT */
/*
 * The timeline: loads, mappings and forks in order of time over a model of what a reader would have
 * mapped. An event is made only where the reader would otherwise be wrong.
 */
#ifndef PLACE_TIMELINE_H
#define PLACE_TIMELINE_H

#include "place_internal.h"

/* The events and dropped records of all processes. 0 or -ENOMEM. */
int timeline_run(struct place *place);

#endif /* PLACE_TIMELINE_H */
