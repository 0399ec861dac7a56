/* SPDX-License-Identifier: MIT */
/* What happens to address spaces, loads aside, in order of time. */
#ifndef PLACE_STEPS_H
#define PLACE_STEPS_H

#include "place_internal.h"

/* One mapping or fork of any related process, in one list by time. */
struct step {
    uint64_t time;
    struct process *process; /* NULL: a fork */
    size_t number;           /* of the mapping, or of the fork */
};

/*
 * All steps of the related processes; sets process->timeline.last_step. The caller frees *out, also
 * after an error. 0 or -ENOMEM.
 */
int steps_collect(const struct place *place, struct step **out, size_t *count);

#endif /* PLACE_STEPS_H */
