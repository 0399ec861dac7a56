/* SPDX-License-Identifier: MIT */
/*
 * How far two clocks are apart, by what must have been: memory is mapped before there is code in
 * it, and code is there before it runs. A map for each process has the earliest piece at each
 * address, with the time of its own clock.
 */
#include "order.h"
#include "place_internal.h"

#include <errno.h>
#include <stdlib.h>

struct place_fit {
    struct place *place;
    struct place_bounds *bounds; /* by code->source */
    size_t count;
};

/* Times of a damaged input may be anything: the difference is taken modulo 2^64. */
static int64_t difference(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b);
}

static void bound_below(struct place_fit *fit, uint16_t source, int64_t low)
{
    struct place_bounds *bounds = &fit->bounds[source];

    if (!bounds->has_low || low > bounds->low)
        bounds->low = low;
    bounds->has_low = true;
}

static void bound_above(struct place_fit *fit, uint16_t source, int64_t high)
{
    struct place_bounds *bounds = &fit->bounds[source];

    if (!bounds->has_high || high < bounds->high)
        bounds->high = high;
    bounds->has_high = true;
}

static int map_codes(struct place_fit *fit, struct code *const *codes, size_t count)
{
    struct code **sorted = malloc((count + 1) * sizeof(struct code *));
    int err = sorted ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !err; i++)
        sorted[i] = codes[i];
    if (!err)
        err = order_codes(sorted, count, ORDER_TIME);
    for (size_t i = count; i-- > 0 && !err;) {
        const struct code *code = sorted[i];
        struct process *process = process_get(fit->place, code->pid);
        err = process ? rangemap_set(&process->code_known, code->addr, code->addr + code->size,
                                     code->source, code->time)
                      : -ENOMEM;
    }
    free(sorted);
    return err;
}

/* Each address with the time that the process first mapped it. */
static int map_memory(struct process *process, struct rangemap *memory)
{
    int err = 0;

    process_sort_mappings(process);
    for (size_t i = process->mapping_count; i-- > 0 && !err;) {
        const struct mapping *mapping = &process->mappings[i];
        err = rangemap_set(memory, mapping->start, mapping->end, 0, mapping->time);
    }
    return err;
}

static bool inherits_code(const struct process *process)
{
    const struct process *ancestor = process->parent;

    for (unsigned depth = 1; ancestor && depth < ANCESTORS_MAX; depth++) {
        if (ancestor->code_known.count > 0)
            return true;
        ancestor = ancestor->parent;
    }
    return false;
}

/* Memory that is mapped at the time 0 was there before, and so may be what a child inherits. */
static int compare_with_memory(struct place_fit *fit, struct process *process)
{
    struct rangemap memory = {0};
    struct rangemap_at at = rangemap_find(&process->code_known, 0);
    const struct range *range;
    int err = 0;

    if (inherits_code(process))
        return 0;
    err = map_memory(process, &memory);
    for (; !err && (range = rangemap_get(&process->code_known, at));
         rangemap_next(&process->code_known, &at)) {
        const struct range *there = rangemap_get(&memory, rangemap_find(&memory, range->start));
        if (there && there->start <= range->start && there->stamp > 0)
            bound_below(fit, (uint16_t)range->value, difference(there->stamp, range->stamp));
    }
    rangemap_clear(&memory);
    return err;
}

int place_fit_new(struct place *place, struct code *const *codes, size_t count,
                  struct place_fit **out)
{
    struct place_fit *fit = calloc(1, sizeof(*fit));
    int err = fit ? 0 : -ENOMEM;

    *out = fit;
    if (!err) {
        fit->place = place;
        for (size_t i = 0; i < count; i++)
            if (codes[i]->source >= fit->count)
                fit->count = codes[i]->source + (size_t)1;
        fit->bounds = calloc(fit->count + 1, sizeof(*fit->bounds));
        err = fit->bounds ? 0 : -ENOMEM;
    }
    if (!err) {
        process_link(place);
        err = map_codes(fit, codes, count);
    }
    for (size_t i = 0; !err && i < place->process_count; i++)
        if (place->processes[i]->code_known.count > 0)
            err = compare_with_memory(fit, place->processes[i]);
    if (err) {
        place_fit_free(fit);
        *out = NULL;
    }
    return err;
}

void place_fit_free(struct place_fit *fit)
{
    if (!fit)
        return;
    for (size_t i = 0; i < fit->place->process_count; i++)
        rangemap_clear(&fit->place->processes[i]->code_known);
    free(fit->bounds);
    free(fit);
}

void place_fit_sample(struct place_fit *fit, uint32_t pid, uint64_t addr, uint64_t time)
{
    const struct process *process = process_find(fit->place, pid);

    if (!process)
        return;
    const struct range *range =
        rangemap_get(&process->code_known, rangemap_find(&process->code_known, addr));
    if (range && range->start <= addr)
        bound_above(fit, (uint16_t)range->value, difference(time, range->stamp));
}

struct place_bounds place_fit_bounds(const struct place_fit *fit, uint16_t source)
{
    return source < fit->count ? fit->bounds[source] : (struct place_bounds){0};
}
