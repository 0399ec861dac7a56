/* SPDX-License-Identifier: MIT */
#include "jitinject/array.h"

#include <stdint.h>
#include <stdlib.h>

bool array_reserve_bytes(void **items, size_t *capacity, size_t need, size_t item_size)
{
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity + *capacity / 2 : 16;
    if (grown < need)
        grown = need;
    if (grown > SIZE_MAX / item_size)
        return false;
    void *moved = realloc(*items, grown * item_size);
    if (!moved)
        return false;
    *items = moved;
    *capacity = grown;
    return true;
}
