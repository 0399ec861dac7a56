/* SPDX-License-Identifier: MIT */
/*
 * A hash table from pairs of numbers to numbers. Inputs choose the keys, so where these lie depends
 * on a seed that no input knows: none can have them collide, which would make each look-up a walk
 * through all of them.
 */
#ifndef JITINJECT_HASHMAP_H
#define JITINJECT_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashmap_slot {
    uint64_t key;
    uint64_t value;
    uint32_t subkey;
    bool used;
};

/* All zero: empty. */
struct hashmap {
    struct hashmap_slot *slots; /* a power of two of them, or none; in an order of chance */
    size_t capacity, count;
    uint64_t seed[2];
    unsigned shift; /* a hash has 64 bits, and the upper ones tell the slot */
};

void hashmap_clear(struct hashmap *map);
/* Takes all keys out, and keeps the room for as many. */
void hashmap_empty(struct hashmap *map);

/* The value of a key, good until the next change of the map; NULL: it has none. */
uint64_t *hashmap_find(const struct hashmap *map, uint64_t key, uint32_t subkey);

/* Sets or replaces. 0, or -ENOMEM and nothing has changed. */
int hashmap_put(struct hashmap *map, uint64_t key, uint32_t subkey, uint64_t value);

/* Takes a key out. False: it was not there. */
bool hashmap_take(struct hashmap *map, uint64_t key, uint32_t subkey, uint64_t *value);

#endif /* JITINJECT_HASHMAP_H */
