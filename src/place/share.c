/* SPDX-License-Identifier: MIT */
/*
 * Memory that processes share, as a parent has it with workers that it forked: what one of them
 * puts there all of them can run. Processes that share memory are a family. Its first one has the
 * files with the code that any of them put into shared memory; each maps it from them when it came.
 */
#include "share.h"
#include "order.h"
#include "steps.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Each piece is gone through for each process of its family. What comes when so many have been is
 * of the process that logged it alone, so that a damaged recording cannot multiply it.
 */
#define GIVEN_MAX (UINT64_C(1) << 22)

/* Some memory, and the process that had it first. */
struct memory {
    uint64_t number, time;
    struct process *first;
};

struct load {
    struct code *code;
    struct process *process;
    size_t order; /* of input, where times are equal */
};

struct sharing {
    struct place *place;
    struct memory *memories; /* by number */
    size_t memory_count;
    struct load *loads; /* of all families, by time */
    size_t load_count;
    struct step *steps;
    size_t step_count;
    uint64_t given;
};

static int compare_memories(const void *left, const void *right)
{
    const struct memory *a = left, *b = right;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct memory *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

static int compare_loads(const void *left, const void *right)
{
    const struct load *a = left, *b = right;

    if (a->code->time != b->code->time)
        return a->code->time < b->code->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool is_shared(const struct mapping *mapping)
{
    return mapping->kind == PLACE_ANONYMOUS && mapping->file != 0;
}

/* Which process had which memory first. */
static int list_memories(struct sharing *sharing)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < sharing->step_count; i++) {
        const struct step *step = &sharing->steps[i];
        count += step->process && is_shared(&step->process->mappings[step->number]);
    }
    struct memory *memories = sharing->memories = array_new(count, sizeof(*memories));
    if (!memories)
        return -ENOMEM;
    for (size_t i = 0; i < sharing->step_count; i++) {
        const struct step *step = &sharing->steps[i];
        if (step->process && is_shared(&step->process->mappings[step->number]))
            memories[sharing->memory_count++] =
                (struct memory){.number = step->process->mappings[step->number].file,
                                .time = i,
                                .first = step->process};
    }
    array_sort(memories, count, sizeof(*memories), compare_memories);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || memories[kept - 1].number != memories[i].number)
            memories[kept++] = memories[i];
    sharing->memory_count = kept;
    return 0;
}

static int join(struct process *process, struct process *family)
{
    if (process->kin.family)
        return 0;
    process->kin.family = family;
    if (!array_reserve(&family->kin.members, &family->kin.member_capacity,
                       family->kin.member_count + 1))
        return -ENOMEM;
    family->kin.members[family->kin.member_count++] = process;
    return 0;
}

static int run_step(struct sharing *sharing, const struct step *step)
{
    if (!step->process) {
        const struct fork *fork = &sharing->place->forks[step->number];
        int err = rangemap_copy(&fork->child->kin.shared, &fork->parent->kin.shared);
        if (!err && fork->child->kin.shared.count > 0)
            err = join(fork->child, fork->parent->kin.family);
        return err;
    }
    struct process *process = step->process;
    const struct mapping *mapping = &process->mappings[step->number];
    if (!is_shared(mapping))
        return process->kin.family
                   ? rangemap_unset(&process->kin.shared, mapping->start, mapping->end)
                   : 0;
    const struct memory key = {.number = mapping->file};
    const struct memory *memory =
        bsearch(&key, sharing->memories, sharing->memory_count, sizeof(key), compare_numbers);
    struct process *first = memory->first;
    const int err = join(process, first->kin.family ? first->kin.family : first);
    return err ? err
               : rangemap_set(&process->kin.shared, mapping->start, mapping->end, 0, mapping->file);
}

