/* SPDX-License-Identifier: MIT */
#include "lives.h"
#include "place_internal.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* More reads than a processor can have under way. */
#define SEARCHES 64

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
    free(place->table);
    free(place->forks);
    free(place->execs);
    free(place->files);
    free(place->file_opened);
    for (size_t i = 0; i < place->bias_count; i++)
        finder_free(place->biases[i].finder);
    free(place->biases);
    free(place->events);
    free(place->dropped);
    free(place->rows);
    free(place);
}

int place_add_mapping(struct place *place, uint32_t pid, uint64_t time, uint64_t addr, uint64_t len,
                      uint64_t offset, enum place_mapping_kind kind, uint64_t file, uint64_t record)
{
    struct process *process = process_get(place, pid);

    if (!process ||
        !array_reserve(&process->mappings, &process->mapping_capacity, process->mapping_count + 1))
        return -ENOMEM;
    process->mappings[process->mapping_count++] =
        (struct mapping){.time = time,
                         .start = addr,
                         .end = len > UINT64_MAX - addr ? UINT64_MAX : addr + len,
                         .offset = offset,
                         .file = file,
                         .record = record,
                         .kind = kind};
    if (kind == PLACE_ANONYMOUS && file)
        place->has_shared = process->maps_shared = true;
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
    if (!array_reserve(&process->dump_times, &process->dump_capacity, process->dump_count + 1))
        return -ENOMEM;
    process->dump_times[process->dump_count++] = time;
    if (!process->has_dump || time < process->dump_time)
        process->dump_time = time;
    process->has_dump = true;
    return 0;
}

