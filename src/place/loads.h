/* SPDX-License-Identifier: MIT */
/* What a load maps: its piece, or all around it that is as new. For the timeline only. */
#ifndef PLACE_LOADS_H
#define PLACE_LOADS_H

#include "place_internal.h"

/* Loads of a process before `time`; `last`: all that are left. 0 or -ENOMEM. */
int loads_run(struct place *place, struct process *process, uint64_t time, bool last);

#endif /* PLACE_LOADS_H */