/* All that may be in shared memory. */
static int list_loads(struct sharing *sharing)
{
    const struct place *place = sharing->place;
    size_t count = 0;

    for (size_t i = 0; i < place->process_count; i++)
        count += place->processes[i]->kin.family ? place->processes[i]->code_count : 0;
    struct load *loads = sharing->loads = array_new(count, sizeof(*loads));
    if (!loads)
        return -ENOMEM;
    for (size_t i = 0; i < place->process_count; i++) {
        struct process *process = place->processes[i];
        for (size_t n = 0; process->kin.family && n < process->code_count;
             n++, sharing->load_count++)
            loads[sharing->load_count] = (struct load){
                .code = process->codes[n], .process = process, .order = sharing->load_count};
        rangemap_clear(&process->kin.shared);
    }
    array_sort(loads, count, sizeof(*loads), compare_loads);
    return 0;
}

static int add_load(struct process *process, struct code *code)
{
    if (!array_reserve(&process->loads, &process->load_capacity, process->load_count + 1))
        return -ENOMEM;
    process->loads[process->load_count++] = code;
    return 0;
}

/* The memory that a process shares over the whole of a piece; 0: none. */
static uint64_t memory_of(const struct process *process, const struct code *code)
{
    const struct range *range =
        rangemap_get(&process->kin.shared, rangemap_find(&process->kin.shared, code->addr));

    return range && range->start <= code->addr && range->end >= code->addr + code->size
               ? range->stamp
               : 0;
}

static bool has_ended(const struct process *process, uint64_t time)
{
    const struct process *first = process->first, *now = lives_at(process->first, time);

    return now->begin > process->begin ||
           (first->exit_time < time && first->exit_time > process->made);
}

/* Gives a piece to all that have its memory, or to the one that logged it. */
static int give(struct sharing *sharing, const struct load *load)
{
    struct process *family = load->process->kin.family;
    const uint64_t memory = memory_of(load->process, load->code);
    int err = 0;

    if (!memory || sharing->given >= GIVEN_MAX)
        return add_load(load->process, load->code);
    load->code->flags |= CODE_SHARED;
    for (size_t i = 0; i < family->kin.member_count && !err;) {
        struct process *member = family->kin.members[i];
        sharing->given++;
        if (member != load->process && has_ended(member, load->code->time)) {
            family->kin.members[i] = family->kin.members[--family->kin.member_count];
            continue;
        }
        if (memory_of(member, load->code) == memory)
            err = add_load(member, load->code);
        i++;
    }
    return err;
}

/* Steps and loads in order of time; memory is mapped before there is code in it. */
static int give_all(struct sharing *sharing)
{
    size_t step = 0;
    int err = 0;

    for (size_t i = 0; i < sharing->load_count && !err; i++) {
        const struct load *load = &sharing->loads[i];
        for (; step < sharing->step_count && sharing->steps[step].time <= load->code->time && !err;
             step++)
            err = run_step(sharing, &sharing->steps[step]);
        if (!err)
            err = give(sharing, load);
    }
    return err;
}

/* Code in shared memory is in the files of the first of its family. */
static int lay_out(struct sharing *sharing)
{
    struct place *place = sharing->place;
    int err = 0;

    for (size_t i = 0; i < place->process_count; i++)
        if (place->processes[i]->kin.family)
            place->processes[i]->code_count = 0;
    for (size_t i = 0; i < sharing->load_count && !err; i++) {
        const struct load *load = &sharing->loads[i];
        struct process *to =
            load->code->flags & CODE_SHARED ? load->process->kin.family : load->process;
        if (!array_reserve(&to->codes, &to->code_capacity, to->code_count + 1))
            return -ENOMEM;
        to->codes[to->code_count++] = load->code;
    }
    for (size_t i = 0; i < place->process_count; i++)
        rangemap_clear(&place->processes[i]->kin.shared);
    return err;
}

int share_codes(struct place *place)
{
    struct sharing sharing = {.place = place};
    int err;

    if (!place->has_shared)
        return 0;
    err = steps_collect(place, &sharing.steps, &sharing.step_count);
    if (!err)
        err = list_memories(&sharing);
    /* Once to know the families, and again with their code. */
    for (size_t i = 0; i < sharing.step_count && !err; i++)
        err = run_step(&sharing, &sharing.steps[i]);
    if (!err)
        err = list_loads(&sharing);
    if (!err)
        err = give_all(&sharing);
    if (!err)
        err = lay_out(&sharing);
    free(sharing.steps);
    free(sharing.memories);
    free(sharing.loads);
    return err;
}
