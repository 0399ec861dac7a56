/* SPDX-License-Identifier: MIT */
/*
 * What is recorded: processes that each load functions at a steady pace during the first half of
 * the recording, and run them to its end on two CPUs. The dump and the samples are both derived
 * from this, so each sample hits code that is there at that time.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORKLOAD_CPUS = 2,
    WORKLOAD_SAMPLE_PERIOD = 250000, /* ns: 4000 Hz, what perf record does unless told otherwise */
};

struct options {
    uint32_t functions;
    uint32_t samples;
    uint32_t reuse;  /* addresses a process loads its functions at; 0: each has its own */
    uint32_t lines;  /* rows of a line table */
    uint32_t remaps; /* times that memory with code in it is mapped again */
    bool unwind;
    uint32_t processes;
    uint64_t seed;
    char *out; /* absolute */
};

struct function {
    uint64_t address;
    uint32_t size;
};

struct process {
    uint32_t pid;
    uint32_t first;      /* its first function in workload.functions */
    uint32_t count;      /* of its functions */
    uint64_t code_start; /* the address range that its code lies in */
    uint64_t code_end;
    uint64_t setup_time; /* of its exec; the first code follows later */
    uint64_t load_interval;
};

struct workload {
    const struct options *options;
    struct function *functions;
    struct process *processes;
    uint64_t start_time;
    uint64_t first_sample_time;
    uint64_t first_load_time;
};

void workload_init(struct workload *workload, const struct options *options);
void workload_free(struct workload *workload);

/* `index` counts the functions of the process. Load times are even, sample times odd. */
uint64_t workload_load_time(const struct workload *workload, const struct process *process,
                            uint32_t index);

/* The functions that are there at a sample's time: [*oldest, end of the range), by index. */
uint32_t workload_live(const struct workload *workload, const struct process *process,
                       uint64_t time, uint32_t *oldest);

#endif /* BENCH_WORKLOAD_H */
