/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include "lives.h"
#include "order.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Files and memory may take turns at an address. Pieces are made for so many turns, so that a
 * damaged recording cannot multiply them.
 */
#define TURNS_MAX 8

struct span {
    uint64_t start, end, time;
};

/* The state of one process. */
struct snapshot {
    struct process *process;
    struct rangemap taken;  /* where pieces with times are */
    struct rangemap memory; /* value: what a turn is, see below */
    struct rangemap first;  /* stamp: when memory came to be there for the first time */
    struct span *again;     /* where, and when, it came to be again */
    size_t again_count, again_capacity;
    struct span *changes; /* of the mapping that is looked at */
    size_t change_count, change_capacity;
    size_t code_capacity;
};

/* Values of snapshot.memory: turns so far, and whether it is memory now. */
#define TURN(turns, present) (2u * (turns) + (present))

static int add_span(struct span **spans, size_t *count, size_t *capacity, uint64_t start,
                    uint64_t end, uint64_t time)
{
    if (!array_reserve(spans, capacity, *count + 1))
        return -ENOMEM;
    (*spans)[(*count)++] = (struct span){.start = start, .end = end, .time = time};
    return 0;
}

/* Splits [start, end) by what was there; the time of a change is the value that was, 0: nothing. */
static int list_changes(struct snapshot *snapshot, uint64_t start, uint64_t end)
{
    struct rangemap_at at = rangemap_find(&snapshot->memory, start);
    int err = 0;

    snapshot->change_count = 0;
    while (start < end && !err) {
        const struct range *range = rangemap_get(&snapshot->memory, at);
        uint64_t next = end, value = 0;
        if (range && range->start <= start) {
            next = range->end < end ? range->end : end;
            value = range->value;
            rangemap_next(&snapshot->memory, &at);
        } else if (range && range->start < end) {
            next = range->start;
        }
        err = add_span(&snapshot->changes, &snapshot->change_count, &snapshot->change_capacity,
                       start, next, value);
        start = next;
    }
    return err;
}

/* Memory comes to be in [start, end), where it was not. */
static int come_to_be(struct snapshot *snapshot, const struct span *change, uint64_t time)
{
    const uint32_t turns = (uint32_t)change->time / 2;
    int err = 0;

    if (turns == 0)
        err = rangemap_set(&snapshot->first, change->start, change->end, 0, time);
    else if (turns < TURNS_MAX)
        err = add_span(&snapshot->again, &snapshot->again_count, &snapshot->again_capacity,
                       change->start, change->end, time);
    return err ? err
               : rangemap_set(&snapshot->memory, change->start, change->end,
                              TURN(turns < TURNS_MAX ? turns + 1 : turns, 1), 0);
}

static int apply(struct snapshot *snapshot, const struct mapping *mapping)
{
    const struct process *process = snapshot->process;
    uint64_t time = mapping->time;
    int err = list_changes(snapshot, mapping->start, mapping->end);

    if (process->made > time)
        time = process->made;
    for (size_t i = 0; i < snapshot->change_count && !err; i++) {
        const struct span *change = &snapshot->changes[i];
        const bool present = change->time & 1;
        if (mapping->kind == PLACE_ANONYMOUS && !present)
            err = come_to_be(snapshot, change, time);
        else if (mapping->kind != PLACE_ANONYMOUS && present)
            err = rangemap_set(&snapshot->memory, change->start, change->end,
                               (uint32_t)change->time - 1, 0);
    }
    return err;
}

/* What a process maps up to `limit`, and where it has code of known times. */
static int apply_process(struct snapshot *snapshot, struct process *from, uint64_t limit)
{
    int err = 0;

    for (size_t i = 0; i < from->mapping_count && from->mappings[i].time <= limit && !err; i++)
        err = apply(snapshot, &from->mappings[i]);
    for (size_t i = 0; i < from->code_count && !err; i++)
        if (from->codes[i]->time <= limit)
            err = rangemap_set(&snapshot->taken, from->codes[i]->addr,
                               from->codes[i]->addr + from->codes[i]->size, 0, 0);
    return err;
}

/* The process and those that it is forked from, the eldest first. */
static int apply_family(struct snapshot *snapshot)
{
    struct process *family[ANCESTORS_MAX];
    uint64_t limits[ANCESTORS_MAX];
    size_t count = 0;
    uint64_t limit = UINT64_MAX;
    int err = 0;

    for (struct process *process = snapshot->process; process && count < ANCESTORS_MAX;
         process = process->parent) {
        family[count] = process;
        limits[count++] = limit;
        if (process->forked && process->fork_time < limit)
            limit = process->fork_time;
    }
    while (count-- > 0 && !err)
        err = apply_process(snapshot, family[count], limits[count]);
    return err;
}

static int add_piece(struct snapshot *snapshot, const struct code_symbol *symbol, uint64_t start,
                     uint64_t end, uint64_t time)
{
    struct process *process = snapshot->process;

    if (!array_reserve(&process->names.pieces, &snapshot->code_capacity,
                       process->names.piece_count + 1))
        return -ENOMEM;
    process->names.pieces[process->names.piece_count++] = (struct code){
        .time = time < UINT64_MAX ? time + 1 : time,
        .addr = start,
        .size = (uint32_t)(end - start),
        .name = symbol->name,
        .name_size = symbol->name_size,
        .pid = process->pid,
        .source = process->first->names.source,
        .flags = CODE_NO_BYTES,
    };
    return 0;
}

