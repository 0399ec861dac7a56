/* SPDX-License-Identifier: MIT */
/*
 * Layers: pieces that overlap cannot share a mirror of the address space. A piece lies one layer
 * above the highest that it overlaps, so within a layer nothing overlaps, and above an address the
 * layers are in order of time.
 */
#include "place_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Whether the newest code over the whole of `code` is the same code. */
static bool is_there_already(const struct place *place, const struct range *top,
                             const struct process *process, const struct code *code)
{
    if (!top || top->start != code->addr || top->end != code->addr + code->size)
        return false;
    const struct code *there = process->codes[top->value];
    return there->addr == code->addr && there->size == code->size && place->options.same_code &&
           place->options.same_code(place->options.context, there, code);
}

static int compare_offsets(const void *left, const void *right)
{
    const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;

    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return (a->addr > b->addr) - (a->addr < b->addr);
}

static void sort_by_offset(struct code **codes, size_t count)
{
    bool sorted = true;

    for (size_t i = 1; i < count && sorted; i++)
        sorted = compare_offsets(&codes[i - 1], &codes[i]) < 0;
    if (!sorted)
        qsort(codes, count, sizeof(struct code *), compare_offsets);
}

int layers_assign(struct place *place, struct process *process)
{
    struct rangemap *top = &process->code_ranges; /* value: number of the newest piece there */
    size_t placed = 0;
    int err = 0;

    process->by_offset = malloc((process->code_count + 1) * sizeof(struct code *));
    if (!process->by_offset || process->code_count > UINT32_MAX)
        return -ENOMEM;
    for (size_t i = 0; i < process->code_count && !err; i++) {
        struct code *code = process->codes[i];
        const uint64_t end = code->addr + code->size;
        struct rangemap_at at = rangemap_find(top, code->addr);
        const struct range *range = rangemap_get(top, at);

        if (is_there_already(place, range, process, code)) {
            code->layer = process->codes[range->value]->layer;
            code->flags |= CODE_REPEATED;
            process->repeated++;
            continue;
        }
        code->layer = 0;
        for (; range && range->start < end; range = rangemap_get(top, at)) {
            const struct code *below = process->codes[range->value];
            if (below->layer >= code->layer)
                code->layer = below->layer + 1;
            rangemap_next(top, &at);
        }
        err = rangemap_set(top, code->addr, end, (uint32_t)i, 0);
        process->by_offset[placed++] = code;
        process->code_bytes += code->size;
        process->beyond_layers += code->layer >= PLACE_LAYERS;
    }
    sort_by_offset(process->by_offset, placed);
    return err;
}
