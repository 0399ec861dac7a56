/* SPDX-License-Identifier: MIT */
/*
 * Most pieces overlap nothing. So all are put in the order of their addresses first, and only
 * groups of pieces that hang together by overlaps are gone through in the order of time.
 */
#include "layers.h"

#include "order.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t code_end(const struct code *code)
{
    return code->addr + code->size;
}

/* Whether the newest code over the whole of `code` is the same code. */
static bool is_there_already(const struct place *place, const struct range *top,
                             const struct code *there, const struct code *code)
{
    return top && top->start == code->addr && top->end == code_end(code) &&
           there->addr == code->addr && there->size == code->size && place->options.same_code &&
           place->options.same_code(place->options.context, there, code);
}

/*
 * Gives a piece its layer above what is there in `top`, whose values are numbers of `group`, the
 * newest piece at each address.
 */
static int put_on_top(const struct place *place, struct rangemap *top, struct code *const *group,
                      size_t number)
{
    struct code *code = group[number];
    const uint64_t end = code_end(code);
    struct rangemap_at at = rangemap_find(top, code->addr);
    const struct range *range = rangemap_get(top, at);

    code->layer = 0;
    if (range && is_there_already(place, range, group[range->value], code)) {
        code->layer = group[range->value]->layer;
        code->flags |= CODE_REPEATED;
        return 0;
    }
    for (; range && range->start < end; range = rangemap_get(top, at)) {
        const struct code *below = group[range->value];
        if (below->layer >= code->layer)
            code->layer = below->layer + 1;
        rangemap_next(top, &at);
    }
    return rangemap_set(top, code->addr, end, (uint32_t)number, 0);
}

/* Notes in `layer` which piece came after which, until their layers are known. */
static void number(struct code *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        codes[i]->layer = (uint32_t)i;
}

/* Pieces by address, of which each overlaps another one and has its number; they stay in that
 * order. */
static int assign_group(const struct place *place, struct code **group, size_t count)
{
    struct rangemap top = {0};
    int err = order_codes(group, count, ORDER_LAYER);

    for (size_t i = 0; i < count && !err; i++)
        err = put_on_top(place, &top, group, i);
    rangemap_clear(&top);
    return err ? err : order_codes(group, count, ORDER_ADDR);
}

/* The end of the group of pieces that begins with number `first`. */
static size_t find_group(struct code *const *codes, size_t count, size_t first)
{
    uint64_t end = code_end(codes[first]);
    size_t next = first + 1;

    for (; next < count && codes[next]->addr < end; next++)
        if (code_end(codes[next]) > end)
            end = code_end(codes[next]);
    return next;
}

/* Keeps the pieces of a group that are not there already, behind the `placed` that are kept. */
static size_t keep(struct process *process, struct code *const *group, size_t count, size_t placed)
{
    for (size_t i = 0; i < count; i++) {
        struct code *const code = group[i];
        if (code->flags & CODE_REPEATED)
            continue;
        process->row.code_bytes += code->size;
        process->row.beyond_layers += code->layer >= PLACE_LAYERS;
        process->has_layers |= code->layer > 0;
        process->has_tables |= code->unwind_size > 0;
        process->has_debug |= code->debug != 0;
        process->extents.codes[placed++] = code;
    }
    return placed;
}

/* All layers, of pieces by address, which have their numbers unless they came in that order; those
 * that are kept stay in it. */
static int assign(const struct place *place, struct process *process, bool numbered)
{
    struct code **codes = process->extents.codes;
    const size_t count = process->code_count;
    size_t placed = 0;
    int err = 0;

    for (size_t first = 0, next; first < count && !err; first = next) {
        next = find_group(codes, count, first);
        if (next - first > 1 && !numbered)
            number(codes + first, next - first);
        if (next - first > 1)
            err = assign_group(place, codes + first, next - first);
        else if (codes[first]->layer) /* to write it costs more than to look, and most have 0 */
            codes[first]->layer = 0;
        placed = keep(process, codes + first, next - first, placed);
    }
    process->row.repeated = count - placed;
    return err;
}

int layers_assign(struct place *place, struct process *process)
{
    const size_t count = process->code_count;
    struct code **codes = array_new(count, sizeof(struct code *));

    process->extents.codes = codes;
    if (!codes || count > UINT32_MAX)
        return -ENOMEM;
    memcpy(codes, process->codes, count * sizeof(struct code *));
    const bool in_order = order_is(codes, count, ORDER_ADDR);
    int err = 0;
    if (!in_order) {
        number(codes, count);
        err = order_codes(codes, count, ORDER_ADDR);
    }
    if (!err)
        err = assign(place, process, !in_order);
    if (!err && process->has_layers)
        err = order_codes(codes, count - process->row.repeated, ORDER_LAYER);
    return err;
}
