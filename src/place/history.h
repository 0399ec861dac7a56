/* SPDX-License-Identifier: MIT */
/*
 * What was mapped where at which time, once all of it is known: an interval tree over the
 * addresses. Each change is at the first node, from the root on, whose address it covers; so all
 * changes of a node overlap, and where code is replaced again and again they are one list, in order
 * of time. Asking costs a logarithm of their number.
 */
#ifndef PLACE_HISTORY_H
#define PLACE_HISTORY_H

#include "event.h"

/* The changes that cover `center`, but none of the nodes above. */
struct history_node {
    uint64_t center;
    uint64_t start, end; /* of all of them together */
    uint32_t first;      /* of them; those of the last node end with that of one more */
    uint32_t next;       /* the first one after the time that was asked for last */
};

/* What a block of changes covers together. */
struct history_span {
    uint64_t start, end;
};

#define HISTORY_LEVELS 8

/* All zero is an empty history. */
struct history {
    const struct event *events; /* of all processes, by time */
    uint32_t *changes;          /* numbers of events: by node, ascending within a node */
    size_t count, capacity;
    struct history_node *nodes; /* by center; the middle one is the root, and so on */
    size_t node_count;
    struct history_span *spans;    /* of blocks of 16 changes, then of blocks of 16 of these, ... */
    size_t levels[HISTORY_LEVELS]; /* where each of them begins */
    unsigned level_count;
};

/* Where and when an answer is the same: addresses [start, end), times [since, until). */
struct history_box {
    uint64_t start, end;
    uint64_t since, until;
};

/* Makes room for so many changes. 0 or -ENOMEM. */
int history_expect(struct history *history, size_t count);
/* Event number `number` is a change; in order of time. 0 or -ENOMEM. */
int history_add(struct history *history, uint32_t number);
/* After the last one was added; `events` are borrowed. 0 or -ENOMEM. */
int history_index(struct history *history, const struct event *events);
/*
 * The last change at or before `time` that covers `address`, or NULL. Questions whose times are
 * near one another cost less.
 */
const struct event *history_find(struct history *history, uint64_t address, uint64_t time,
                                 struct history_box *box);
void history_clear(struct history *history);

#endif /* PLACE_HISTORY_H */
