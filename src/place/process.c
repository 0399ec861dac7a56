/* SPDX-License-Identifier: MIT */
#include "lives.h"
#include "order.h"
#include "place_internal.h"
#include "share.h"
#include "snapshot.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

struct process *process_find(const struct place *place, uint32_t pid)
{
    const uint64_t *number = hashmap_find(&place->by_pid, pid, 0);

    return number ? place->processes[*number] : NULL;
}

struct process *process_get(struct place *place, uint32_t pid)
{
    struct process *process = process_find(place, pid);

    if (process)
        return process;
    if (!array_reserve(&place->processes, &place->process_capacity, place->process_count + 1))
        return NULL;
    process = calloc(1, sizeof(*process));
    if (!process || hashmap_put(&place->by_pid, pid, 0, place->process_count) < 0) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    process->first = process;
    process->number = (uint32_t)place->process_count;
    place->processes[place->process_count++] = process;
    return process;
}

void process_free(struct process *process)
{
    if (!process)
        return;
    free(process->lives.list);
    free(process->dumps.times);
    free(process->mappings);
    free(process->codes);
    if (process->kin.family)
        free(process->loads);
    free(process->kin.members);
    rangemap_clear(&process->kin.shared);
    free(process->names.pieces);
    free(process->extents.codes);
    free(process->extents.table_codes);
    free(process->extents.list);
    free(process->extents.biases);
    rangemap_clear(&process->code_known);
    rangemap_clear(&process->taken);
    rangemap_clear(&process->past.files);
    rangemap_clear(&process->past.late_files);
    rangemap_clear(&process->past.libraries);
    rangemap_clear(&process->past.memory);
    model_clear(&process->model);
    history_clear(&process->history);
    free(process);
}

