/* SPDX-License-Identifier: MIT */
#include "map.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

/* A dump chooses the keys. With a seed that it does not know it cannot choose them to collide. */
static void make_seed(struct map *map)
{
    static const uint64_t fallback[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7};

    for (size_t i = 0; i < 3; i++) {
        if (getrandom(&map->seed[i], sizeof(map->seed[i]), GRND_NONBLOCK) !=
            (ssize_t)sizeof(map->seed[i]))
            map->seed[i] = fallback[i];
        map->seed[i] |= 1;
    }
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static size_t home(const struct map *map, uint64_t key, uint32_t pid)
{
    uint64_t hash = fold(key ^ map->seed[0], map->seed[1]) ^ pid;

    return (size_t)fold(hash, map->seed[2]) & (map->capacity - 1);
}

/* The slot that has the key, or the free one where it belongs. */
static size_t locate(const struct map *map, uint64_t key, uint32_t pid)
{
    size_t at = home(map, key, pid);

    while (map->slots[at].used && (map->slots[at].key != key || map->slots[at].pid != pid))
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static int grow(struct map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : 64;
    struct map grown = {.capacity = capacity, .count = map->count};

    grown.slots = calloc(capacity, sizeof(*grown.slots));
    if (!grown.slots)
        return -ENOMEM;
    make_seed(&grown);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].used)
            grown.slots[locate(&grown, map->slots[i].key, map->slots[i].pid)] = map->slots[i];
    }
    free(map->slots);
    *map = grown;
    return 0;
}

void map_clear(struct map *map)
{
    free(map->slots);
    *map = (struct map){0};
}

uint64_t *map_find(const struct map *map, uint64_t key, uint32_t pid)
{
    if (!map->count)
        return NULL;
    struct map_slot *slot = &map->slots[locate(map, key, pid)];
    return slot->used ? &slot->value : NULL;
}

int map_put(struct map *map, uint64_t key, uint32_t pid, uint64_t value)
{
    /* Half full at the most: probes stay short. */
    if (map->count >= map->capacity / 2) {
        int err = grow(map);
        if (err)
            return err;
    }
    struct map_slot *slot = &map->slots[locate(map, key, pid)];
    map->count += !slot->used;
    *slot = (struct map_slot){.key = key, .value = value, .pid = pid, .used = true};
    return 0;
}

bool map_take(struct map *map, uint64_t key, uint32_t pid, uint64_t *value)
{
    size_t mask = map->capacity - 1;

    if (!map->count)
        return false;
    size_t hole = locate(map, key, pid);
    if (!map->slots[hole].used)
        return false;
    *value = map->slots[hole].value;

    /* Whatever was pushed past the hole moves up into it, so that no search ends there early. */
    for (size_t at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
        size_t from = home(map, map->slots[at].key, map->slots[at].pid);
        if (((at - from) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].used = false;
    map->count--;
    return true;
}
