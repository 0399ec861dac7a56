/* SPDX-License-Identifier: MIT */
/*
 * Finds whether a piece of code holds an address, among many pieces: the span is cut into about as
 * many equal parts as there are pieces, and each part knows its first piece. It is asked once a
 * sample, so it holds what it needs side by side: a search among the pieces themselves misses the
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
    uint64_t start; /* of the first piece */
    unsigned shift; /* a part is 1 << shift bytes */
    size_t parts;
    uint32_t *first; /* behind the ranges: part -> the first piece that ends behind the part's
                        start, and one more */
};

/* `codes` by address, not overlapping, within 4 GiB, at least one. 0, -ENOMEM, or -EOVERFLOW. */
int finder_new(struct code *const *codes, size_t count, struct finder **out);
void finder_free(struct finder *finder);
/*
 * Two steps that bring what finder_holds reads into the cache, so that many searches can take each
 * of them together.
 */
void finder_fetch_part(const struct finder *finder, uint64_t addr);
void finder_fetch_range(const struct finder *finder, uint64_t addr);
/* Whether a piece holds the address. */
bool finder_holds(const struct finder *finder, uint64_t addr);

#endif /* PLACE_FINDER_H */