static int compare_mappings(const void *left, const void *right)
{
    const struct mapping *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

static int compare_forks(const void *left, const void *right)
{
    const struct fork *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Or may get some, from whoever shares its memory. */
static bool has_names(const struct process *process)
{
    return process->code_count > 0 || process->load_count > 0 || process->names.symbol_count > 0 ||
           process->kin.maps_shared;
}

/* The maps of a process with code matter, and so do those that it inherited and those that inherit.
 */
static void relate(struct place *place)
{
    for (size_t i = 0; i < place->process_count; i++)
        place->processes[i]->related = false;
    for (size_t i = 0; i < place->process_count; i++) {
        struct process *process = place->processes[i];
        for (unsigned depth = 0; process && depth < ANCESTORS_MAX; depth++) {
            if (has_names(place->processes[i]))
                process->related = true;
            process = process->parent;
        }
    }
    /* Forks are in order of time, so a child's parent is known by then. */
    for (size_t i = 0; i < place->fork_count; i++)
        if (place->forks[i].parent->related)
            place->forks[i].child->related = true;
}

/* The files that `from` has mapped code of, sorted; NULL when memory is out. */
static uint64_t *list_libraries(const struct process *from, size_t *count)
{
    uint64_t *files = malloc((from->mapping_count + 1) * sizeof(*files));

    *count = 0;
    if (!files)
        return NULL;
    for (size_t i = 0; i < from->mapping_count; i++)
        if (from->mappings[i].kind == PLACE_FILE)
            files[(*count)++] = from->mappings[i].file;
    qsort(files, *count, sizeof(*files), array_compare_u64);
    return files;
}

/* What `from` mapped up to `until`. A library takes the addresses of its data, too. */
static int collect_mappings(struct process *process, const struct process *from, uint64_t until)
{
    size_t count;
    uint64_t *libraries = list_libraries(from, &count);
    int err = libraries ? 0 : -ENOMEM;

    for (size_t i = 0; i < from->mapping_count && !err; i++) {
        const struct mapping *mapping = &from->mappings[i];
        struct rangemap *ranges =
            mapping->kind == PLACE_ANONYMOUS ? &process->past.memory : &process->past.files;
        if (mapping->time > until)
            continue;
        err = rangemap_set(ranges, mapping->start, mapping->end, 0, 0);
        if (!err && mapping->kind != PLACE_ANONYMOUS && process->load_count > 0 &&
            mapping->time >= process->loads[0]->time)
            err = rangemap_set(&process->past.late_files, mapping->start, mapping->end, 0, 0);
        if (!err && mapping->kind != PLACE_ANONYMOUS &&
            bsearch(&mapping->file, libraries, count, sizeof(*libraries), array_compare_u64))
            err = rangemap_set(&process->past.libraries, mapping->start, mapping->end, 0, 0);
    }
    free(libraries);
    return err;
}

/*
 * What a process had and inherited; only one with code needs the latter. What its parent mapped
 * after the fork it never had.
 */
static int collect_ranges(struct process *process)
{
    const struct process *child = process, *from = process->parent;
    const bool has_code = process->code_count > 0 || process->load_count > 0;
    int err = collect_mappings(process, process, UINT64_MAX);

    for (unsigned depth = 1; has_code && from && depth < ANCESTORS_MAX && !err; depth++) {
        err = collect_mappings(process, from, child->fork_time);
        for (size_t i = 0; i < from->code_count && !err; i++)
            err = rangemap_set(&process->past.memory, from->codes[i]->addr,
                               from->codes[i]->addr + from->codes[i]->size, 0, 0);
        child = from;
        from = from->parent;
    }
    return err;
}

/* The files of a family are to lie where none of its processes has anything, its own or inherited.
 */
static int collect_for_family(const struct process *process)
{
    struct process *const family = process->kin.family;
    const struct process *child = process, *from = process->parent;
    int err = collect_mappings(family, process, UINT64_MAX);

    for (unsigned depth = 1; depth < ANCESTORS_MAX && !err; depth++) {
        if (!from || from->kin.family == family)
            break;
        err = collect_mappings(family, from, child->fork_time);
        child = from;
        from = from->parent;
    }
    return err;
}

/* What a process had that has nothing to do with any code. */
static int collect_plain_ranges(struct process *process)
{
    int err = 0;

    for (size_t i = 0; i < process->mapping_count && !err; i++) {
        const struct mapping *mapping = &process->mappings[i];
        struct rangemap *ranges =
            mapping->kind == PLACE_ANONYMOUS ? &process->past.memory : &process->past.files;
        err = rangemap_set(ranges, mapping->start, mapping->end, 0, 0);
    }
    return err;
}

/*
 * Whether what a reader has mapped has to be known at all times. A child that only maps files, as
 * after most execs, neither hides code nor adds any.
 */
static bool needs_model(const struct process *process)
{
    bool needs = process->load_count > 0 || !process->parent;

    for (size_t i = 0; i < process->mapping_count && !needs; i++)
        needs = process->mappings[i].kind == PLACE_ANONYMOUS;
    return needs;
}

void process_link(struct place *place)
{
    if (place->linked_forks == place->fork_count)
        return;
    place->linked_forks = place->fork_count;
    array_sort(place->forks, place->fork_count, sizeof(*place->forks), compare_forks);
    for (size_t i = 0; i < place->fork_count; i++) {
        const struct fork *fork = &place->forks[i];
        fork->child->forked = true;
        fork->child->parent = fork->parent;
        fork->child->fork_time = fork->time;
    }
}

bool place_has_process(const struct place *place, uint32_t pid)
{
    return process_find(place, pid);
}

uint64_t place_fork_time(struct place *place, uint32_t pid)
{
    process_link(place);
    const struct process *process = process_find(place, pid);

    return process && process->forked ? process->fork_time : 0;
}

void process_sort_mappings(struct process *process)
{
    array_sort(process->mappings, process->mapping_count, sizeof(*process->mappings),
               compare_mappings);
}

/* What a process can run is what it logged, unless it shares memory. */
static void set_loads(struct process *process)
{
    if (process->kin.family)
        return;
    process->loads = process->codes;
    process->load_count = process->code_count;
}

int process_prepare_all(struct place *place)
{
    int err = 0;

    process_link(place);
    relate(place);
    for (size_t i = 0; i < place->process_count && !err; i++) {
        struct process *process = place->processes[i];
        if (!process->related)
            continue;
        process_sort_mappings(process);
        if (process->disordered)
            err = order_codes(process->codes, process->code_count, ORDER_TIME);
    }
    /* By now a pid is related if any of its lives may be. */
    if (!err)
        err = lives_split(place);
    err = err ? err : snapshot_fill_all(place);
    err = err ? err : share_codes(place);
    err = err ? err : snapshot_add_all(place);
    for (size_t i = 0; i < place->process_count && !err; i++)
        set_loads(place->processes[i]);
    relate(place);
    for (size_t i = 0; i < place->process_count && !err; i++) {
        struct process *process = place->processes[i];
        if (!process->related) {
            err = collect_plain_ranges(process);
            continue;
        }
        process->holds_code = process->load_count > 0;
        process->timeline.has_model = needs_model(process);
        err = collect_ranges(process);
        if (!err && process->kin.family && process->kin.family != process)
            err = collect_for_family(process);
    }
    /* What a child inherits its parent has to know; forks are in order of time, so from the last
     * one on. */
    for (size_t i = place->fork_count; i-- > 0;)
        if (place->forks[i].child->timeline.has_model)
            place->forks[i].parent->timeline.has_model = true;
    return err;
}
