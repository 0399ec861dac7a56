/* SPDX-License-Identifier: MIT */
/*
 * A map from address ranges to values, in which setting a range replaces what it covers: the way an
 * address space takes mappings. Ranges lie in leaves of bounded size, so that setting one costs
 * about the logarithm of their number and a short move, whatever the order.
 */
#ifndef JITINJECT_RANGEMAP_H
#define JITINJECT_RANGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t start, end; /* [start, end) */
    uint64_t stamp;      /* when it was set */
    uint32_t value;
};

struct rangemap_leaf;

/* All zero is an empty map. */
struct rangemap {
    struct rangemap_leaf **leaves;
    size_t count, capacity;
};

/* A place in a map; setting or clearing ranges ends its validity. */
struct rangemap_at {
    size_t leaf, slot;
};

void rangemap_clear(struct rangemap *map);
/* Replaces what `to` held. 0 or -ENOMEM. */
int rangemap_copy(struct rangemap *to, const struct rangemap *from);

/* Sets [start, end); an empty range is nothing. Neighbours with equal value and stamp become one. 0
 * or -ENOMEM. */
int rangemap_set(struct rangemap *map, uint64_t start, uint64_t end, uint32_t value,
                 uint64_t stamp);
/* Takes [start, end) out. 0 or -ENOMEM (a range may be split). */
int rangemap_unset(struct rangemap *map, uint64_t start, uint64_t end);

/* The first range that ends behind `address`. */
struct rangemap_at rangemap_find(const struct rangemap *map, uint64_t address);
/* The range there, or NULL at the end. */
const struct range *rangemap_get(const struct rangemap *map, struct rangemap_at at);
void rangemap_next(const struct rangemap *map, struct rangemap_at *at);
/* The range before; NULL, and `at` unchanged, at the first. */
const struct range *rangemap_previous(const struct rangemap *map, struct rangemap_at *at);

/* Whether any range overlaps [start, end). */
bool rangemap_overlaps(const struct rangemap *map, uint64_t start, uint64_t end);
/* Whether one range holds all of [start, end). */
bool rangemap_holds(const struct rangemap *map, uint64_t start, uint64_t end);

#endif /* JITINJECT_RANGEMAP_H */
