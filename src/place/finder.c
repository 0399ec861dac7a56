/* SPDX-License-Identifier: MIT */
#include "finder.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Runtimes align code so at least: smaller granules tell more of where it ends only. */
#define GRANULE_SHIFT_MIN 4
/* On average. More bits are of no use once they leave the cache. */
#define GRANULES_A_PIECE 32
/* So many stay in the innermost cache. There they may be a byte each, which leaves nothing to
 * search, if pieces do not lie too far apart for that. */
#define GRANULES_AT_HAND         (UINT64_C(1) << 16)
#define GRANULES_A_PIECE_AT_HAND 512

/* Sets the bits of all granules in [start, end). */
static void set_full(struct place_grid *grid, uint64_t start, uint64_t end)
{
    const uint64_t round_up = (UINT64_C(1) << grid->shift) - 1;
    uint64_t granule = (start + round_up) >> grid->shift;
    const uint64_t last = end >> grid->shift;

    while (granule < last) {
        const unsigned bit = granule % 64;
        const uint64_t left = last - granule;
        const uint64_t ones = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
        grid->full[granule / 64] |= ones << bit;
        granule += 64 - bit;
    }
}

static bool is_too_fine(const struct finder *finder, unsigned shift)
{
    const uint64_t granules = finder->grid.span >> shift;

    if (granules <= GRANULES_AT_HAND)
        return granules > finder->count * GRANULES_A_PIECE_AT_HAND;
    return shift < GRANULE_SHIFT_MIN || granules > finder->count * GRANULES_A_PIECE;
}

static int make_grid(struct finder *finder)
{
    struct place_grid *grid = &finder->grid;

    while (is_too_fine(finder, grid->shift))
        grid->shift++;
    const size_t words = (size_t)(grid->span >> grid->shift) / 64 + 1;
    grid->full = array_new(words, sizeof(*grid->full));
    if (!grid->full)
        return -ENOMEM;
    memset(grid->full, 0, words * sizeof(*grid->full));
    for (size_t i = 0, next; i < finder->count; i = next) {
        uint64_t end = finder->ranges[i].end;
        for (next = i + 1; next < finder->count && finder->ranges[next].start == end; next++)
            end = finder->ranges[next].end;
        set_full(grid, finder->ranges[i].start, end);
    }
    return 0;
}

static int index_ranges(struct finder *finder, struct code *const *codes)
{
    while (finder->grid.span >> finder->shift > finder->count)
        finder->shift++;
    const size_t parts = (size_t)(finder->grid.span >> finder->shift) + 1;
    /* One array, so that both are on huge pages where there are many pieces. */
    finder->ranges = array_new(
        finder->count * sizeof(*finder->ranges) + (parts + 1) * sizeof(*finder->first), 1);
    if (!finder->ranges)
        return -ENOMEM;
    finder->first = (uint32_t *)(finder->ranges + finder->count);

    size_t part = 0;
    for (uint32_t i = 0; i < finder->count; i++) {
        const uint64_t start = codes[i]->addr - finder->grid.start, end = start + codes[i]->size;
        finder->ranges[i] = (struct finder_range){(uint32_t)start, (uint32_t)end};
        for (; (uint64_t)part << finder->shift < end; part++)
            finder->first[part] = i;
    }
    for (; part <= parts; part++)
        finder->first[part] = (uint32_t)finder->count;
    return 0;
}

static int finder_index(struct finder *finder, struct code *const *codes, size_t count)
{
    finder->count = count;
    finder->grid.start = codes[0]->addr;
    finder->grid.span = codes[count - 1]->addr + codes[count - 1]->size - finder->grid.start;
    if (count >= UINT32_MAX || finder->grid.span > UINT32_MAX)
        return -EOVERFLOW;
    const int err = index_ranges(finder, codes);
    return err ? err : make_grid(finder);
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
    free(finder->grid.full);
    free(finder->ranges);
    free(finder);
}

bool finder_search(const struct finder *finder, uint64_t addr)
{
    const uint64_t offset = addr - finder->grid.start;
    const size_t part = (size_t)(offset >> finder->shift);
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
