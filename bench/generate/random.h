/* SPDX-License-Identifier: MIT */
/*
 * Numbers that depend on the seed and on what they are for, never on the order in which things are
 * made: a function's code is the same whether or not lines are written with it.
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): one addition and one mix a number. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static inline uint64_t random_start(uint64_t seed, uint64_t purpose, uint64_t index)
{
    uint64_t state = seed ^ purpose << 56;
    state = random_next(&state) ^ index;
    return random_next(&state);
}

/* A number under `limit`, which is under 2^32. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

/* The same, small numbers being likelier: the square of an even distribution. */
static inline uint32_t random_skewed(uint64_t *state, uint32_t limit)
{
    uint64_t even = random_next(state) >> 32;
    return (uint32_t)((even * even >> 32) * limit >> 32);
}

#endif /* BENCH_RANDOM_H */
