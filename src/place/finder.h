/* SPDX-License-Identifier: MIT */
/*
 * Finds whether a piece of code holds an address, among many pieces. It is asked once a sample, so
 * a bit says of a few bytes side by side that pieces hold all of them; where they may not, it is
 * looked for: the span is cut into about as many equal parts as there are pieces, and each part
 * knows its first piece. All of it is small beside the pieces themselves, whose search misses the
 * cache at every step.
 */
#ifndef PLACE_FINDER_H
#define PLACE_FINDER_H

#include "jitinject/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct finder_range {
    uint32_t start, end; /* from the start of the first piece on: windows are smaller than 4 GiB */
};

struct finder {
    struct place_grid grid;      /* from the first piece to the end of the last one */
    struct finder_range *ranges; /* by address, not overlapping */
    size_t count;
    unsigned shift;  /* a part is 1 << shift bytes */
    uint32_t *first; /* behind the ranges: part -> the first piece that ends behind the part's
                        start, and one more */
};

/* `codes` by address, not overlapping, within 4 GiB, at least one. 0, -ENOMEM, or -EOVERFLOW. */
int finder_new(struct code *const *codes, size_t count, struct finder **out);
void finder_free(struct finder *finder);

/*
 * Whether a piece holds the address, which the grid knows. The two steps before it bring what it
 * reads into the cache, so that many searches can take each of them together.
 */
static inline void finder_fetch_part(const struct finder *finder, uint64_t addr)
{
    __builtin_prefetch(&finder->first[(addr - finder->grid.start) >> finder->shift]);
}
static inline void finder_fetch_range(const struct finder *finder, uint64_t addr)
{
    __builtin_prefetch(
        &finder->ranges[finder->first[(addr - finder->grid.start) >> finder->shift]]);
}
bool finder_search(const struct finder *finder, uint64_t addr);

#endif /* PLACE_FINDER_H */
