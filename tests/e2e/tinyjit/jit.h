/* SPDX-License-Identifier: MIT */
/* What the scenarios are made of: memory, and code that is made, logged and run. */
#ifndef TINYJIT_JIT_H
#define TINYJIT_JIT_H

#include "dump.h"

#include <sys/types.h>

#define PAGE ((size_t)4096)

struct jit {
    struct dump dump;
    const char *dir;      /* where dumps go */
    const char *argument; /* what a scenario needs: a shared object, a name; or NULL */
    uint64_t next_index;
};

/* mmap, or the end of the program. */
uint8_t *jit_map(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
/* Memory to write and to run. */
uint8_t *jit_heap(size_t size);
void jit_protect(uint8_t *at, size_t size, int prot);

/* Runs the code at `entry` until the thread has spent `ms` of the CPU's time. */
void jit_burn(const uint8_t *entry, unsigned ms);
/* The same by many short calls: all instructions of what is called take part of the time. */
void jit_burn_by_calls(const uint8_t *entry, unsigned ms);
/* Logs the code at `at`. */
void jit_log(struct jit *jit, const uint8_t *at, size_t size, const char *name);
/* Makes a function at `at`, logs it and runs it. */
void jit_run(struct jit *jit, uint8_t *at, const char *name, unsigned ms);
/* `count` of them named PREFIX0 ..., each `stride` bytes behind the other. */
void jit_run_many(struct jit *jit, uint8_t *at, size_t stride, const char *prefix, unsigned count,
                  unsigned ms);

#endif /* TINYJIT_JIT_H */
