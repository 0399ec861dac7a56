/* SPDX-License-Identifier: MIT */
/* What tinyjit can be asked to do. */
#ifndef TINYJIT_SCENARIOS_H
#define TINYJIT_SCENARIOS_H

#include "dump.h"

struct jit {
    struct dump dump;
    const char *dir;     /* where dumps go */
    const char *overlay; /* a shared object, for filemap */
    uint64_t next_index;
};

struct scenario {
    const char *name;
    const char *does;
    void (*run)(struct jit *jit);
};

/* The last one has no name. */
extern const struct scenario scenarios[];

#endif /* TINYJIT_SCENARIOS_H */
