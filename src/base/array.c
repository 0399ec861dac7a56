/* SPDX-License-Identifier: MIT */
#include "jitinject/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As most machines have them. Where they are of another size it is an alignment like any. */
#define HUGE_PAGE ((size_t)2 << 20)
/* From here on it has huge pages of its own; smaller ones are on those of the heap. */
#define LARGE (2 * HUGE_PAGE)

static size_t whole_pages(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *array_new(size_t count, size_t item_size)
{
    if (count > (SIZE_MAX - HUGE_PAGE) / item_size)
        return NULL;
    const size_t size = count * item_size;
    if (size < LARGE)
        return malloc(size ? size : 1);
    const size_t whole = whole_pages(size);
    void *items = aligned_alloc(HUGE_PAGE, whole);
    if (items)
        madvise(items, whole, MADV_HUGEPAGE); /* without them it is slower, that is all */
    return items;
}

void array_free(void *items, size_t count, size_t item_size)
{
    const size_t size = count * item_size;

    if (items && size >= LARGE)
        madvise(items, whole_pages(size), MADV_DONTNEED);
    free(items);
}

bool array_reserve_bytes(void **items, size_t *capacity, size_t need, size_t item_size)
{
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity + *capacity / 2 : 16;
    if (grown < need)
        grown = need;
    if (grown > (SIZE_MAX - HUGE_PAGE) / item_size)
        return false;
    /* A large one uses its huge pages to their ends, and is copied: realloc() would move it to
     * where no huge page begins, and give what seems to be left of the last one back. */
    const bool is_large = grown * item_size >= LARGE;
    if (is_large)
        grown = whole_pages(grown * item_size) / item_size;
    void *moved = is_large ? array_new(grown, item_size) : realloc(*items, grown * item_size);
    if (!moved)
        return false;
    if (is_large && *items) {
        memcpy(moved, *items, *capacity * item_size);
        array_free(*items, *capacity, item_size);
    }
    *items = moved;
    *capacity = grown;
    return true;
}
