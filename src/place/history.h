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
    uint32_t *first;   /* node -> its first entry; one more at the end */
    uint32_t *entries; /* numbers of changes, ascending within a node */
    uint64_t *times;   /* of the changes: a search looks at nothing else of them */
};

/* An answer, and where and when else it is the same. All zero is none. */
struct history_memo {
    const struct history *history;
    uint64_t start, end;   /* addresses [start, end) */
    uint64_t since, until; /* times [since, until) */
    const struct history_change *change;
};

/* Makes room for so many changes. 0 or -ENOMEM. */
int history_expect(struct history *history, size_t count);
/* In any order. 0 or -ENOMEM. */
int history_add(struct history *history, const struct history_change *change);
/* After the last one was added; changes of equal time keep their order. 0, -ENOMEM, or -EOVERFLOW
 * for very many. */
int history_index(struct history *history);
/*
 * The last change at or before `time` that covers `address`, or NULL. `memo` holds the last answer,
 * which is the next one, too, where questions are near one another.
 */
const struct history_change *history_find(const struct history *history, uint64_t address,
                                          uint64_t time, struct history_memo *memo);
void history_clear(struct history *history);

#endif /* PLACE_HISTORY_H */
