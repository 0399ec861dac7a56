/* SPDX-License-Identifier: MIT */
/* The perf.data file. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "workload.h"

void profile_write(const struct workload *workload);

#endif /* BENCH_PROFILE_H */
