/* SPDX-License-Identifier: MIT */
#include "jitinject/rangemap.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Small enough that a move within a leaf is cheap, large enough that the list of leaves is short.
 */
#define LEAF_RANGES 128

struct rangemap_leaf {
    size_t count; /* never 0 in a map */
    struct range ranges[LEAF_RANGES];
};

void rangemap_clear(struct rangemap *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->leaves[i]);
    free(map->leaves);
    *map = (struct rangemap){0};
}

int rangemap_copy(struct rangemap *to, const struct rangemap *from)
{
    rangemap_clear(to);
    if (!array_reserve(&to->leaves, &to->capacity, from->count))
        return -ENOMEM;
    for (size_t i = 0; i < from->count; i++) {
        struct rangemap_leaf *leaf = malloc(sizeof(*leaf));
        if (!leaf)
            return -ENOMEM;
        leaf->count = from->leaves[i]->count;
        memcpy(leaf->ranges, from->leaves[i]->ranges, leaf->count * sizeof(leaf->ranges[0]));
        to->leaves[to->count++] = leaf;
    }
    return 0;
}

struct rangemap_at rangemap_find(const struct rangemap *map, uint64_t address)
{
    size_t low = 0, high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct rangemap_leaf *leaf = map->leaves[middle];
        if (leaf->ranges[leaf->count - 1].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    struct rangemap_at at = {.leaf = low};
    if (low == map->count)
        return at;

    const struct rangemap_leaf *leaf = map->leaves[low];
    low = 0;
    high = leaf->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (leaf->ranges[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    at.slot = low;
    return at;
}

const struct range *rangemap_get(const struct rangemap *map, struct rangemap_at at)
{
    return at.leaf < map->count ? &map->leaves[at.leaf]->ranges[at.slot] : NULL;
}

void rangemap_next(const struct rangemap *map, struct rangemap_at *at)
{
    if (++at->slot == map->leaves[at->leaf]->count) {
        at->leaf++;
        at->slot = 0;
    }
}

const struct range *rangemap_previous(const struct rangemap *map, struct rangemap_at *at)
{
    if (at->slot > 0) {
        at->slot--;
    } else if (at->leaf > 0) {
        at->leaf--;
        at->slot = map->leaves[at->leaf]->count - 1;
    } else {
        return NULL;
    }
    return rangemap_get(map, *at);
}

bool rangemap_overlaps(const struct rangemap *map, uint64_t start, uint64_t end)
{
    const struct range *range = rangemap_get(map, rangemap_find(map, start));

    return range && start < end && range->start < end;
}

bool rangemap_holds(const struct rangemap *map, uint64_t start, uint64_t end)
{
    const struct range *range = rangemap_get(map, rangemap_find(map, start));

    return range && range->start <= start && range->end >= end;
}

static struct range *slot_of(struct rangemap *map, struct rangemap_at at)
{
    return at.leaf < map->count ? &map->leaves[at.leaf]->ranges[at.slot] : NULL;
}

/* Puts an empty leaf into the list before number `leaf`. */
static struct rangemap_leaf *add_leaf(struct rangemap *map, size_t leaf)
{
    struct rangemap_leaf *added = malloc(sizeof(*added));

    if (!added || !array_reserve(&map->leaves, &map->capacity, map->count + 1)) {
        free(added);
        return NULL;
    }
    added->count = 0;
    memmove(&map->leaves[leaf + 1], &map->leaves[leaf],
            (map->count - leaf) * sizeof(map->leaves[0]));
    map->leaves[leaf] = added;
    map->count++;
    return added;
}

/* Puts a range before the one at *at, which is then its own place. */
static int insert(struct rangemap *map, struct rangemap_at *at, const struct range *range)
{
    if (at->leaf == map->count && map->count > 0) {
        at->leaf--;
        at->slot = map->leaves[at->leaf]->count;
    }
    if (map->count == 0 && !add_leaf(map, 0))
        return -ENOMEM;

    struct rangemap_leaf *leaf = map->leaves[at->leaf];
    if (leaf->count == LEAF_RANGES) {
        /* Appending keeps full leaves full; elsewhere half of the leaf moves on. */
        size_t keep = at->slot == LEAF_RANGES ? LEAF_RANGES : LEAF_RANGES / 2;
        struct rangemap_leaf *added = add_leaf(map, at->leaf + 1);
        if (!added)
            return -ENOMEM;
        added->count = LEAF_RANGES - keep;
        memcpy(added->ranges, leaf->ranges + keep, added->count * sizeof(*range));
        leaf->count = keep;
        if (at->slot > keep || keep == LEAF_RANGES) {
            leaf = added;
            at->leaf++;
            at->slot -= keep;
        }
    }
    memmove(&leaf->ranges[at->slot + 1], &leaf->ranges[at->slot],
            (leaf->count - at->slot) * sizeof(*range));
    leaf->ranges[at->slot] = *range;
    leaf->count++;
    return 0;
}

/* Takes out the ranges from `at` on that end at or before `end`. Returns where the next one is. */
static struct rangemap_at remove_up_to(struct rangemap *map, struct rangemap_at at, uint64_t end)
{
    size_t emptied = 0;

    while (at.leaf < map->count) {
        struct rangemap_leaf *leaf = map->leaves[at.leaf];
        size_t last = at.slot;
        while (last < leaf->count && leaf->ranges[last].end <= end)
            last++;
        bool more = last == leaf->count;
        memmove(&leaf->ranges[at.slot], &leaf->ranges[last],
                (leaf->count - last) * sizeof(leaf->ranges[0]));
        leaf->count -= last - at.slot;
        if (leaf->count == 0) {
            free(leaf);
            emptied++;
        }
        if (!more)
            break;
        at.leaf++;
        at.slot = 0;
    }
    /* Emptied leaves are those right before that one. */
    if (emptied > 0) {
        memmove(&map->leaves[at.leaf - emptied], &map->leaves[at.leaf],
                (map->count - at.leaf) * sizeof(map->leaves[0]));
        map->count -= emptied;
        at.leaf -= emptied;
    }
    return at;
}

/* Takes out what of [start, end) the ranges from *at on have: the first that ends behind `start`.
 * Then *at is the first one behind [start, end). */
static int take_out(struct rangemap *map, uint64_t start, uint64_t end, struct rangemap_at *at)
{
    struct range *range = slot_of(map, *at);

    if (range && range->start < start) {
        struct range tail = *range;
        range->end = start;
        rangemap_next(map, at);
        if (tail.end > end) {
            tail.start = end;
            int err = insert(map, at, &tail);
            if (err)
                range->end = tail.end;
            return err;
        }
    }
    *at = remove_up_to(map, *at, end);
    range = slot_of(map, *at);
    if (range && range->start < end)
        range->start = end;
    return 0;
}

int rangemap_unset(struct rangemap *map, uint64_t start, uint64_t end)
{
    struct rangemap_at at = rangemap_find(map, start);

    return start < end ? take_out(map, start, end, &at) : 0;
}

static bool is_like(const struct range *range, uint32_t value, uint64_t stamp)
{
    return range->value == value && range->stamp == stamp;
}

int rangemap_set(struct rangemap *map, uint64_t start, uint64_t end, uint32_t value, uint64_t stamp)
{
    struct rangemap_at at = rangemap_find(map, start);
    struct range *right = slot_of(map, at);

    if (start >= end)
        return 0;
    /* Nothing changes where memory that is covered is covered again. */
    if (right && right->start <= start && right->end >= end && is_like(right, value, stamp))
        return 0;
    int err = take_out(map, start, end, &at);
    if (err)
        return err;

    struct rangemap_at before = at;
    struct range *left = rangemap_previous(map, &before) ? slot_of(map, before) : NULL;
    right = slot_of(map, at);
    bool joins_left = left && left->end == start && is_like(left, value, stamp);
    bool joins_right = right && right->start == end && is_like(right, value, stamp);

    if (joins_left && joins_right) {
        left->end = right->end;
        remove_up_to(map, at, right->end);
    } else if (joins_left) {
        left->end = end;
    } else if (joins_right) {
        right->start = start;
    } else {
        const struct range range = {.start = start, .end = end, .stamp = stamp, .value = value};
        err = insert(map, &at, &range);
    }
    return err;
}
