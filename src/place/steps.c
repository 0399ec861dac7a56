/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* A fork comes before the mappings of its time, and a process's mappings keep their order. */
static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (!a->process != !b->process)
        return a->process ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Notes for each process which step is the last to concern it. */
static void find_last_steps(const struct place *place, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].process) {
            steps[i].process->timeline.last_step = i;
        } else {
            place->forks[steps[i].number].child->timeline.last_step = i;
            place->forks[steps[i].number].parent->timeline.last_step = i;
        }
    }
}

int steps_collect(const struct place *place, struct step **out, size_t *count)
{
    struct step *steps;
    size_t total = place->fork_count;

    for (size_t i = 0; i < place->process_count; i++)
        if (place->processes[i]->related)
            total += place->processes[i]->mapping_count;
    *count = 0;
    *out = steps = malloc((total + 1) * sizeof(*steps));
    if (!steps)
        return -ENOMEM;
    for (size_t i = 0; i < place->fork_count; i++)
        if (place->forks[i].parent->related && place->forks[i].child->related)
            steps[(*count)++] = (struct step){.time = place->forks[i].time, .number = i};
    for (size_t i = 0; i < place->process_count; i++) {
        struct process *process = place->processes[i];
        for (size_t n = 0; process->related && n < process->mapping_count; n++)
            steps[(*count)++] =
                (struct step){.time = process->mappings[n].time, .process = process, .number = n};
    }
    array_sort(steps, *count, sizeof(*steps), compare_steps);
    find_last_steps(place, steps, *count);
    return 0;
}
