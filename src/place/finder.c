/* SPDX-License-Identifier: MIT */
#include "finder.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

static int finder_index(struct finder *finder, struct code *const *codes, size_t count)
{
    const uint64_t start = codes[0]->addr;
    const uint64_t span = codes[count - 1]->addr + codes[count - 1]->size - start;

    if (count >= UINT32_MAX || span > UINT32_MAX)
        return -EOVERFLOW;
    finder->start = start;
    finder->count = count;
    while (span >> finder->shift > count)
        finder->shift++;
    finder->parts = (size_t)(span >> finder->shift) + 1;
    /* One array, so that both are on huge pages where there are many pieces. */
    finder->ranges = array_new(
        count * sizeof(*finder->ranges) + (finder->parts + 1) * sizeof(*finder->first), 1);
    if (!finder->ranges)
        return -ENOMEM;
    finder->first = (uint32_t *)(finder->ranges + count);

    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = codes[i]->addr - start;
        finder->ranges[i] =
            (struct finder_range){(uint32_t)offset, (uint32_t)(offset + codes[i]->size)};
    }
    size_t piece = 0;
    for (size_t part = 0; part < finder->parts; part++) {
        while (piece < count && finder->ranges[piece].end <= (uint64_t)part << finder->shift)
            piece++;
        finder->first[part] = (uint32_t)piece;
    }
    finder->first[finder->parts] = (uint32_t)count;
    return 0;
}

int finder_new(struct code *const *codes, size_t count, struct finder **out)
{
    struct finder *finder = calloc(1, sizeof(*finder));
    const int err = finder ? finder_index(finder, codes, count) : -ENOMEM;

    if (err) {
        finder_free(finder);
        finder = NULL;
    }
    *out = finder;
    return err;
}

void finder_free(struct finder *finder)
{
    if (!finder)
        return;
    free(finder->ranges);
    free(finder);
}

/* The part of the span that holds the address. */
static bool find_part(const struct finder *finder, uint64_t addr, uint64_t *part)
{
    *part = (addr - finder->start) >> finder->shift;
    return addr >= finder->start && *part < finder->parts;
}

void finder_fetch_part(const struct finder *finder, uint64_t addr)
{
    uint64_t part;

    if (find_part(finder, addr, &part))
        __builtin_prefetch(&finder->first[part]);
}

void finder_fetch_range(const struct finder *finder, uint64_t addr)
{
    uint64_t part;

    if (find_part(finder, addr, &part))
        __builtin_prefetch(&finder->ranges[finder->first[part]]);
}

bool finder_holds(const struct finder *finder, uint64_t addr)
{
    const uint64_t offset = addr - finder->start;
    uint64_t part;

    if (!find_part(finder, addr, &part))
        return false;
    /* The piece is the first one of its part or begins within it: at most the first of the next
     * part. */
    size_t low = finder->first[part], high = finder->first[part + 1];
    high += high < finder->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct finder_range *range = &finder->ranges[middle];
        if (offset < range->start)
            high = middle;
        else if (offset >= range->end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}
