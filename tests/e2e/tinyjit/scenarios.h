/* SPDX-License-Identifier: MIT */
/* What tinyjit can be asked to do. */
#ifndef TINYJIT_SCENARIOS_H
#define TINYJIT_SCENARIOS_H

#include "jit.h"

struct scenario {
    const char *name;
    const char *does;
    void (*run)(struct jit *jit);
};

/* The last one has no name. */
extern const struct scenario scenarios[];

#endif /* TINYJIT_SCENARIOS_H */
