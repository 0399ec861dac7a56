/* SPDX-License-Identifier: MIT */
/*
 * What was mapped where at which time, once all of it is known: a segment tree over the addresses,
 * with the mappings of a node in order of time. Asking costs a logarithm of their number.
 */
#ifndef PLACE_HISTORY_H
#define PLACE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_change {
    uint64_t time;
    uint64_t start, end;
    uint32_t value;
    uint32_t order; /* set by history_add */
};

/* All zero is an empty history. */
struct history {
    struct history_change *changes; /* by time */
    size_t count, capacity;
    uint64_t *bounds; /* distinct starts and ends, ascending */
    size_t bound_count;
    size_t *first;     /* node -> its first entry; one more at the end */
    uint32_t *entries; /* numbers of changes */
};

/* In any order. 0 or -ENOMEM. */
int history_add(struct history *history, const struct history_change *change);
/* After the last one was added; changes of equal time keep their order. 0 or -ENOMEM. */
int history_index(struct history *history);
/* The last change at or before `time` that covers `address`, or NULL. */
const struct history_change *history_find(const struct history *history, uint64_t address,
                                          uint64_t time);
void history_clear(struct history *history);

#endif /* PLACE_HISTORY_H */
