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

#include "jitinject/code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct finder_range {
    uint32_t start, end; /* from the start of the first piece on: windows are smaller than 4 GiB */
};

struct finder {
    struct finder_range *ranges; /* by address, not overlapping */
    size_t count;
    uint64_t start, span; /* from the first piece to the end of the last one */
    unsigned shift;       /* a part is 1 << shift bytes */
    uint32_t *first;      /* behind the ranges: part -> the first piece that ends behind the part's
                             start, and one more */
    unsigned granule_shift; /* a granule is 1 << granule_shift bytes */
    uint64_t *full;         /* bit of a granule: pieces hold all of it */
};

/* `codes` by address, not overlapping, within 4 GiB, at least one. 0, -ENOMEM, or -EOVERFLOW. */
int finder_new(struct code *const *codes, size_t count, struct finder **out);
void finder_free(struct finder *finder);

enum finder_answer { FINDER_NO, FINDER_YES, FINDER_SEARCH };

/* Whether a piece holds the address, or finder_search has to be asked. */
static inline enum finder_answer finder_ask(const struct finder *finder, uint64_t addr)
{
    const uint64_t offset = addr - finder->start, granule = offset >> finder->granule_shift;

    if (offset >= finder->span)
        return FINDER_NO;
    return finder->full[granule / 64] >> granule % 64 & 1 ? FINDER_YES : FINDER_SEARCH;
}

/*
 * Whether a piece holds the address, after FINDER_SEARCH. The two steps before it bring what it
 * reads into the cache, so that many searches can take each of them together.
 */
static inline void finder_fetch_part(const struct finder *finder, uint64_t addr)
{
    __builtin_prefetch(&finder->first[(addr - finder->start) >> finder->shift]);
}
static inline void finder_fetch_range(const struct finder *finder, uint64_t addr)
{
    __builtin_prefetch(&finder->ranges[finder->first[(addr - finder->start) >> finder->shift]]);
}
bool finder_search(const struct finder *finder, uint64_t addr);

#endif /* PLACE_FINDER_H */
