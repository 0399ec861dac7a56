/* SPDX-License-Identifier: MIT */
/*
 * The timeline: loads, mappings and forks in order of time over a model of what a reader would have
 * mapped. An event is made only where the reader would otherwise be wrong.
 */
#include "steps.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

/*
 * An anonymous mapping over more pieces of ours than this is dropped even if it adds something:
 * mapping them all again, for each such record, would not be linear.
 */
#define REASSERT_MAX 16

static int add_event(struct place *place, struct process *process, uint64_t time, uint64_t start,
                     uint64_t end, uint32_t file, uint64_t offset)
{
    if (!array_reserve(&place->events, &place->event_capacity, place->event_count + 1))
        return -ENOMEM;
    place->events[place->event_count++] = (struct place_event){.time = time,
                                                               .addr = start,
                                                               .len = end - start,
                                                               .offset = offset,
                                                               .pid = process->pid,
                                                               .file = file};
    process->event_count++;
    return 0;
}

/* An event for [start, end) of the file of `value`. */
static int map_file_of(struct place *place, struct process *process, uint64_t time, uint64_t start,
                       uint64_t end, uint32_t value)
{
    const struct bias *bias = &place->biases[value - MAPPED_FIRST_BIAS];

    return add_event(place, process, time, start, end, bias->file, start + bias->offset);
}

/*
 * What [start, end) leaves of our mappings that it covers a part of. perf keeps that, and samply
 * drops it: an event of its own keeps it there, too. Returns how many ranges it wrote.
 */
static size_t find_rests(const struct rangemap *model, uint64_t start, uint64_t end,
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

static int map_rests(struct place *place, struct process *process, uint64_t time,
                     const struct range *rests, size_t count)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++)
        err = map_file_of(place, process, time, rests[i].start, rests[i].end, rests[i].value);
    return err;
}

/* Events, and what a reader has mapped then. */
static int map_ours(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    struct range rests[2];
    const size_t count = find_rests(&process->model, start, end, rests);
    int err = map_file_of(place, process, time, start, end, value);

    err = err ? err : map_rests(place, process, time, rests, count);
    if (!err)
        err = rangemap_set(&process->model, start, end, value, time);
    return err ? err : rangemap_set(&process->covered, start, end, 0, 0);
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

    if (place->file_opened[bias->file])
        return 0;
    place->file_opened[bias->file] = true;
    if (file->tables_size && file->head_size && tables == head_end) {
        head_end += file->tables_size;
        tables = 0;
    }
    if (file->head_size)
        err = map_ours(place, process, time, head, head_end, value);
    if (file->tables_size && tables && !err)
        err = map_ours(place, process, time, tables, tables + file->tables_size, value);
    return err;
}

/* Maps [start, end) to the file of `value` from `time` on. */
static int map_code(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    const struct history_change change = {.time = time, .start = start, .end = end, .value = value};
    int err = open_file(place, process, time, value);

    if (!err)
        err = map_ours(place, process, time, start, end, value);
    return err ? err : history_add(&process->history, &change);
}

/* Whether a first mapping of `value` may cover what the model has there. */
static bool may_cover(const struct range *range, uint32_t value)
{
    return range->value == MAPPED_ANONYMOUS || range->value == value;
}

/*
 * How far around [start, end), within [low, high), nothing is mapped that is worth keeping. Where
 * the model has neither file nor code over the whole of it, *since is when it last changed.
 */
static void widen(const struct process *process, uint64_t low, uint64_t high, uint32_t value,
                  uint64_t *start, uint64_t *end, uint64_t *since)
{
    struct rangemap_at at = rangemap_find(&process->model, *start), left = at;
    const struct range *range;
    uint64_t floor = low, ceiling = high;

    *since = 0;
    for (; (range = rangemap_get(&process->model, at)) && range->start < ceiling;
         rangemap_next(&process->model, &at)) {
        if (may_cover(range, value)) {
            *since = range->stamp > *since ? range->stamp : *since;
            continue;
        }
        if (range->start < *end)
            *since = UINT64_MAX;
        if (range->start < *start)
            floor = *start;
        if (range->end > *end)
            ceiling = range->start > *end ? range->start : *end;
    }
    while ((range = rangemap_previous(&process->model, &left)) && range->end > floor) {
        if (!may_cover(range, value))
            floor = range->end;
        else if (range->stamp > *since)
            *since = range->stamp;
    }
    *start = floor < *start ? floor : *start;
    *end = ceiling > *end ? ceiling : *end;
}

/*
 * Narrows [low, high) to what around [start, end) no file was mapped over since the process has
 * code: what is there now need not be what was, or will be, beyond that file. False: one was within
 * [start, end).
 */
