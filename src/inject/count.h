/* SPDX-License-Identifier: MIT */
/* Counts the samples of each process that are in JIT code and have a name in the result. */
#ifndef INJECT_COUNT_H
#define INJECT_COUNT_H

#include "jitinject/inject.h"
#include "jitinject/perfdata.h"
#include "jitinject/place.h"

#include <stddef.h>

struct count;

/* For the rows of `summary`, which has them for the processes that have code; both are borrowed. 0
 * or -ENOMEM; *out is NULL on an error. */
int count_new(struct place *place, struct inject_summary *summary, struct count **out);
void count_free(struct count *count);
/* `size` samples. 0 or a negative errno of place_look. */
int count_samples(struct count *count, const struct perfdata_sample *samples, size_t size);
/* After the last sample: the rows are complete then, and by pid. 0 or -ENOMEM. */
int count_finish(struct count *count);

#endif /* INJECT_COUNT_H */
