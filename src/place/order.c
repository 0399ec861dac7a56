/* SPDX-License-Identifier: MIT */
#include "order.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many are faster put in order by moving each to its place. */
#define FEW    32
#define DIGITS 8 /* of 8 bits each */
#define VALUES 256

struct item {
    uint64_t key;
    struct code *code;
};

static uint64_t key_of(const struct code *code, enum order by)
{
    switch (by) {
    case ORDER_TIME:
        return code->time;
    case ORDER_ADDR:
        return code->addr;
    default:
        return code->layer;
    }
}

bool order_is(struct code *const *codes, size_t count, enum order by)
{
    for (size_t i = 1; i < count; i++)
        if (key_of(codes[i - 1], by) > key_of(codes[i], by))
            return false;
    return true;
}

static void insert_each(struct code **codes, size_t count, enum order by)
{
    for (size_t i = 1; i < count; i++) {
        struct code *code = codes[i];
        const uint64_t key = key_of(code, by);
        size_t at = i;
        for (; at > 0 && key_of(codes[at - 1], by) > key; at--)
            codes[at] = codes[at - 1];
        codes[at] = code;
    }
}

static unsigned digit_of(const struct item *item, unsigned digit)
{
    return item->key >> 8 * digit & 0xff;
}

/* Deals the items out by one digit, the lowest first; returns where they are then. */
static struct item *deal(struct item *from, struct item *to, size_t count, unsigned digit,
                         const size_t *counts)
{
    size_t starts[VALUES], start = 0;

    for (unsigned value = 0; value < VALUES; value++) {
        starts[value] = start;
        start += counts[value];
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], digit)]++] = from[i];
    return to;
}

static const struct item *sort_items(struct item *items, struct item *others, size_t count)
{
    size_t counts[DIGITS][VALUES] = {0};

    for (size_t i = 0; i < count; i++)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(&items[i], digit)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        /* Addresses and times have their first digits in common. */
        if (counts[digit][digit_of(&items[0], digit)] == count)
            continue;
        struct item *sorted = deal(items, others, count, digit, counts[digit]);
        others = items;
        items = sorted;
    }
    return items;
}

int order_codes(struct code **codes, size_t count, enum order by)
{
    if (order_is(codes, count, by))
        return 0;
    if (count <= FEW) {
        insert_each(codes, count, by);
        return 0;
    }
    struct item *items = array_new(count, 2 * sizeof(*items));
    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct item){.key = key_of(codes[i], by), .code = codes[i]};
    const struct item *sorted = sort_items(items, items + count, count);
    for (size_t i = 0; i < count; i++)
        codes[i] = sorted[i].code;
    array_free(items, count, 2 * sizeof(*items));
    return 0;
}