static bool keep_off_files(const struct process *process, uint64_t start, uint64_t end,
                           uint64_t *low, uint64_t *high)
{
    struct rangemap_at at = rangemap_find(&process->late_file_ranges, start);
    const struct range *range = rangemap_get(&process->late_file_ranges, at);

    if (range && range->start < end)
        return false;
    if (range && range->start < *high)
        *high = range->start;
    range = rangemap_previous(&process->late_file_ranges, &at);
    if (range && range->end > *low)
        *low = range->end;
    return true;
}

/* The extent of a piece; extents are by layer, then by address. */
static size_t extent_of(const struct process *process, const struct code *code)
{
    size_t low = 0, high = process->extent_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct place_extent *extent = &process->extents[middle];
        if (extent->layer < code->layer ||
            (extent->layer == code->layer && extent->addr <= code->addr))
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Nothing of the process is mapped earlier: its children would inherit what came after them. */
static uint64_t first_possible_time(const struct process *process)
{
    uint64_t time = process->child_time;

    if (process->has_dump && process->dump_time > time)
        time = process->dump_time;
    if (process->made > time)
        time = process->made;
    return time;
}

/*
 * Maps what of [start, end) does not lead to the file of `value` yet. What does stays as it is: a
 * reader that drops mappings as a whole would drop what a later file left of it, if this is
 * earlier.
 */
static int map_gaps(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value)
{
    int err = 0;

    while (start < end && !err) {
        struct rangemap_at at = rangemap_find(&process->model, start);
        const struct range *range = rangemap_get(&process->model, at);
        if (range && range->start <= start && range->value == value) {
            start = range->end;
            continue;
        }
        for (; range && range->start < end && range->value != value;
             range = rangemap_get(&process->model, at))
            rangemap_next(&process->model, &at);
        const uint64_t gap_end = range && range->start < end ? range->start : end;
        err = map_code(place, process, time, start, gap_end, value);
        start = gap_end;
    }
    return err;
}

/*
 * The first code at an address is mapped with all of its extent, so that code loaded side by side
 * is one event. Runtimes write a record shortly after the code may run; where nothing else can have
 * been there, the mapping therefore holds from the time that memory came to be.
 */
static int load_first_layer(struct place *place, struct process *process, const struct code *code,
                            const struct place_extent *extent, uint32_t value)
{
    const uint64_t extent_end = extent->addr + extent->size;
    uint64_t low = bytes_align_down(extent->addr, PAGE);
    uint64_t high = extent_end > UINT64_MAX - PAGE ? extent_end : bytes_align_up(extent_end, PAGE);
    uint64_t start = code->addr, end = code->addr + code->size;
    uint64_t time = code->time;

    if (keep_off_files(process, start, end, &low, &high)) {
        uint64_t since;
        widen(process, low, high, value, &start, &end, &since);
        if (since < first_possible_time(process))
            since = first_possible_time(process);
        if (since < time)
            time = since + 1;
    }
    return map_gaps(place, process, time ? time : 1, start, end, value);
}

static int load(struct place *place, struct process *process, const struct code *code)
{
    const uint64_t end = code->addr + code->size;
    const struct process *home = code->flags & CODE_SHARED ? process->family : process;
    const size_t extent = extent_of(home, code);
    const uint32_t value = home->biases[extent];
    uint64_t from = code->addr;

    /* A range of the model has one stamp, so what is mapped already may be several ranges. */
    for (struct rangemap_at at = rangemap_find(&process->model, from); from < end;) {
        const struct range *range = rangemap_get(&process->model, at);
        if (!range || range->start > from || range->value != value)
            break;
        from = range->end;
        rangemap_next(&process->model, &at);
    }
    if (from >= end)
        return 0;
    if (code->layer == 0)
        return load_first_layer(place, process, code, &home->extents[extent], value);
    return map_code(place, process, code->time ? code->time : 1, code->addr, end, value);
}

/* Loads of a process before `time`; `last`: all that are left. */
static int run_loads(struct place *place, struct process *process, uint64_t time, bool last)
{
    int err = 0;

    while (process->next_load < process->load_count && !err &&
           (last || process->loads[process->next_load]->time < time))
        err = load(place, process, process->loads[process->next_load++]);
    return err;
}

static int drop(struct place *place, struct process *process, const struct mapping *mapping)
{
    if (!array_reserve(&place->dropped, &place->dropped_capacity, place->dropped_count + 1))
        return -ENOMEM;
    place->dropped[place->dropped_count++] = mapping->record;
    process->dropped_count++;
    return 0;
}

static int map_file(struct process *process, const struct mapping *mapping)
{
    const struct history_change change = {
        .time = mapping->time, .start = mapping->start, .end = mapping->end, .value = MAPPED_FILE};
    int err = 0;

    if (process->holds_code &&
        (!process->has_model || rangemap_overlaps(&process->covered, mapping->start, mapping->end)))
        err = history_add(&process->history, &change);
    if (!process->has_model)
        return err;
    if (!err)
        err =
            rangemap_set(&process->model, mapping->start, mapping->end, MAPPED_FILE, mapping->time);
    if (!err)
        err = rangemap_unset(&process->covered, mapping->start, mapping->end);
    return err;
}

/*
 * An anonymous mapping that adds nothing is dropped; one that adds something stays, and what it
 * would hide of ours is mapped again right after it.
 */
static int map_anonymous(struct place *place, struct process *process,
                         const struct mapping *mapping)
{
    struct range ours[REASSERT_MAX], rests[2];
    size_t count = 0, rest_count;
    int err;

    if (process->holds_code && rangemap_holds(&process->covered, mapping->start, mapping->end))
        return drop(place, process, mapping);
    struct rangemap_at at = rangemap_find(&process->model, mapping->start);
    for (const struct range *range = rangemap_get(&process->model, at);
         range && range->start < mapping->end; range = rangemap_get(&process->model, at)) {
        if (range->value >= MAPPED_FIRST_BIAS) {
            if (count == REASSERT_MAX)
                return drop(place, process, mapping);
            ours[count] = *range;
            if (ours[count].start < mapping->start)
                ours[count].start = mapping->start;
            if (ours[count].end > mapping->end)
                ours[count].end = mapping->end;
            count++;
        }
        rangemap_next(&process->model, &at);
    }
    rest_count = find_rests(&process->model, mapping->start, mapping->end, rests);
    err = map_rests(place, process, mapping->time + 1, rests, rest_count);
    if (!err)
        err = rangemap_set(&process->model, mapping->start, mapping->end, MAPPED_ANONYMOUS,
                           mapping->time);
    if (!err)
        err = rangemap_set(&process->covered, mapping->start, mapping->end, 0, 0);
    for (size_t i = 0; i < count && !err; i++)
        err =
            map_code(place, process, mapping->time + 1, ours[i].start, ours[i].end, ours[i].value);
    return err;
}

static int run_fork(struct place *place, const struct fork *fork)
{
    int err = run_loads(place, fork->parent, fork->time, false);

    if (!err)
        err = run_loads(place, fork->child, fork->time, false);
    if (!err && fork->child->has_model)
        err = rangemap_copy(&fork->child->model, &fork->parent->model);
    if (!err && fork->child->has_model)
        err = rangemap_copy(&fork->child->covered, &fork->parent->covered);
    fork->parent->child_time = fork->time;
    if (fork->parent->holds_code)
        fork->child->holds_code = true;
    return err;
}

static int compare_records(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* By time; made in one order for equal times, which the order of the array keeps. */
static int compare_events(const void *left, const void *right)
{
    const struct place_event *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int finish(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->event_count; i++)
        place->events[i].order = i;
    if (place->event_count > 0)
        qsort(place->events, place->event_count, sizeof(*place->events), compare_events);
    if (place->dropped_count > 0)
        qsort(place->dropped, place->dropped_count, sizeof(*place->dropped), compare_records);
    for (size_t i = 0; i < place->process_count && !err; i++) {
        rangemap_clear(&place->processes[i]->model);
        rangemap_clear(&place->processes[i]->covered);
        err = history_index(&place->processes[i]->history);
    }
    return err;
}

static int run_step(struct place *place, const struct step *step)
{
    struct process *process = step->process;

    if (!process)
        return run_fork(place, &place->forks[step->number]);
    const struct mapping *mapping = &process->mappings[step->number];
    int err = run_loads(place, process, mapping->time, false);
    if (!err && mapping->kind == PLACE_ANONYMOUS)
        err = map_anonymous(place, process, mapping);
    else if (!err)
        err = map_file(process, mapping);
    return err;
}

/* After its last step a process has only loads to come, and then its model is of no use. */
static int end_process(struct place *place, struct process *process, size_t step)
{
    if (process->last_step != step)
        return 0;
    int err = run_loads(place, process, 0, true);
    rangemap_clear(&process->model);
    rangemap_clear(&process->covered);
    return err;
}

static int end_processes(struct place *place, const struct step *step, size_t number)
{
    if (step->process)
        return end_process(place, step->process, number);
    const struct fork *fork = &place->forks[step->number];
    int err = end_process(place, fork->child, number);
    return err ? err : end_process(place, fork->parent, number);
}

int timeline_run(struct place *place)
{
    struct step *steps = NULL;
    size_t count = 0;
    int err = steps_collect(place, &steps, &count);

    place->file_opened = calloc(place->file_count + 1, sizeof(*place->file_opened));
    if (!place->file_opened)
        err = -ENOMEM;
    for (size_t i = 0; i < count && !err; i++) {
        err = run_step(place, &steps[i]);
        if (!err)
            err = end_processes(place, &steps[i], i);
    }
    free(steps);
    for (size_t i = 0; i < place->process_count && !err; i++)
        err = run_loads(place, place->processes[i], 0, true);
    return err ? err : finish(place);
}
