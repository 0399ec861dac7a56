/* SPDX-License-Identifier: MIT */
#include "loads.h"

#include "events.h"

#include "jitinject/bytes.h"

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
    struct rangemap_at at = rangemap_find(&process->model.ranges, *start), left = at;
    const struct range *range;
    uint64_t floor = low, ceiling = high;

    *since = 0;
    for (; (range = rangemap_get(&process->model.ranges, at)) && range->start < ceiling;
         rangemap_next(&process->model.ranges, &at)) {
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
    while ((range = rangemap_previous(&process->model.ranges, &left)) && range->end > floor) {
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
    struct rangemap_at at = rangemap_find(&process->past.late_files, start);
    const struct range *range = rangemap_get(&process->past.late_files, at);

    if (range && range->start < end)
        return false;
    if (range && range->start < *high)
        *high = range->start;
    range = rangemap_previous(&process->past.late_files, &at);
    if (range && range->end > *low)
        *low = range->end;
    return true;
}

/* Where the last piece was: the next one is most often beside it. */
struct neighbour {
    size_t extent;
    struct range range; /* of the model, as it still is; empty: of none */
};

static bool is_in_extent(const struct place_extent *extent, const struct code *code)
{
    return extent->layer == code->layer && code->addr - extent->addr < extent->size;
}

/* The extent of a piece; extents are by layer, then by address. Perhaps it is that of the last. */
static size_t extent_of(const struct process *process, const struct code *code, size_t last)
{
    size_t low = 0, high = process->extents.count;

    if (last < high && is_in_extent(&process->extents.list[last], code))
        return last;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct place_extent *extent = &process->extents.list[middle];
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
    uint64_t time = process->timeline.child_time;

    if (process->dumps.any && process->dumps.first > time)
        time = process->dumps.first;
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
        struct rangemap_at at = rangemap_find(&process->model.ranges, start);
        const struct range *range = rangemap_get(&process->model.ranges, at);
        if (range && range->start <= start && range->value == value) {
            start = range->end;
            continue;
        }
        for (; range && range->start < end && range->value != value;
             range = rangemap_get(&process->model.ranges, at))
            rangemap_next(&process->model.ranges, &at);
        const uint64_t gap_end = range && range->start < end ? range->start : end;
        err = events_map_code(place, process, time, start, gap_end, value);
        start = gap_end;
    }
    return err;
}

/*
 * The first code at an address is mapped with all of its extent, so that code loaded side by side
 * is one event. Runtimes write a record shortly after the code may run; where nothing else can have
 * been there, the mapping therefore holds from the time that memory came to be.
 */
static int map_first_layer(struct place *place, struct process *process, const struct code *code,
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

static int load(struct place *place, struct process *process, const struct code *code,
                struct neighbour *last)
{
    const uint64_t end = code->addr + code->size;
    const struct process *home = code->flags & CODE_SHARED ? process->kin.family : process;
    const size_t extent = extent_of(home, code, last->extent);
    const uint32_t value = home->extents.biases[extent];
    uint64_t from = code->addr;

    last->extent = extent;
    if (last->range.value == value && from >= last->range.start && end <= last->range.end)
        return 0;
    /* A range of the model has one stamp, so what is mapped already may be several ranges. */
    for (struct rangemap_at at = rangemap_find(&process->model.ranges, from); from < end;) {
        const struct range *range = rangemap_get(&process->model.ranges, at);
        if (!range || range->start > from || range->value != value)
            break;
        last->range = *range;
        from = range->end;
        rangemap_next(&process->model.ranges, &at);
    }
    if (from >= end)
        return 0;
    last->range = (struct range){0};
    if (code->layer == 0)
        return map_first_layer(place, process, code, &home->extents.list[extent], value);
    return events_map_piece(place, process, code->time ? code->time : 1, code, value);
}

int loads_run(struct place *place, struct process *process, uint64_t time, bool last)
{
    struct neighbour beside = {0};
    int err = 0;

    while (process->timeline.next_load < process->load_count && !err &&
           (last || process->loads[process->timeline.next_load]->time < time))
        err = load(place, process, process->loads[process->timeline.next_load++], &beside);
    return err;
}
