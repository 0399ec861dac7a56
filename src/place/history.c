/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

int history_expect(struct history *history, size_t count)
{
    return array_reserve(&history->changes, &history->capacity, count) ? 0 : -ENOMEM;
}

int history_add(struct history *history, const struct history_change *change)
{
    if (change->start >= change->end)
        return 0;
    if (history->count == UINT32_MAX ||
        !array_reserve(&history->changes, &history->capacity, history->count + 1))
        return -ENOMEM;
    history->changes[history->count] = *change;
    history->changes[history->count].order = (uint32_t)history->count;
    history->count++;
    return 0;
}

static int compare_bounds(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Number of bounds at or below `address`. */
static size_t bounds_up_to(const struct history *history, uint64_t address)
{
    size_t low = 0, high = history->bound_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->bounds[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * The nodes that make up the span of a change: node i has the children 2i and 2i + 1, and the
 * leaves, one for each space between two bounds, are the nodes from bound_count on.
 */
static size_t visit_nodes(const struct history *history, const struct history_change *change,
                          size_t *nodes)
{
    size_t count = 0;
    size_t low = bounds_up_to(history, change->start) - 1 + history->bound_count;
    size_t high = bounds_up_to(history, change->end) - 1 + history->bound_count;

    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            nodes[count++] = low++;
        if (high & 1)
            nodes[count++] = --high;
    }
    return count;
}

static int compare_changes(const void *left, const void *right)
{
    const struct history_change *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* They were made in order of time, most of them. */
static void sort_changes(struct history *history)
{
    bool sorted = true;

    for (size_t i = 1; i < history->count && sorted; i++)
        sorted = compare_changes(&history->changes[i - 1], &history->changes[i]) < 0;
    if (!sorted)
        qsort(history->changes, history->count, sizeof(*history->changes), compare_changes);
}

static int collect_bounds(struct history *history)
{
    size_t distinct = 0;

    history->bounds = malloc(2 * history->count * sizeof(*history->bounds));
    if (!history->bounds)
        return -ENOMEM;
    for (size_t i = 0; i < history->count; i++) {
        history->bounds[2 * i] = history->changes[i].start;
        history->bounds[2 * i + 1] = history->changes[i].end;
    }
    qsort(history->bounds, 2 * history->count, sizeof(*history->bounds), compare_bounds);
    for (size_t i = 0; i < 2 * history->count; i++)
        if (distinct == 0 || history->bounds[distinct - 1] != history->bounds[i])
            history->bounds[distinct++] = history->bounds[i];
    history->bound_count = distinct;
    /* Where addresses are used again and again, few of the bounds are distinct. */
    uint64_t *shrunk = realloc(history->bounds, distinct * sizeof(*history->bounds));
    if (shrunk)
        history->bounds = shrunk;
    return 0;
}

int history_index(struct history *history)
{
    size_t nodes[128]; /* two a level */

    if (history->count == 0)
        return 0;
    sort_changes(history);
    int err = collect_bounds(history);
    if (err)
        return err;

    size_t node_count = 2 * history->bound_count;
    uint64_t entry_count = 0;
    history->first = calloc(node_count + 1, sizeof(*history->first));
    if (!history->first)
        return -ENOMEM;
    for (size_t i = 0; i < history->count; i++) {
        size_t count = visit_nodes(history, &history->changes[i], nodes);
        for (size_t n = 0; n < count; n++)
            history->first[nodes[n] + 1]++;
        entry_count += count;
    }
    if (entry_count > UINT32_MAX)
        return -EOVERFLOW;
    for (size_t n = 0; n < node_count; n++)
        history->first[n + 1] += history->first[n];

    history->entries = array_new((size_t)entry_count, sizeof(*history->entries));
    history->times = array_new(history->count, sizeof(*history->times));
    if (!history->entries || !history->times)
        return -ENOMEM;
    /* Filling moves each node's start to its end, which is the next node's start. */
    for (size_t i = 0; i < history->count; i++) {
        size_t count = visit_nodes(history, &history->changes[i], nodes);
        for (size_t n = 0; n < count; n++)
            history->entries[history->first[nodes[n]]++] = (uint32_t)i;
        history->times[i] = history->changes[i].time;
    }
    for (size_t n = node_count; n > 0; n--)
        history->first[n] = history->first[n - 1];
    history->first[0] = 0;
    return 0;
}

/* Number of changes at or before `time`. */
static size_t changes_up_to(const struct history *history, uint64_t time)
{
    size_t low = 0, high = history->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first entry in [low, high) of a node that is for change number `number` or a later one. */
static size_t entries_before(const struct history *history, size_t low, size_t high, size_t number)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->entries[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The answer for the leaf behind `below` bounds. */
static void search(const struct history *history, size_t below, uint64_t time,
                   struct history_memo *memo)
{
    const size_t number = changes_up_to(history, time);
    size_t newest = 0, next = history->count; /* newest: and one more, 0 is none */

    for (size_t node = below - 1 + history->bound_count; node > 0; node /= 2) {
        const size_t first = history->first[node], end = history->first[node + 1];
        const size_t later = entries_before(history, first, end, number);
        if (later < end && history->entries[later] < next)
            next = history->entries[later];
        if (later > first && history->entries[later - 1] >= newest)
            newest = history->entries[later - 1] + (size_t)1;
    }
    if (next < history->count)
        memo->until = history->times[next];
    if (newest > 0) {
        memo->change = &history->changes[newest - 1];
        memo->since = memo->change->time;
    }
}

const struct history_change *history_find(const struct history *history, uint64_t address,
                                          uint64_t time, struct history_memo *memo)
{
    if (memo->history == history && address >= memo->start && address < memo->end &&
        time >= memo->since && time < memo->until)
        return memo->change;

    const size_t count = history->bound_count, below = bounds_up_to(history, address);
    *memo = (struct history_memo){
        .history = history,
        .start = below > 0 ? history->bounds[below - 1] : 0,
        .end = below < count ? history->bounds[below] : UINT64_MAX,
        .until = UINT64_MAX,
    };
    if (below > 0 && below < count)
        search(history, below, time, memo);
    return memo->change;
}

void history_clear(struct history *history)
{
    free(history->changes);
    free(history->bounds);
    free(history->first);
    free(history->entries);
    free(history->times);
    *history = (struct history){0};
}
