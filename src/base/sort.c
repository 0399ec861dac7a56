/* SPDX-License-Identifier: MIT */
/*
 * Merges runs that are in order already. Records of several processors are such runs, each of which
 * overlaps its neighbours only: what two runs do not have between one another stays where it is.
 */
#include "jitinject/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each waiting run has gone through more merges than the one after it. */
#define WAITING_MAX 64

struct run {
    size_t first;
    unsigned merges;
};

struct sort {
    char *items;
    size_t size; /* of an item */
    int (*compare)(const void *, const void *);
    char *buffer; /* for what a merge moves out of the way */
    size_t capacity;
};

static char *item_at(const struct sort *sort, size_t number)
{
    return sort->items + number * sort->size;
}

/* The end of the items from `first` on that are in order. */
static size_t find_end(const struct sort *sort, size_t first, size_t count)
{
    size_t end = first + 1;

    while (end < count && sort->compare(item_at(sort, end - 1), item_at(sort, end)) <= 0)
        end++;
    return end;
}

/* The first of the items [low, high), which are in order, that compares to `item` as `least` or
 * more. */
static size_t find_first(const struct sort *sort, size_t low, size_t high, const char *item,
                         int least)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sort->compare(item_at(sort, middle), item) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes one run of two that lie side by side; false when memory is out. */
static bool merge(struct sort *sort, size_t first, size_t middle, size_t end)
{
    const size_t size = sort->size;

    if (sort->compare(item_at(sort, middle - 1), item_at(sort, middle)) <= 0)
        return true;
    first = find_first(sort, first, middle, item_at(sort, middle), 1);
    end = find_first(sort, middle, end, item_at(sort, middle - 1), 0);
    if (!array_reserve_bytes((void **)&sort->buffer, &sort->capacity, middle - first, size))
        return false;
    const char *left = sort->buffer, *right = item_at(sort, middle);
    const char *const left_end = left + (middle - first) * size;
    const char *const right_end = item_at(sort, end);
    char *to = item_at(sort, first);
    memcpy(sort->buffer, to, (middle - first) * size);
    for (; left < left_end && right < right_end; to += size) {
        const char **next = sort->compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *next, size);
        *next += size;
    }
    memcpy(to, left, (size_t)(left_end - left));
    return true;
}

static bool sort_items(struct sort *sort, size_t count)
{
    struct run waiting[WAITING_MAX];
    size_t depth = 0;

    for (size_t first = 0, end; first < count; first = end) {
        end = find_end(sort, first, count);
        waiting[depth++] = (struct run){.first = first};
        /* Runs of about the same size are merged, and at the end all. */
        while (depth > 1 &&
               (end == count || waiting[depth - 2].merges == waiting[depth - 1].merges)) {
            if (!merge(sort, waiting[depth - 2].first, waiting[depth - 1].first, end))
                return false;
            depth--;
            waiting[depth - 1].merges++;
        }
    }
    return true;
}

void array_sort(void *items, size_t count, size_t item_size,
                int (*compare)(const void *, const void *))
{
    struct sort sort = {.items = items, .size = item_size, .compare = compare};

    if (!sort_items(&sort, count))
        qsort(items, count, item_size, compare);
    array_free(sort.buffer, sort.capacity, item_size);
}

int array_compare_u64(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}