/* Pieces of one process. */
static int add_codes(struct place *place, struct code *codes, size_t count)
{
    struct process *process = process_get(place, codes->pid);

    if (!process ||
        !array_reserve(&process->codes, &process->code_capacity, process->code_count + count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (codes[i].size > 0)
            process->codes[process->code_count++] = &codes[i];
    return 0;
}

int place_add_codes(struct place *place, struct code *codes, size_t count)
{
    int err = 0;

    for (size_t first = 0, next; first < count && !err; first = next) {
        for (next = first + 1; next < count; next++)
            if (codes[next].pid != codes[first].pid)
                break;
        err = add_codes(place, codes + first, next - first);
    }
    return err;
}

static int compare_rows(const void *left, const void *right)
{
    const struct place_process *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

static void add_to_row(struct place_process *row, const struct process *process)
{
    if (process->code_count == 0)
        return;
    if (row->files == 0)
        row->first_file = process->first_file;
    row->codes += process->code_count - process->repeated;
    row->code_bytes += process->code_bytes;
    row->repeated += process->repeated;
    row->files += process->file_count;
    row->events += process->event_count;
    row->dropped += process->dropped_count;
    row->beyond_layers += process->beyond_layers;
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
        for (size_t n = 1; process->first == process && n < process->life_count; n++)
            add_to_row(row, process->lives[n]);
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
    for (size_t n = 1; n < first->life_count && !err; n++)
        err = windows_lay_out(place, first->lives[n]);
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

const struct place_event *place_events(const struct place *place, size_t *count)
{
    *count = place->event_count;
    return place->events;
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

static int make_finders(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->bias_count && !err; i++) {
        struct bias *bias = &place->biases[i];
        const struct place_file *file = &place->files[bias->file];
        const struct place_extent *extent = &file->extents[bias->extent];
        const size_t first = file->mirrors ? 0 : extent->first;
        const size_t count = file->mirrors ? file->code_count : extent->count;
        /* Addresses that are used over and over have one piece in each of very many extents. */
        if (count > 1 && !bias->finder)
            err = finder_new(file->codes + first, count, &bias->finder);
    }
    place->has_finders = !err;
    return err;
}

/* Whether a process that holds no code had memory without a file there, or inherited it, and no
 * file. */
static bool is_unlogged(const struct process *process, uint64_t addr)
{
    bool anonymous = false;

    for (unsigned depth = 0; process && !anonymous && depth < ANCESTORS_MAX; depth++) {
        if (rangemap_overlaps(&process->file_ranges, addr, addr + 1))
            return false;
        anonymous = rangemap_overlaps(&process->anonymous_ranges, addr, addr + 1);
        process = process->parent;
    }
    return anonymous;
}

/* What is mapped at the address of a query, and where and when else in the process it is that. */
struct answer {
    uint32_t pid;
    uint64_t start, size;  /* addresses [start, start + size) */
    uint64_t since, until; /* times [since, until); none: it holds for the query only */
    const struct bias *bias;
    enum place_found found; /* if there is no bias */
};

/* Narrows the times down to those of another span. */
static void within_times(struct answer *answer, uint64_t since, uint64_t until)
{
    if (answer->since < since)
        answer->since = since;
    if (answer->until > until)
        answer->until = until;
}

static struct answer find_answer(const struct place *place, const struct place_query *query,
                                 struct history_memo *memo)
{
    struct process *process = process_find(place, query->pid);
    struct answer answer = {.pid = query->pid, .found = PLACE_ELSEWHERE};
    uint64_t time = query->time, since = 0, until = 0;
    bool anonymous = false;

    if (process)
        process = lives_find(process, time, &since, &until);
    if (process && !process->holds_code && is_unlogged(process, query->addr))
        answer.found = PLACE_UNLOGGED;
    for (unsigned depth = 0; process && process->holds_code && depth < ANCESTORS_MAX; depth++) {
        const struct history_change *change =
            history_find(&process->history, query->addr, time, memo);
        const bool is_child = process->forked && process->fork_time <= time;
        /* A fork replaces what an earlier process of the same pid had. */
        if (change && is_child && change->time < process->fork_time)
            change = NULL;
        if (change && depth == 0) {
            answer.start = memo->start;
            answer.size = memo->end - memo->start;
            answer.since = memo->since;
            answer.until = memo->until;
            within_times(&answer, since, until);
            if (process->forked)
                within_times(&answer, is_child ? process->fork_time : 0,
                             is_child ? UINT64_MAX : process->fork_time);
        }
        if (change && change->value != MAPPED_FILE)
            answer.bias = &place->biases[change->value - MAPPED_FIRST_BIAS];
        if (change)
            return answer;
        anonymous |= rangemap_overlaps(&process->anonymous_ranges, query->addr, query->addr + 1);
        if (is_child)
            time = process->fork_time;
        process = is_child ? process->parent : NULL;
    }
    if (anonymous)
        answer.found = PLACE_UNNAMED;
    return answer;
}

static bool is_alike(const struct answer *answer, const struct place_query *query)
{
    return query->addr - answer->start < answer->size && query->pid == answer->pid &&
           query->time >= answer->since && query->time < answer->until;
}

/* Answers the query, or returns the finder that has to search for that. */
static const struct finder *take_answer(const struct place *place, const struct answer *answer,
                                        struct place_query *query)
{
    const struct bias *bias = answer->bias;
    enum finder_answer found = FINDER_NO;

    query->found = answer->found;
    if (!bias)
        return NULL;
    if (bias->finder) {
        found = finder_ask(bias->finder, query->addr);
    } else {
        const struct place_extent *extent = &place->files[bias->file].extents[bias->extent];
        if (query->addr - extent->addr < extent->size)
            found = FINDER_YES;
    }
    query->found = found == FINDER_YES ? PLACE_NAMED : PLACE_UNNAMED;
    return found == FINDER_SEARCH ? bias->finder : NULL;
}

struct search {
    const struct finder *finder;
    struct place_query *query;
};

static void search_all(const struct search *searches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        finder_fetch_part(searches[i].finder, searches[i].query->addr);
    for (size_t i = 0; i < count; i++)
        finder_fetch_range(searches[i].finder, searches[i].query->addr);
    for (size_t i = 0; i < count; i++)
        if (finder_search(searches[i].finder, searches[i].query->addr))
            searches[i].query->found = PLACE_NAMED;
}

int place_lookup(struct place *place, struct place_query *queries, size_t count)
{
    struct search searches[SEARCHES];
    size_t waiting = 0;
    struct history_memo memo = {0};
    struct answer answer = {0};
    const int err = place->has_finders ? 0 : make_finders(place);

    for (size_t i = 0; i < count && !err; i++) {
        struct place_query *query = &queries[i];
        if (!is_alike(&answer, query))
            answer = find_answer(place, query, &memo);
        const struct finder *finder = take_answer(place, &answer, query);
        if (!finder)
            continue;
        searches[waiting++] = (struct search){finder, query};
        if (waiting == SEARCHES) {
            search_all(searches, waiting);
            waiting = 0;
        }
    }
    search_all(searches, waiting);
    return err;
}
