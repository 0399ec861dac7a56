/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "jitinject/array.h"
#include "jitinject/rangemap.h"

#include <errno.h>
#include <stdlib.h>

/* Changes in a block; 1 << BLOCK_BITS * HISTORY_LEVELS is more than there can be. */
#define BLOCK_BITS 4

int history_expect(struct history *history, size_t count)
{
    return array_reserve(&history->changes, &history->capacity, count) ? 0 : -ENOMEM;
}

int history_add(struct history *history, uint32_t number)
{
    if (!array_reserve(&history->changes, &history->capacity, history->count + 1))
        return -ENOMEM;
    history->changes[history->count++] = number;
    return 0;
}

/* The start of each change that covers the start of none before it. Allocators come back to where
 * they began, so most later ones cover it. */
static int find_centers(const struct history *history, struct rangemap *centers)
{
    int err = 0;

    for (size_t i = 0; i < history->count && !err; i++) {
        const struct event *event = &history->events[history->changes[i]];
        /* The stamp keeps neighbours apart. */
        if (!rangemap_overlaps(centers, event->addr, event_end(event)))
            err = rangemap_set(centers, event->addr, event->addr + 1, 0, i);
    }
    return err;
}

static int make_nodes(struct history *history, const struct rangemap *centers)
{
    const struct range *range;
    size_t count = 0;

    for (struct rangemap_at at = {0}; rangemap_get(centers, at); rangemap_next(centers, &at))
        count++;
    history->nodes = array_new(count + 1, sizeof(*history->nodes));
    if (!history->nodes)
        return -ENOMEM;
    for (struct rangemap_at at = {0}; (range = rangemap_get(centers, at));
         rangemap_next(centers, &at))
        history->nodes[history->node_count++] =
            (struct history_node){.center = range->start, .start = UINT64_MAX};
    history->nodes[count] = (struct history_node){0};
    return 0;
}

/* The node of a change. */
static size_t node_of(const struct history *history, const struct event *event)
{
    size_t low = 0, high = history->node_count;

    for (;;) {
        const size_t middle = low + (high - low) / 2;
        const uint64_t center = history->nodes[middle].center;
        if (event_covers(event, center))
            return middle;
        if (center < event->addr)
            low = middle + 1;
        else
            high = middle;
    }
}

/* Puts the changes, which are by time, into the order of their nodes. */
static int deal_changes(struct history *history)
{
    uint32_t *sorted = array_new(history->count, sizeof(*sorted));
    uint32_t *homes = array_new(history->count, sizeof(*homes)); /* nodes of the changes */
    struct history_node *nodes = history->nodes;
    const int err = sorted && homes ? 0 : -ENOMEM;

    for (size_t i = 0; i < history->count && !err; i++) {
        const struct event *event = &history->events[history->changes[i]];
        const size_t home = node_of(history, event);
        struct history_node *node = &nodes[home];
        if (event->addr < node->start)
            node->start = event->addr;
        if (event_end(event) > node->end)
            node->end = event_end(event);
        homes[i] = (uint32_t)home;
        nodes[home + 1].first++;
    }
    for (size_t n = 0; n < history->node_count && !err; n++)
        nodes[n + 1].first += nodes[n].first;
    /* Filling moves each node's start to its end, which is the next node's start. */
    for (size_t i = 0; i < history->count && !err; i++)
        sorted[nodes[homes[i]].first++] = history->changes[i];
    for (size_t n = history->node_count; n > 0 && !err; n--)
        nodes[n].first = nodes[n - 1].first;
    nodes[0].first = 0;
    for (size_t n = 0; n < history->node_count && !err; n++)
        nodes[n].next = nodes[n].first;
    free(homes);
    if (!err) {
        free(history->changes);
        history->changes = sorted;
    } else {
        free(sorted);
    }
    return err;
}

static void include(struct history_span *span, uint64_t start, uint64_t end)
{
    if (start < span->start)
        span->start = start;
    if (end > span->end)
        span->end = end;
}

/* Only whole blocks have a span. */
static int make_spans(struct history *history)
{
    size_t total = 0;

    for (size_t count = history->count >> BLOCK_BITS; count; count >>= BLOCK_BITS) {
        history->levels[history->level_count++] = total;
        total += count;
    }
    history->spans = array_new(total, sizeof(*history->spans));
    if (!history->spans)
        return -ENOMEM;
    for (size_t i = 0; i < total; i++)
        history->spans[i] = (struct history_span){.start = UINT64_MAX};
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->events[history->changes[i]];
        for (unsigned level = 0; level < history->level_count; level++) {
            const unsigned bits = BLOCK_BITS * (level + 1);
            if (i >> bits < history->count >> bits)
                include(&history->spans[history->levels[level] + (i >> bits)], event->addr,
                        event_end(event));
        }
    }
    return 0;
}

