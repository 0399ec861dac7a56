/* SPDX-License-Identifier: MIT */
/* A hash table from a number and a pid to a number. */
#ifndef JITDUMP_MAP_H
#define JITDUMP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    uint64_t value;
    uint32_t pid;
    bool used;
};

/* All zero: empty. */
struct map {
    struct map_slot *slots; /* a power of two of them, or none; any order */
    size_t capacity, count;
    uint64_t seed[3];
};

void map_clear(struct map *map);

/* The value of a key, good until the next change of the map; NULL: it has none. */
uint64_t *map_find(const struct map *map, uint64_t key, uint32_t pid);

/* Sets or replaces. 0 or -ENOMEM. */
int map_put(struct map *map, uint64_t key, uint32_t pid, uint64_t value);

/* Takes a key out. False: it was not there. */
bool map_take(struct map *map, uint64_t key, uint32_t pid, uint64_t *value);

#endif /* JITDUMP_MAP_H */
