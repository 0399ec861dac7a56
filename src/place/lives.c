/* SPDX-License-Identifier: MIT */
#include "lives.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Begins a life. */
struct start {
    struct process *process;
    uint64_t time;
    struct fork *fork; /* that made the process; NULL: an exec */
};

static int compare_starts(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    if (a->process->pid != b->process->pid)
        return a->process->pid < b->process->pid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->fork == NULL) - (b->fork == NULL);
}

static int add_life(struct process *first, struct process *life)
{
    if (!array_reserve(&first->lives.list, &first->lives.capacity, first->lives.count + 1))
        return -ENOMEM;
    first->lives.list[first->lives.count++] = life;
    return 0;
}

static int new_life(struct place *place, struct process *first, const struct start *start)
{
    struct process *life;

    if (!array_reserve(&place->processes, &place->process_capacity, place->process_count + 1))
        return -ENOMEM;
    life = calloc(1, sizeof(*life));
    if (!life)
        return -ENOMEM;
    life->number = (uint32_t)place->process_count;
    place->processes[place->process_count++] = life;
    life->pid = first->pid;
    life->first = first;
    life->related = first->related;
    life->begin = start->time;
    return add_life(first, life);
}

struct process *lives_find(struct process *first, uint64_t time, uint64_t *since, uint64_t *until)
{
    size_t low = 1, high = first->lives.count;

    *since = 0;
    *until = UINT64_MAX;
    if (!first->lives.list)
        return first;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first->lives.list[middle]->begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 1)
        *since = first->lives.list[low - 1]->begin;
    if (low < first->lives.count)
        *until = first->lives.list[low]->begin;
    return first->lives.list[low - 1];
}

struct process *lives_at(struct process *first, uint64_t time)
{
    uint64_t since, until;

    return lives_find(first, time, &since, &until);
}

/* Number of records of a process before `time`, from number `from` on. */
static size_t mappings_before(const struct process *process, size_t from, uint64_t time)
{
    while (from < process->mapping_count && process->mappings[from].time < time)
        from++;
    return from;
}

static size_t codes_before(const struct process *process, size_t from, uint64_t time)
{
    size_t low = from, high = process->code_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (process->codes[middle]->time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Makes the lives. A program of which nothing is known makes none of its own: what there is before
 * the first fork of a pid, or between two execs.
 */
static int begin_lives(struct place *place, struct process *first, const struct start *starts,
                       size_t count)
{
    size_t mapping = 0, code = 0;
    int err = add_life(first, first);

    first->forked = false;
    first->fork_time = 0;
    first->parent = NULL;
    for (size_t i = 0; i < count && !err; i++) {
        struct process *last = first->lives.list[first->lives.count - 1];
        const size_t next_mapping = mappings_before(first, mapping, starts[i].time);
        const size_t next_code = codes_before(first, code, starts[i].time);
        const bool empty = next_mapping == mapping && next_code == code && !last->forked;
        if (!empty)
            err = new_life(place, first, &starts[i]);
        if (err)
            return err;
        last = first->lives.list[first->lives.count - 1];
        last->made = starts[i].time;
        mapping = next_mapping;
        code = next_code;
        last->forked = starts[i].fork != NULL;
        if (starts[i].fork) {
            last->fork_time = starts[i].time;
            starts[i].fork->child = last;
        }
    }
    return err;
}

static int share_mappings(struct process *first)
{
    size_t kept = 0;

    for (size_t i = 0; i < first->mapping_count; i++) {
        struct process *life = lives_at(first, first->mappings[i].time);
        if (life == first) {
            first->mappings[kept++] = first->mappings[i];
            continue;
        }
        if (!array_reserve(&life->mappings, &life->mapping_capacity, life->mapping_count + 1))
            return -ENOMEM;
        life->mappings[life->mapping_count++] = first->mappings[i];
    }
    first->mapping_count = kept;
    return 0;
}

static void share_dumps(struct process *first)
{
    first->dumps.any = false;
    for (size_t i = 0; i < first->dumps.count; i++) {
        struct process *life = lives_at(first, first->dumps.times[i]);
        if (!life->dumps.any || first->dumps.times[i] < life->dumps.first)
            life->dumps.first = first->dumps.times[i];
        life->dumps.any = true;
    }
}

/* Adds pieces that are by time; none is older than the life. */
static int add_codes(struct process *life, struct code **codes, size_t count)
{
    if (!array_reserve(&life->codes, &life->code_capacity, life->code_count + count))
        return -ENOMEM;
    for (size_t i = 0; i < count && codes[i]->time <= life->made; i++)
        codes[i]->time = life->made + 1;
    memcpy(life->codes + life->code_count, codes, count * sizeof(struct code *));
    life->code_count += count;
    return 0;
}

/*
 * Pieces go by their times; but times may be off, and the life that wrote a dump is known. So they
 * do not go to a life without a dump where the next one has one.
 */
static int share_codes(struct process *first)
{
    size_t kept = 0, next = 0;
    int err = 0;

    for (size_t i = 0, end; i < first->code_count && !err; i = end) {
        uint64_t since, until;
        struct process *life = lives_find(first, first->codes[i]->time, &since, &until);
        end = codes_before(first, i + 1, until);
        while (next < first->lives.count && (first->lives.list[next]->begin < life->begin ||
                                             !first->lives.list[next]->dumps.any))
            next++;
        if (!life->dumps.any && next < first->lives.count)
            life = first->lives.list[next];
        if (life != first) {
            err = add_codes(life, first->codes + i, end - i);
            continue;
        }
        memmove(first->codes + kept, first->codes + i, (end - i) * sizeof(struct code *));
        kept += end - i;
    }
    first->code_count = kept;
    return err;
}

static int split(struct place *place, struct process *first, const struct start *starts,
                 size_t count)
{
    int err = begin_lives(place, first, starts, count);

    if (!err)
        err = share_mappings(first);
    if (!err) {
        share_dumps(first);
        err = share_codes(first);
    }
    return err;
}

static int collect_starts(const struct place *place, struct start **out, size_t *count)
{
    struct start *starts = malloc((place->fork_count + place->exec_count + 1) * sizeof(*starts));

    *count = 0;
    *out = starts;
    if (!starts)
        return -ENOMEM;
    for (size_t i = 0; i < place->fork_count; i++)
        if (place->forks[i].child->related)
            starts[(*count)++] = (struct start){.process = place->forks[i].child,
                                                .time = place->forks[i].time,
                                                .fork = &place->forks[i]};
    for (size_t i = 0; i < place->exec_count; i++)
        if (place->execs[i].process->related)
            starts[(*count)++] =
                (struct start){.process = place->execs[i].process, .time = place->execs[i].time};
    array_sort(starts, *count, sizeof(*starts), compare_starts);
    return 0;
}

int lives_split(struct place *place)
{
    struct start *starts = NULL;
    size_t count = 0;
    int err = collect_starts(place, &starts, &count);

    for (size_t first = 0, next; first < count && !err; first = next) {
        for (next = first + 1; next < count && starts[next].process == starts[first].process;
             next++)
            ;
        err = split(place, starts[first].process, starts + first, next - first);
    }
    free(starts);
    for (size_t i = 0; i < place->fork_count && !err; i++) {
        struct fork *fork = &place->forks[i];
        fork->parent = lives_at(fork->parent, fork->time);
        fork->child->parent = fork->parent;
    }
    return err;
}
