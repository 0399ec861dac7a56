/* SPDX-License-Identifier: MIT */
/* Growing a plain array. */
#ifndef JITINJECT_ARRAY_H
#define JITINJECT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for at least `need` items of `item_size` bytes. `items` is the array (or NULL with a
 * capacity of 0); it may move. False when memory is out or the size overflows: the array is then as
 * it was.
 */
bool array_reserve_bytes(void **items, size_t *capacity, size_t need, size_t item_size);

/* The same for a typed array: array_reserve(&list->items, &list->capacity, list->count + 1) */
#define array_reserve(items, capacity, need)                                                       \
    array_reserve_bytes((void **)(items), (capacity), (need), sizeof(**(items)))

#endif /* JITINJECT_ARRAY_H */
