/* SPDX-License-Identifier: MIT */
#include "jitinject/hashmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_AT_FIRST_BITS 6

static void make_seed(struct hashmap *map)
{
    /* Early at boot the system may have nothing to give; nobody prepares an input for that. */
    static const uint64_t fallback[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03};

    if (getrandom(map->seed, sizeof(map->seed), GRND_NONBLOCK) != (ssize_t)sizeof(map->seed))
        memcpy(map->seed, fallback, sizeof(fallback));
    map->seed[0] |= 1;
    map->seed[1] |= 1;
}

/*
 * Multiplied with an odd number by chance, two keys have the same upper bits about as seldom as if
 * these were by chance (Dietzfelbinger and others, "A reliable randomized algorithm for the
 * closest-pair problem", 1997).
 */
static size_t home(const struct hashmap *map, uint64_t key, uint32_t subkey)
{
    return (size_t)((key * map->seed[0] + subkey * map->seed[1]) >> map->shift);
}

/* The slot that has the key, or the free one where it belongs. */
static size_t locate(const struct hashmap *map, uint64_t key, uint32_t subkey)
{
    size_t at = home(map, key, subkey);

    while (map->slots[at].used && (map->slots[at].key != key || map->slots[at].subkey != subkey))
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static int grow(struct hashmap *map)
{
    struct hashmap grown = *map;

    grown.capacity = map->capacity ? map->capacity * 2 : (size_t)1 << SLOTS_AT_FIRST_BITS;
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (!grown.slots)
        return -ENOMEM;
    grown.shift = map->capacity ? map->shift - 1 : 64 - SLOTS_AT_FIRST_BITS;
    if (!map->capacity)
        make_seed(&grown);
    for (size_t i = 0; i < map->capacity; i++) {
        const struct hashmap_slot *slot = &map->slots[i];
        if (slot->used)
            grown.slots[locate(&grown, slot->key, slot->subkey)] = *slot;
    }
    free(map->slots);
    *map = grown;
    return 0;
}

void hashmap_clear(struct hashmap *map)
{
    free(map->slots);
    *map = (struct hashmap){0};
}

void hashmap_empty(struct hashmap *map)
{
    if (map->count)
        memset(map->slots, 0, map->capacity * sizeof(*map->slots));
    map->count = 0;
}

uint64_t *hashmap_find(const struct hashmap *map, uint64_t key, uint32_t subkey)
{
    if (!map->count)
        return NULL;
    struct hashmap_slot *slot = &map->slots[locate(map, key, subkey)];
    return slot->used ? &slot->value : NULL;
}

int hashmap_put(struct hashmap *map, uint64_t key, uint32_t subkey, uint64_t value)
{
    /* Half full at the most: probes stay short. */
    if (map->count >= map->capacity / 2) {
        int err = grow(map);
        if (err)
            return err;
    }
    struct hashmap_slot *slot = &map->slots[locate(map, key, subkey)];
    map->count += !slot->used;
    *slot = (struct hashmap_slot){.key = key, .value = value, .subkey = subkey, .used = true};
    return 0;
}

bool hashmap_take(struct hashmap *map, uint64_t key, uint32_t subkey, uint64_t *value)
{
    size_t mask = map->capacity - 1;

    if (!map->count)
        return false;
    size_t hole = locate(map, key, subkey);
    if (!map->slots[hole].used)
        return false;
    *value = map->slots[hole].value;

    /* Whatever was pushed past the hole moves up into it, so that no search ends there early. */
    for (size_t at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
        size_t from = home(map, map->slots[at].key, map->slots[at].subkey);
        if (((at - from) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].used = false;
    map->count--;
    return true;
}
