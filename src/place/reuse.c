/* SPDX-License-Identifier: MIT */
/*
 * Which pieces share an address with something else. What was where can be told without times, but
 * not of these. Code in memory that processes share, as workers do with what they were forked from,
 * is held against that of all of them.
 */
#include "place_internal.h"

#include <errno.h>

/* The value in process->code_known of an address that more than one thing had; any other is the
 * number of the only piece there. */
#define SHARED UINT32_MAX

struct reuse {
    struct place *place;
    struct code *const *codes;
    const uint64_t *since;
};

/* All that overlaps [start, end) is shared, and so is [start, end). */
static int share(struct rangemap *ranges, uint64_t start, uint64_t end)
{
    struct rangemap_at at = rangemap_find(ranges, start);
    const struct range *range;
    uint64_t low = start, high = end;

    for (; (range = rangemap_get(ranges, at)) && range->start < end; rangemap_next(ranges, &at)) {
        low = range->start < low ? range->start : low;
        high = range->end > high ? range->end : high;
    }
    return rangemap_set(ranges, low, high, SHARED, 0);
}

static bool is_same(const struct reuse *reuse, const struct range *range, uint64_t start,
                    uint64_t end, uint32_t number)
{
    const struct place_options *options = &reuse->place->options;

    return range->start == start && range->end == end && range->value != SHARED &&
           options->same_code &&
           options->same_code(options->context, reuse->codes[range->value], reuse->codes[number]);
}

/* Where a process has memory that others may have, too. */
static int collect_shared(struct process *process)
{
    int err = 0;

    for (size_t i = 0; i < process->mapping_count && process->kin.maps_shared && !err; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (mapping->kind == PLACE_ANONYMOUS && mapping->file)
            err =
                rangemap_set(&process->kin.shared, mapping->start, mapping->end, 0, mapping->file);
    }
    return err;
}

/* The process that keeps what is known of the address of a piece: the eldest that it shares the
 * memory with, or its own. */
static struct process *keeper_of(const struct place *place, const struct code *code)
{
    struct process *process = process_find(place, code->pid), *keeper = process;

    for (unsigned depth = 0; process && depth < ANCESTORS_MAX; depth++) {
        if (rangemap_holds(&process->kin.shared, code->addr, code->addr + code->size))
            keeper = process;
        process = process->parent;
    }
    return keeper;
}

static int add_code(const struct reuse *reuse, uint32_t number)
{
    const struct code *code = reuse->codes[number];
    const uint64_t end = code->addr + code->size;
    struct process *process = process_get(reuse->place, code->pid);

    if (!process)
        return -ENOMEM;
    process = keeper_of(reuse->place, code);
    const struct range *range =
        rangemap_get(&process->code_known, rangemap_find(&process->code_known, code->addr));
    if (!range || range->start >= end)
        return rangemap_set(&process->code_known, code->addr, end, number, 0);
    if (is_same(reuse, range, code->addr, end, number))
        return 0;
    return share(&process->code_known, code->addr, end);
}

/* Whether a file was mapped into [range->start, range->end) later than at `since`. */
static bool has_later_file(const struct rangemap *files, const struct range *range, uint64_t since)
{
    struct rangemap_at at = rangemap_find(files, range->start);
    const struct range *file;
    bool later = false;

    for (; !later && (file = rangemap_get(files, at)) && file->start < range->end;
         rangemap_next(files, &at))
        later = file->stamp > since;
    return later;
}

/* The files that a process mapped, each address with the time of the last one there. */
static int collect_files(struct process *process, struct rangemap *files)
{
    int err = 0;

    process_sort_mappings(process);
    for (size_t i = 0; i < process->mapping_count && !err; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (mapping->kind != PLACE_ANONYMOUS)
            err = rangemap_set(files, mapping->start, mapping->end, 0, mapping->time);
    }
    return err;
}

static int compare_with_files(const struct reuse *reuse, struct process *process)
{
    struct rangemap *ranges = &process->code_known;
    struct rangemap files = {0};
    const struct range *next;
    int err = collect_files(process, &files);

    for (uint64_t from = 0; !err && (next = rangemap_get(ranges, rangemap_find(ranges, from)));) {
        const struct range range = *next;
        if (range.value != SHARED && has_later_file(&files, &range, reuse->since[range.value]))
            err = share(ranges, range.start, range.end);
        from = range.end;
    }
    rangemap_clear(&files);
    return err;
}

/* What a process inherits is at an address before its own code is. */
static int compare_with_ancestor(const struct reuse *reuse, struct process *process,
                                 struct process *ancestor)
{
    struct rangemap *ranges = &process->code_known, *inherited = &ancestor->code_known;
    const struct range *next;
    int err = 0;

    for (uint64_t from = 0; !err && (next = rangemap_get(ranges, rangemap_find(ranges, from)));) {
        const struct range range = *next;
        const struct range *there = rangemap_get(inherited, rangemap_find(inherited, range.start));
        from = range.end;
        if (!there || there->start >= range.end ||
            (range.value != SHARED && is_same(reuse, there, range.start, range.end, range.value)))
            continue;
        err = share(inherited, range.start, range.end);
        if (!err)
            err = share(ranges, range.start, range.end);
    }
    return err;
}

static int compare_with_others(const struct reuse *reuse, struct process *process)
{
    struct process *ancestor = process->parent;
    int err = compare_with_files(reuse, process);

    for (unsigned depth = 1; ancestor && depth < ANCESTORS_MAX && !err; depth++) {
        if (ancestor->code_known.count > 0)
            err = compare_with_ancestor(reuse, process, ancestor);
        ancestor = ancestor->parent;
    }
    return err;
}

static void mark(const struct reuse *reuse, struct code *code)
{
    const struct rangemap *ranges = &keeper_of(reuse->place, code)->code_known;
    const struct range *range = rangemap_get(ranges, rangemap_find(ranges, code->addr));

    if (range->value == SHARED)
        code->flags |= CODE_REUSED;
}

int place_mark_reused(struct place *place, struct code *const *codes, const uint64_t *since,
                      size_t count)
{
    const struct reuse reuse = {.place = place, .codes = codes, .since = since};
    int err = count >= SHARED ? -ENOMEM : 0;

    process_link(place);
    for (size_t i = 0; i < place->process_count && !err; i++)
        err = collect_shared(place->processes[i]);
    for (size_t i = 0; i < count && !err; i++)
        if (codes[i]->size > 0)
            err = add_code(&reuse, (uint32_t)i);
    for (size_t i = 0; i < place->process_count && !err; i++)
        if (place->processes[i]->code_known.count > 0)
            err = compare_with_others(&reuse, place->processes[i]);
    for (size_t i = 0; i < count && !err; i++)
        if (codes[i]->size > 0)
            mark(&reuse, codes[i]);
    for (size_t i = 0; i < place->process_count; i++) {
        rangemap_clear(&place->processes[i]->code_known);
        rangemap_clear(&place->processes[i]->kin.shared);
    }
    return err;
}