/* What pieces with times leave of [start, end). */
static int add_pieces(struct snapshot *snapshot, const struct code_symbol *symbol, uint64_t start,
                      uint64_t end, uint64_t time)
{
    struct rangemap_at at = rangemap_find(&snapshot->taken, start);
    int err = 0;

    while (start < end && !err) {
        const struct range *taken = rangemap_get(&snapshot->taken, at);
        const uint64_t next = taken && taken->start < end ? taken->start : end;
        if (start < next)
            err = add_piece(snapshot, symbol, start, next, time);
        start = taken && taken->end < end ? taken->end : end;
        if (taken)
            rangemap_next(&snapshot->taken, &at);
    }
    return err;
}

/*
 * Where there was memory for a symbol at all. Memory that came to be bit by bit is one piece, from
 * the time on that all of it was there: the code cannot be older.
 */
static int add_symbol(struct snapshot *snapshot, const struct code_symbol *symbol)
{
    const uint64_t end = symbol->addr + symbol->size;
    struct rangemap_at at = rangemap_find(&snapshot->first, symbol->addr);
    const struct range *range = rangemap_get(&snapshot->first, at);
    int err = 0;

    while (range && range->start < end && !err) {
        const uint64_t from = range->start > symbol->addr ? range->start : symbol->addr;
        uint64_t to = range->start, time = 0;
        for (; range && range->start == to && to < end;
             range = rangemap_get(&snapshot->first, at)) {
            time = range->stamp > time ? range->stamp : time;
            to = range->end;
            rangemap_next(&snapshot->first, &at);
        }
        err = add_pieces(snapshot, symbol, from, to < end ? to : end, time);
    }
    return err;
}

/* The first symbol that ends behind `addr`. */
static size_t find_symbol(const struct process *first, uint64_t addr)
{
    size_t low = 0, high = first->names.symbol_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (first->names.symbols[middle].addr + first->names.symbols[middle].size > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* All symbols of a span of memory that came to be again. */
static int add_again(struct snapshot *snapshot, const struct span *span)
{
    const struct process *first = snapshot->process->first;
    int err = 0;

    for (size_t i = find_symbol(first, span->start);
         i < first->names.symbol_count && first->names.symbols[i].addr < span->end && !err; i++) {
        const struct code_symbol *symbol = &first->names.symbols[i];
        const uint64_t end = symbol->addr + symbol->size;
        err = add_pieces(snapshot, symbol, symbol->addr > span->start ? symbol->addr : span->start,
                         end < span->end ? end : span->end, span->time);
    }
    return err;
}

static int fill(struct process *process)
{
    struct snapshot snapshot = {.process = process};
    int err = apply_family(&snapshot);

    for (size_t i = 0; i < process->first->names.symbol_count && !err; i++)
        err = add_symbol(&snapshot, &process->first->names.symbols[i]);
    for (size_t i = 0; i < snapshot.again_count && !err; i++)
        err = add_again(&snapshot, &snapshot.again[i]);
    rangemap_clear(&snapshot.taken);
    rangemap_clear(&snapshot.memory);
    rangemap_clear(&snapshot.first);
    free(snapshot.again);
    free(snapshot.changes);
    return err;
}

static int add_named(struct process *process)
{
    const size_t count = process->code_count + process->names.piece_count;

    if (!array_reserve(&process->codes, &process->code_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < process->names.piece_count; i++)
        process->codes[process->code_count++] = &process->names.pieces[i];
    int err = order_codes(process->codes, process->code_count, ORDER_TIME);
    if (!process->kin.family || err)
        return err;
    if (!array_reserve(&process->loads, &process->load_capacity,
                       process->load_count + process->names.piece_count))
        return -ENOMEM;
    for (size_t i = 0; i < process->names.piece_count; i++)
        process->loads[process->load_count++] = &process->names.pieces[i];
    return order_codes(process->loads, process->load_count, ORDER_TIME);
}

int place_add_snapshot(struct place *place, uint32_t pid, uint64_t time, uint16_t source,
                       const struct code_symbol *symbols, size_t count)
{
    struct process *process = process_get(place, pid);

    if (!process)
        return -ENOMEM;
    process->names.symbols = symbols;
    process->names.symbol_count = count;
    process->names.source = source;
    process->names.time = time;
    return 0;
}

static bool has_symbols(const struct process *process)
{
    struct process *first = process->first;

    return first->names.symbol_count > 0 &&
           (first->names.time == UINT64_MAX || lives_at(first, first->names.time) == process);
}

int snapshot_fill_all(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->process_count && !err; i++)
        if (has_symbols(place->processes[i]))
            err = fill(place->processes[i]);
    return err;
}

/* Pieces without times do not keep one another away, so none is added before all are made. */
int snapshot_add_all(struct place *place)
{
    int err = 0;

    for (size_t i = 0; i < place->process_count && !err; i++) {
        struct process *process = place->processes[i];
        if (process->names.piece_count > 0)
            err = add_named(process);
    }
    return err;
}
