/* SPDX-License-Identifier: MIT */
#include "stopwatch.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec time = {0};

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct inject_time now(void)
{
    return (struct inject_time){
        .wall = read_clock(CLOCK_MONOTONIC),
        .cpu = read_clock(CLOCK_THREAD_CPUTIME_ID),
    };
}

void stopwatch_start(struct stopwatch *watch)
{
    watch->start = now();
}

void stopwatch_stop(const struct stopwatch *watch, struct inject_time *time)
{
    const struct inject_time end = now();

    time->wall += end.wall - watch->start.wall;
    time->cpu += end.cpu - watch->start.cpu;
}
