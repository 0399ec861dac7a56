/* SPDX-License-Identifier: MIT */
#include "events.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* Adds `model` for [start, end): once, or for what is more than 4 GiB, and for the rest. */
static int add_events(struct place *place, struct process *process, uint64_t start, uint64_t end,
                      const struct event *model)
{
    while (start < end) {
        const uint64_t left = end - start;
        const bool is_long = left > UINT32_MAX;
        if (place->event_count == UINT32_MAX ||
            !array_reserve(&place->events, &place->event_capacity, place->event_count + 1))
            return -ENOMEM;
        struct event *event = &place->events[place->event_count++];
        *event = *model;
        event->addr = start;
        event->len = (uint32_t)(is_long ? left >> 32 : left);
        event->is_long = is_long;
        event->process = process->number;
        process->timeline.change_count += model->is_change;
        process->row.events += model->value != MAPPED_FILE;
        place->unwritten_count += model->value == MAPPED_FILE;
        start = event_end(event);
    }
    return 0;
}

int events_add_file(struct place *place, struct process *process, const struct mapping *mapping)
{
    const struct event event = {.time = mapping->time, .value = MAPPED_FILE, .is_change = true};

    return add_events(place, process, mapping->start, mapping->end, &event);
}

size_t events_find_rests(const struct rangemap *model, uint64_t start, uint64_t end,
                         struct range rests[2])
{
    const struct range *first = rangemap_get(model, rangemap_find(model, start));
    /* It is most often the same. */
    const struct range *last =
        first && first->end < end ? rangemap_get(model, rangemap_find(model, end - 1)) : first;
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

    for (size_t i = 0; i < count && !err; i++) {
        const struct event event = {.time = time, .value = rests[i].value};
        err = add_events(place, process, rests[i].start, rests[i].end, &event);
    }
    return err;
}

/* Events, and what a reader has mapped then. */
static int map_ours(struct place *place, struct process *process, uint64_t start, uint64_t end,
                    const struct event *event)
{
    struct range rests[2];
    const size_t count = events_find_rests(&process->model.ranges, start, end, rests);
    int err = add_events(place, process, start, end, event);

    err = err ? err : events_map_rests(place, process, event->time, rests, count);
    if (!err)
        err = rangemap_set(&process->model.ranges, start, end, event->value, event->time);
    return err ? err : rangemap_set(&process->model.covered, start, end, 0, 0);
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
static int map_room(struct place *place, struct process *process, uint64_t start, uint64_t end,
                    const struct event *event)
{
    const uint64_t changed = last_change(&process->model.ranges, start, end);
    int err = map_ours(place, process, start, end, event);

    if (!err && changed >= event->time && changed < UINT64_MAX) {
        const struct event again = {.time = changed + 1, .value = event->value};
        err = map_ours(place, process, start, end, &again);
    }
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
    const struct event event = {.time = time, .value = value};
    const uint64_t head = UINT64_C(0) - bias->offset;
    uint64_t head_end = head + file->head_size;
    uint64_t tables = file->tables_offset - bias->offset;
    int err = 0;

    if (rangemap_overlaps(&process->model.opened, bias->file, bias->file + UINT64_C(1)))
        return 0;
    err = rangemap_set(&process->model.opened, bias->file, bias->file + UINT64_C(1), 0, 0);
    if (file->tables_size && file->head_size && tables == head_end) {
        head_end += file->tables_size;
        tables = 0;
    }
    if (file->head_size && !err)
        err = map_room(place, process, head, head_end, &event);
    if (file->tables_size && tables && !err)
        err = map_room(place, process, tables, tables + file->tables_size, &event);
    return err;
}

static int map_code(struct place *place, struct process *process, uint64_t start, uint64_t end,
                    const struct event *event)
{
    const int err = open_file(place, process, event->time, event->value);

    return err ? err : map_ours(place, process, start, end, event);
}

int events_map_code(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    const struct event event = {.time = time, .value = value, .is_change = true};

    return map_code(place, process, start, end, &event);
}

int events_map_piece(struct place *place, struct process *process, uint64_t time,
                     const struct code *code, uint32_t value)
{
    const struct event event = {.time = time, .value = value, .is_change = true, .is_piece = true};

    return map_code(place, process, code->addr, code->addr + code->size, &event);
}

/*
 * Room for what is to be expected where addresses are used again, at once: an event for each piece
 * that replaces others, and one for what it leaves of them. An array that grows is twice there.
 */
int events_expect_replaced(struct place *place)
{
    size_t replaced = 0;

    for (size_t i = 0; i < place->process_count; i++) {
        const struct process *process = place->processes[i];
        for (size_t e = 0; e < process->extents.count; e++)
            replaced += process->extents.list[e].layer > 0 ? process->extents.list[e].count : 0;
    }
    return array_reserve(&place->events, &place->event_capacity, 2 * replaced) ? 0 : -ENOMEM;
}

/* By time; in the order that they were made in where neither that nor the process tells. */
static int compare_events(const struct place *place, uint32_t left, uint32_t right)
{
    const struct event *a = &place->events[left], *b = &place->events[right];
    const uint32_t pid_a = place->processes[a->process]->pid;
    const uint32_t pid_b = place->processes[b->process]->pid;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (pid_a != pid_b)
        return pid_a < pid_b ? -1 : 1;
    return (left > right) - (left < right);
}

static int compare_numbers(const void *left, const void *right, void *place)
{
    return compare_events(place, *(const uint32_t *)left, *(const uint32_t *)right);
}

/* Puts the event that has number order[i] to place i, one circle of them after another. */
static void move_events(struct event *events, uint32_t *order, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct event first = events[i];
        uint32_t to = i, from;
        for (; (from = order[to]) != i; to = from) {
            events[to] = events[from];
            order[to] = to;
        }
        events[to] = first;
        order[to] = to;
    }
}

/* They were made in order of time, most of them. What is sorted is their numbers, which are
 * smaller.
 */
static int sort(struct place *place)
{
    bool sorted = true;

    for (uint32_t i = 1; i < place->event_count && sorted; i++)
        sorted = compare_events(place, i - 1, i) < 0;
    if (sorted)
        return 0;
    uint32_t *order = array_new(place->event_count, sizeof(*order));
    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < place->event_count; i++)
        order[i] = i;
    qsort_r(order, place->event_count, sizeof(*order), compare_numbers, place);
    move_events(place->events, order, place->event_count);
    array_free(order, place->event_count, sizeof(*order));
    return 0;
}

static int list_unwritten(struct place *place)
{
    size_t count = 0;

    place->unwritten = array_new(place->unwritten_count, sizeof(*place->unwritten));
    if (!place->unwritten)
        return -ENOMEM;
    for (uint32_t i = 0; count < place->unwritten_count; i++)
        if (place->events[i].value == MAPPED_FILE)
            place->unwritten[count++] = i;
    return 0;
}

static int make_histories(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->process_count && !err; i++)
        err = history_expect(&place->processes[i]->history,
                             place->processes[i]->timeline.change_count);
    for (uint32_t i = 0; i < place->event_count && !err; i++)
        if (place->events[i].is_change)
            err = history_add(&place->processes[place->events[i].process]->history, i);
    for (size_t i = 0; i < place->process_count && !err; i++)
        err = history_index(&place->processes[i]->history, place->events);
    return err;
}

int events_finish(struct place *place)
{
    int err = sort(place);

    if (!err)
        err = list_unwritten(place);
    return err ? err : make_histories(place);
}
