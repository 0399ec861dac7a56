/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include "events.h"
#include "loads.h"
#include "steps.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/*
 * An anonymous mapping over more pieces of ours than this is dropped even if it adds something:
 * mapping them all again, for each such record, would not be linear.
 */
#define REASSERT_MAX 16

static int drop(struct place *place, struct process *process, const struct mapping *mapping)
{
    if (!array_reserve(&place->dropped, &place->dropped_capacity, place->dropped_count + 1))
        return -ENOMEM;
    place->dropped[place->dropped_count++] = mapping->record;
    process->row.dropped++;
    return 0;
}

static int map_file(struct place *place, struct process *process, const struct mapping *mapping)
{
    int err = 0;

    if (process->holds_code &&
        (!process->timeline.has_model ||
         rangemap_overlaps(&process->model.covered, mapping->start, mapping->end)))
        err = events_add_file(place, process, mapping);
    if (!process->timeline.has_model)
        return err;
    if (!err)
        err = rangemap_set(&process->model.ranges, mapping->start, mapping->end, MAPPED_FILE,
                           mapping->time);
    if (!err)
        err = rangemap_unset(&process->model.covered, mapping->start, mapping->end);
    return err;
}

/*
 * An anonymous mapping that adds nothing is dropped; one that adds something stays, and what it
 * would hide of ours is mapped again right after it.
 */
static int map_anonymous(struct place *place, struct process *process,
                         const struct mapping *mapping)
{
    const uint64_t after = mapping->time < UINT64_MAX ? mapping->time + 1 : mapping->time;
    struct range ours[REASSERT_MAX], rests[2];
    size_t count = 0, rest_count;
    int err;

    if (process->holds_code &&
        rangemap_holds(&process->model.covered, mapping->start, mapping->end))
        return drop(place, process, mapping);
    struct rangemap_at at = rangemap_find(&process->model.ranges, mapping->start);
    for (const struct range *range = rangemap_get(&process->model.ranges, at);
         range && range->start < mapping->end; range = rangemap_get(&process->model.ranges, at)) {
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
        rangemap_next(&process->model.ranges, &at);
    }
    rest_count = events_find_rests(&process->model.ranges, mapping->start, mapping->end, rests);
    err = events_map_rests(place, process, after, rests, rest_count);
    if (!err)
        err = rangemap_set(&process->model.ranges, mapping->start, mapping->end, MAPPED_ANONYMOUS,
                           mapping->time);
    if (!err)
        err = rangemap_set(&process->model.covered, mapping->start, mapping->end, 0, 0);
    for (size_t i = 0; i < count && !err; i++)
        err = events_map_code(place, process, after, ours[i].start, ours[i].end, ours[i].value);
    return err;
}

static int run_fork(struct place *place, const struct fork *fork)
{
    int err = loads_run(place, fork->parent, fork->time, false);

    if (!err)
        err = loads_run(place, fork->child, fork->time, false);
    if (!err && fork->child->timeline.has_model)
        err = model_copy(&fork->child->model, &fork->parent->model);
    fork->parent->timeline.child_time = fork->time;
    if (fork->parent->holds_code)
        fork->child->holds_code = true;
    return err;
}

static int finish(struct place *place)
{
    array_sort(place->dropped, place->dropped_count, sizeof(*place->dropped), array_compare_u64);
    for (size_t i = 0; i < place->process_count; i++)
        model_clear(&place->processes[i]->model);
    return events_finish(place);
}

static int run_step(struct place *place, const struct step *step)
{
    struct process *process = step->process;

    if (!process)
        return run_fork(place, &place->forks[step->number]);
    const struct mapping *mapping = &process->mappings[step->number];
    int err = loads_run(place, process, mapping->time, false);
    if (!err && mapping->kind == PLACE_ANONYMOUS)
        err = map_anonymous(place, process, mapping);
    else if (!err)
        err = map_file(place, process, mapping);
    return err;
}

/* After its last step a process has only loads to come, and then its model is of no use. */
static int end_process(struct place *place, struct process *process, size_t step)
{
    if (process->timeline.last_step != step)
        return 0;
    int err = loads_run(place, process, 0, true);
    model_clear(&process->model);
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

    err = err ? err : events_expect_replaced(place);
    for (size_t i = 0; i < count && !err; i++) {
        err = run_step(place, &steps[i]);
        if (!err)
            err = end_processes(place, &steps[i], i);
    }
    free(steps);
    for (size_t i = 0; i < place->process_count && !err; i++)
        err = loads_run(place, place->processes[i], 0, true);
    return err ? err : finish(place);
}
