/* SPDX-License-Identifier: MIT */
/*
 * The events of the recording other than samples: what the kernel says of processes, threads and
 * mappings. They all happen on the first CPU.
 */
#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#include "buffer.h"
#include "workload.h"

struct mapped_file {
    const char *path;
    uint64_t address;
    uint64_t size;
    uint64_t offset;
    uint64_t inode; /* 0: memory without a file */
    uint32_t major, minor;
};

/* The mapped files that samples hit outside the generated code; on no machine. */
extern const struct mapped_file runtime_binary;
extern const struct mapped_file runtime_library;

struct event {
    uint64_t time;
    size_t offset; /* of its bytes in events.bytes */
};

/* In the order of their times. */
struct events {
    struct event *items;
    size_t count;
    size_t capacity;
    struct buffer bytes;
};

void events_init(struct events *events, const struct workload *workload);
void events_free(struct events *events);

/* An event of kind PERF_RECORD_*; its size is filled in by end_event. */
size_t begin_event(struct buffer *to, uint32_t type, uint16_t misc);
void end_event(struct buffer *to, size_t start);

#endif /* BENCH_EVENTS_H */
