/* SPDX-License-Identifier: MIT */
#include "events.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of an event: whole pages. */
#define EVENT_MAX (UINT32_MAX - (uint32_t)PAGE + 1)

/* Events for [start, end) of the file of `value`: one, where it is not beyond all bounds. */
static int add_events(struct place *place, struct process *process, uint64_t time, uint64_t start,
                      uint64_t end, uint32_t value)
{
    for (; start < end; process->event_count++) {
        const uint64_t left = end - start;
        const uint32_t len = left < EVENT_MAX ? (uint32_t)left : EVENT_MAX;
        if (place->event_count == UINT32_MAX ||
            !array_reserve(&place->events, &place->event_capacity, place->event_count + 1))
            return -ENOMEM;
        place->events[place->event_count] = (struct event){.time = time,
                                                           .addr = start,
                                                           .len = len,
                                                           .value = value,
                                                           .pid = process->pid,
                                                           .order = (uint32_t)place->event_count};
        place->event_count++;
        start += len;
    }
    return 0;
}

size_t events_find_rests(const struct rangemap *model, uint64_t start, uint64_t end,
                         struct range rests[2])
{
    const struct range *first = rangemap_get(model, rangemap_find(model, start));
    const struct range *last = rangemap_get(model, rangemap_find(model, end - 1));
    size_t count = 0;

    if (first && first->start < start && first->value >= MAPPED_FIRST_BIAS) {
        rests[count] = *first;
        rests[count++].end = start;
    }
    if (last && last->start < end && last->end > end && last->value >= MAPPED_FIRST_BIAS) {
        rests[count] = *last;
        rests[count++].start = end;
    }
    return count;
}

int events_map_rests(struct place *place, struct process *process, uint64_t time,
                     const struct range *rests, size_t count)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++)
        err = add_events(place, process, time, rests[i].start, rests[i].end, rests[i].value);
    return err;
}

/* Events, and what a reader has mapped then. */
static int map_ours(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    struct range rests[2];
    const size_t count = events_find_rests(&process->model, start, end, rests);
    int err = add_events(place, process, time, start, end, value);

    err = err ? err : events_map_rests(place, process, time, rests, count);
    if (!err)
        err = rangemap_set(&process->model, start, end, value, time);
    return err ? err : rangemap_set(&process->covered, start, end, 0, 0);
}

/* When what is not ours last came to be anywhere in [start, end); 0: nothing is there. */
static uint64_t last_change(const struct rangemap *model, uint64_t start, uint64_t end)
{
    struct rangemap_at at = rangemap_find(model, start);
    const struct range *range;
    uint64_t last = 0;

    for (; (range = rangemap_get(model, at)) && range->start < end; rangemap_next(model, &at))
        if (range->value < MAPPED_FIRST_BIAS && range->stamp > last)
            last = range->stamp;
    return last;
}

/*
 * Something of a file that lies away from its code. That may count from a time in the past, when
 * its memory came to be; what came to be here after that would hide this, so it is mapped again.
 */
static int map_room(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    const uint64_t changed = last_change(&process->model, start, end);
    int err = map_ours(place, process, time, start, end, value);

    if (!err && changed >= time && changed < UINT64_MAX)
        err = map_ours(place, process, changed + 1, start, end, value);
    return err;
}

/*
 * With its first piece come the file's first page, from which some readers measure, and its unwind
 * tables, which unwinders read through the maps.
 */
static int open_file(struct place *place, struct process *process, uint64_t time, uint32_t value)
{
    const struct bias *bias = &place->biases[value - MAPPED_FIRST_BIAS];
    const struct place_file *file = &place->files[bias->file];
    const uint64_t head = UINT64_C(0) - bias->offset;
    uint64_t head_end = head + file->head_size;
    uint64_t tables = file->tables_offset - bias->offset;
    int err = 0;

    if (rangemap_overlaps(&process->opened, bias->file, bias->file + UINT64_C(1)))
        return 0;
    err = rangemap_set(&process->opened, bias->file, bias->file + UINT64_C(1), 0, 0);
    if (file->tables_size && file->head_size && tables == head_end) {
        head_end += file->tables_size;
        tables = 0;
    }
    if (file->head_size && !err)
        err = map_room(place, process, time, head, head_end, value);
    if (file->tables_size && tables && !err)
        err = map_room(place, process, time, tables, tables + file->tables_size, value);
    return err;
}

int events_map_code(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    const struct history_change change = {.time = time, .start = start, .end = end, .value = value};
    int err = open_file(place, process, time, value);

    if (!err)
        err = map_ours(place, process, time, start, end, value);
    return err ? err : history_add(&process->history, &change);
}

/* By time; made in one order for equal times, which the order of the array keeps. */
static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* They were made in order of time, most of them. */
void events_sort(struct place *place)
{
    bool sorted = true;

    for (size_t i = 1; i < place->event_count && sorted; i++)
        sorted = compare_events(&place->events[i - 1], &place->events[i]) < 0;
    if (!sorted)
        qsort(place->events, place->event_count, sizeof(*place->events), compare_events);
}

/*
 * Room for what is to be expected where addresses are used again, at once: an event for each piece
 * that replaces others, and one for what it leaves of them. Arrays that grow were twice there.
 */
int events_expect_replaced(struct place *place)
{
    size_t total = 0;
    int err = 0;

    for (size_t i = 0; i < place->process_count && !err; i++) {
        struct process *process = place->processes[i];
        size_t replaced = 0;
        for (size_t e = 0; e < process->extent_count; e++)
            replaced += process->extents[e].layer > 0 ? process->extents[e].count : 0;
        err = history_expect(&process->history, replaced);
        total += replaced;
    }
    if (err)
        return err;
    return array_reserve(&place->events, &place->event_capacity, 2 * total) ? 0 : -ENOMEM;
}
