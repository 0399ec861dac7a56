/* SPDX-License-Identifier: MIT */
#include "layers.h"
#include "lives.h"
#include "place_internal.h"
#include "rooms.h"
#include "timeline.h"
#include "windows.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

int place_new(const struct place_options *options, struct place **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->options = *options;
    return 0;
}

void place_free(struct place *place)
{
    if (!place)
        return;
    for (size_t i = 0; i < place->process_count; i++)
        process_free(place->processes[i]);
    free(place->processes);
    hashmap_clear(&place->by_pid);
    free(place->forks);
    free(place->execs);
    free(place->files);
    for (size_t i = 0; i < place->bias_count; i++)
        finder_free(place->biases[i].finder);
    free(place->biases);
    free(place->events);
    free(place->unwritten);
    free(place->dropped);
    free(place->rows);
    free(place);
}

int place_add_mapping(struct place *place, const struct place_mapping *mapping)
{
    const uint64_t addr = mapping->addr, len = mapping->len;
    struct process *process = process_get(place, mapping->pid);

    if (!process ||
        !array_reserve(&process->mappings, &process->mapping_capacity, process->mapping_count + 1))
        return -ENOMEM;
    process->mappings[process->mapping_count++] =
        (struct mapping){.time = mapping->time,
                         .start = addr,
                         .end = len > UINT64_MAX - addr ? UINT64_MAX : addr + len,
                         .offset = mapping->offset,
                         .file = mapping->file,
                         .record = mapping->record,
                         .kind = mapping->kind};
    if (mapping->kind == PLACE_ANONYMOUS && mapping->file)
        place->has_shared = process->kin.maps_shared = true;
    return 0;
}

int place_add_fork(struct place *place, uint32_t child, uint32_t parent, uint64_t time)
{
    struct process *to = process_get(place, child), *from = process_get(place, parent);

    if (!to || !from || !array_reserve(&place->forks, &place->fork_capacity, place->fork_count + 1))
        return -ENOMEM;
    if (to != from) {
        place->forks[place->fork_count] =
            (struct fork){.time = time, .order = place->fork_count, .child = to, .parent = from};
        place->fork_count++;
    }
    return 0;
}

int place_add_exec(struct place *place, uint32_t pid, uint64_t time)
{
    struct process *process = process_get(place, pid);

    if (!process || !array_reserve(&place->execs, &place->exec_capacity, place->exec_count + 1))
        return -ENOMEM;
    place->execs[place->exec_count++] = (struct exec){.time = time, .process = process};
    return 0;
}

int place_add_exit(struct place *place, uint32_t pid, uint64_t time)
{
    struct process *process = process_get(place, pid);

    if (!process)
        return -ENOMEM;
    if (time > process->exit_time)
        process->exit_time = time;
    return 0;
}

int place_add_dump(struct place *place, uint32_t pid, uint64_t time)
{
    struct process *process = process_get(place, pid);

    if (!process)
        return -ENOMEM;
    if (!array_reserve(&process->dumps.times, &process->dumps.capacity, process->dumps.count + 1))
        return -ENOMEM;
    process->dumps.times[process->dumps.count++] = time;
    if (!process->dumps.any || time < process->dumps.first)
        process->dumps.first = time;
    process->dumps.any = true;
    return 0;
}

int place_expect_codes(struct place *place, uint32_t pid, size_t count)
{
    struct process *process = process_get(place, pid);

    return process && array_reserve(&process->codes, &process->code_capacity,
                                    process->code_count + count)
               ? 0
               : -ENOMEM;
}

