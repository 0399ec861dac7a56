/* SPDX-License-Identifier: MIT */
/*
 * A pid may stand for several programs, one after the other: after an exec, and when it is used
 * again. Each has memory of its own, so each is a process of its own to all steps that follow.
 */
#ifndef PLACE_LIVES_H
#define PLACE_LIVES_H

#include "place_internal.h"

/*
 * Gives each life of the related processes a process of its own, with the mappings, pieces and
 * dumps of its time, and makes forks lead to and from lives. Everything that is asked by pid leads
 * to the first one. 0 or -ENOMEM.
 */
int lives_split(struct place *place);
/* What the pid of `first` was at that time. */
struct process *lives_at(struct process *first, uint64_t time);
/* The same, and the times [*since, *until) at which it was that. */
struct process *lives_find(struct process *first, uint64_t time, uint64_t *since, uint64_t *until);

#endif /* PLACE_LIVES_H */