int history_index(struct history *history, const struct event *events)
{
    struct rangemap centers = {0};

    history->events = events;
    if (history->count == 0)
        return 0;
    int err = find_centers(history, &centers);
    if (!err)
        err = make_nodes(history, &centers);
    rangemap_clear(&centers);
    if (!err)
        err = deal_changes(history);
    return err ? err : make_spans(history);
}

static bool is_after(const struct history *history, uint32_t change, uint64_t time)
{
    return history->events[history->changes[change]].time > time;
}

/*
 * The first change of a node after `time`, up to `end`: from the last answer on in ever larger
 * steps, until it is between two of them.
 */
static uint32_t find_next(const struct history *history, struct history_node *node, uint32_t end,
                          uint64_t time)
{
    uint32_t low = node->first, high = end, step = 1;

    if (node->next < high && !is_after(history, node->next, time)) {
        low = node->next + 1;
        for (; high - low > step && !is_after(history, low + step - 1, time); step *= 2)
            low += step;
        high = high - low > step ? low + step - 1 : high;
    } else {
        high = node->next;
        for (; high - low > step && is_after(history, high - step, time); step *= 2)
            high -= step;
        low = high - low > step ? high - step + 1 : low;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_after(history, middle, time))
            high = middle;
        else
            low = middle + 1;
    }
    return node->next = low;
}

/* Keeps the box off [start, end), which does not cover the address. */
static void keep_off(struct history_box *box, uint64_t addr, uint64_t start, uint64_t end)
{
    if (end <= addr && end > box->start)
        box->start = end;
    if (start > addr && start < box->end)
        box->end = start;
}

/*
 * How many of the changes before `end` are whole blocks that do not cover the address; *span is
 * what they cover. They may be of other nodes, too. All changes of a node cover its center, so a
 * block of one node reaches the address only with a change that covers it.
 */
static size_t find_blocks(const struct history *history, size_t end, uint64_t addr,
                          struct history_span *span)
{
    size_t size = 0;

    for (unsigned level = 0; level < history->level_count; level++) {
        const size_t block = (size_t)1 << BLOCK_BITS * (level + 1);
        if (end % block)
            break;
        const struct history_span *next = &history->spans[history->levels[level] + end / block - 1];
        if (addr >= next->start && addr < next->end)
            break;
        *span = *next;
        size = block;
    }
    return size;
}

/* The last of the changes [first, end) that covers the address, if it is later than `found`; else
 * `found`. The box is kept off those after it. */
static const struct event *find_last(const struct history *history, size_t first, size_t end,
                                     uint64_t addr, const struct event *found,
                                     struct history_box *box)
{
    while (end > first) {
        const struct event *event = &history->events[history->changes[end - 1]];
        struct history_span span;
        if (found && event < found)
            break;
        const size_t blocks = find_blocks(history, end, addr, &span);
        if (blocks) {
            keep_off(box, addr, span.start, span.end);
            end -= blocks;
            continue;
        }
        if (event_covers(event, addr))
            return event;
        keep_off(box, addr, event->addr, event_end(event));
        end--;
    }
    return found;
}

const struct event *history_find(struct history *history, uint64_t address, uint64_t time,
                                 struct history_box *box)
{
    const struct event *found = NULL;
    size_t low = 0, high = history->node_count;

    *box = (struct history_box){.end = UINT64_MAX, .until = UINT64_MAX};
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        struct history_node *node = &history->nodes[middle];
        if (address < node->start || address >= node->end) {
            keep_off(box, address, node->start, node->end);
        } else {
            const uint32_t end = node[1].first;
            const uint32_t next = find_next(history, node, end, time);
            found = find_last(history, node->first, next, address, found, box);
            if (next < end && history->events[history->changes[next]].time < box->until)
                box->until = history->events[history->changes[next]].time;
        }
        if (address < node->center) {
            keep_off(box, address, node->center, UINT64_MAX);
            high = middle;
        } else {
            keep_off(box, address, 0, node->center);
            low = middle + 1;
        }
    }
    if (found) {
        keep_off(box, address, 0, found->addr);
        keep_off(box, address, event_end(found), UINT64_MAX);
        box->since = found->time;
    }
    return found;
}

void history_clear(struct history *history)
{
    free(history->changes);
    free(history->nodes);
    free(history->spans);
    *history = (struct history){0};
}