int place_add_codes(struct place *place, struct code *codes, size_t count)
{
    struct process *process = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!process || process->pid != codes[i].pid)
            process = process_get(place, codes[i].pid);
        if (!process ||
            !array_reserve(&process->codes, &process->code_capacity, process->code_count + 1))
            return -ENOMEM;
        if (codes[i].size == 0)
            continue;
        if (process->code_count > 0 &&
            process->codes[process->code_count - 1]->time > codes[i].time)
            process->disordered = true;
        process->codes[process->code_count++] = &codes[i];
    }
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const struct place_process *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Those of a pid have one row together. */
static void add_to_row(struct place_process *row, const struct process *process)
{
    const struct place_process *life = &process->row;

    if (process->code_count == 0)
        return;
    if (row->files == 0)
        row->first_file = life->first_file;
    row->codes += process->code_count - life->repeated;
    row->code_bytes += life->code_bytes;
    row->repeated += life->repeated;
    row->files += life->files;
    row->events += life->events;
    row->dropped += life->dropped;
    row->beyond_layers += life->beyond_layers;
}

static int make_rows(struct place *place)
{
    place->rows = calloc(place->process_count + 1, sizeof(*place->rows));
    if (!place->rows)
        return -ENOMEM;
    for (size_t i = 0; i < place->process_count; i++) {
        const struct process *process = place->processes[i];
        struct place_process *row = &place->rows[place->row_count];
        row->pid = process->pid;
        if (process->first == process)
            add_to_row(row, process);
        for (size_t n = 1; process->first == process && n < process->lives.count; n++)
            add_to_row(row, process->lives.list[n]);
        place->row_count += row->files > 0;
    }
    qsort(place->rows, place->row_count, sizeof(*place->rows), compare_rows);
    return 0;
}

static int make_extents(struct place *place, struct process *process)
{
    if (process->code_count == 0)
        return 0;
    const int err = layers_assign(place, process);
    return err ? err : windows_make_extents(process);
}

/* The files of a pid are numbered, and lie, one after the other. */
static int lay_out_pid(struct place *place, struct process *first)
{
    int err = 0;

    if (first->is_laid_out)
        return 0;
    first->is_laid_out = true;
    err = windows_lay_out(place, first);
    for (size_t n = 1; n < first->lives.count && !err; n++)
        err = windows_lay_out(place, first->lives.list[n]);
    return err;
}

/* What a child maps leaves alone what it inherits: all code is known first, and its parent has most
 * often been laid out before it, as forks are in order of time. */
static int lay_out_all(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->process_count && !err; i++)
        err = make_extents(place, place->processes[i]);
    for (size_t i = 0; i < place->process_count && !err; i++)
        err = rooms_take_inherited(place->processes[i]);
    for (size_t i = 0; i < place->process_count && !err; i++)
        if (place->processes[i]->first == place->processes[i] && !place->processes[i]->forked)
            err = lay_out_pid(place, place->processes[i]);
    for (size_t i = 0; i < place->fork_count && !err; i++)
        err = lay_out_pid(place, place->forks[i].child->first);
    return err;
}

int place_run(struct place *place)
{
    int err = process_prepare_all(place);

    if (!err)
        err = lay_out_all(place);
    if (!err)
        err = timeline_run(place);
    return err ? err : make_rows(place);
}

const struct place_file *place_files(const struct place *place, size_t *count)
{
    *count = place->file_count;
    return place->files;
}

size_t place_event_count(const struct place *place)
{
    return place->event_count - place->unwritten_count;
}

/* Where the one is that is written as number `number`: behind those before it that are not. */
static size_t find_written(const struct place *place, size_t number)
{
    size_t low = 0, high = place->unwritten_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (place->unwritten[middle] - middle <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return number + low;
}

struct place_event place_event(const struct place *place, size_t number)
{
    const struct event *event = &place->events[find_written(place, number)];
    const struct bias *bias = &place->biases[event->value - MAPPED_FIRST_BIAS];

    return (struct place_event){.time = event->time,
                                .addr = event->addr,
                                .len = event_len(event),
                                .offset = event->addr + bias->offset,
                                .pid = place->processes[event->process]->pid,
                                .file = bias->file};
}

const uint64_t *place_dropped(const struct place *place, size_t *count)
{
    *count = place->dropped_count;
    return place->dropped;
}

const struct place_process *place_processes(const struct place *place, size_t *count)
{
    *count = place->row_count;
    return place->rows;
}
