/* SPDX-License-Identifier: MIT */
/* Plain arrays, fixed and growing; free() frees them. */
#ifndef JITINJECT_ARRAY_H
#define JITINJECT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * An array of `count` items of `item_size` bytes, not cleared; NULL when memory is out or the size
 * overflows. A large one lies on huge pages where the system has them: the first touch of a page
 * costs about as much as all the work on it.
 */
void *array_new(size_t count, size_t item_size);

/*
 * As free(), but the pages of a large array go back to the system: the heap would keep them, and
 * find no use for them where it has to begin on a huge page. NULL is fine.
 */
void array_free(void *items, size_t count, size_t item_size);

/*
 * Makes room for at least `need` items of `item_size` bytes. `items` is the array (or NULL with a
 * capacity of 0); it may move. False when memory is out or the size overflows: the array is then as
 * it was.
 */
bool array_reserve_bytes(void **items, size_t *capacity, size_t need, size_t item_size);

/* The same for a typed array: array_reserve(&list->items, &list->capacity, list->count + 1) */
#define array_reserve(items, capacity, need)                                                       \
    ((need) <= *(capacity) ||                                                                      \
     array_reserve_bytes((void **)(items), (capacity), (need), sizeof(**(items))))

/* As qsort(), but equal items keep their order, and what is in order already, all of it or in runs,
 * costs the less the more it is. */
void array_sort(void *items, size_t count, size_t item_size,
                int (*compare)(const void *, const void *));

/* For items that are uint64_t: their order, as array_sort(), qsort() and bsearch() ask for it. */
int array_compare_u64(const void *left, const void *right);

#endif /* JITINJECT_ARRAY_H */
