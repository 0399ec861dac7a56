/* SPDX-License-Identifier: MIT */
/* The jitdump file of a process. */
#ifndef BENCH_DUMP_H
#define BENCH_DUMP_H

#include "workload.h"

/* To be freed by the caller. */
char *dump_path(const struct options *options, const struct process *process);

void dump_write(const struct workload *workload, const struct process *process);

#endif /* BENCH_DUMP_H */
