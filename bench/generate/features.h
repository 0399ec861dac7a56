/* SPDX-License-Identifier: MIT */
/* The parts of a perf.data file that describe it: header, attribute and features. */
#ifndef BENCH_FEATURES_H
#define BENCH_FEATURES_H

#include "buffer.h"
#include "workload.h"

enum {
    FEATURES_IDS = WORKLOAD_CPUS,          /* the event is opened once a CPU */
    FEATURES_DATA_OFFSET = 104 + 16 + 144, /* header, ids, one attribute with its place of ids */
    FEATURES_FIRST_ID = 12,
};

/* All before the data section: FEATURES_DATA_OFFSET bytes. */
void features_put_header(struct buffer *to, uint64_t data_size);

/* All behind it. */
void features_put_trailer(struct buffer *to, const struct workload *workload, uint64_t data_size,
                          uint64_t last_sample_time);

#endif /* BENCH_FEATURES_H */
