/* SPDX-License-Identifier: MIT */
#include "jitinject/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* As most machines have them. Where they are of another size it is an alignment like any. */
#define HUGE_PAGE ((size_t)2 << 20)

void *array_new(size_t count, size_t item_size)
{
    if (count > (SIZE_MAX - HUGE_PAGE) / item_size)
        return NULL;
    const size_t size = count * item_size;
    if (size < HUGE_PAGE / 2)
        return malloc(size ? size : 1);
    const size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *items = aligned_alloc(HUGE_PAGE, whole);
    if (items)
        madvise(items, whole, MADV_HUGEPAGE); /* without them it is slower, that is all */
    return items;
}

bool array_reserve_bytes(void **items, size_t *capacity, size_t need, size_t item_size)
{
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity + *capacity / 2 : 16;
    if (grown < need)
        grown = need;
    if (grown > SIZE_MAX / item_size)
        return false;
    void *moved = *items ? realloc(*items, grown * item_size) : array_new(grown, item_size);
    if (!moved)
        return false;
    *items = moved;
    *capacity = grown;
    return true;
}
