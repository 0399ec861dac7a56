/* SPDX-License-Identifier: MIT */
/* Measures the steps, each on the thread that does it. */
#ifndef INJECT_STOPWATCH_H
#define INJECT_STOPWATCH_H

#include "jitinject/inject.h"

struct stopwatch {
    struct inject_time start;
};

void stopwatch_start(struct stopwatch *watch);
/* Adds what has passed since the start. */
void stopwatch_stop(const struct stopwatch *watch, struct inject_time *time);

#endif /* INJECT_STOPWATCH_H */
