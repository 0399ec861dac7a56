/* SPDX-License-Identifier: MIT */
#include "pairing.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* No module has so many functions; a dump that is made of nothing else must not fill the memory. */
#define WAITING_LIMIT ((size_t)1 << 20)

void pairing_clear(struct pairing *pairing)
{
    hashmap_clear(&pairing->debugs);
    free(pairing->guesses);
    *pairing = (struct pairing){0};
}

int pairing_debug(struct pairing *pairing, const struct jitdump_record *record)
{
    uint64_t addr = record->debug.addr;

    if (hashmap_find(&pairing->debugs, addr, 0)) {
        pairing->unpaired++; /* the one before it: perf lets the later one win as well */
    } else if (pairing->debugs.count >= WAITING_LIMIT) {
        pairing->unpaired++;
        return 0;
    }
    pairing->last_addr = addr;
    pairing->last_debug = record->offset;
    return hashmap_put(&pairing->debugs, addr, 0, record->offset);
}

void pairing_unwinding(struct pairing *pairing, const struct jitdump_record *record)
{
    uint64_t size = record->unwinding.size - record->unwinding.header_size;

    pairing->unwind = 0;
    pairing->unwind_size = 0;
    pairing->unwind_is_shared = false;
    /* V8 writes a header alone for code that it has no tables for. */
    if (!size)
        return;
    pairing->unwind = record->offset;
    pairing->unwind_is_shared = record->unwinding.header_first;
    if (record->unwinding.header_first)
        size = record->unwinding.size;
    /* The record's 40 bytes before the data leave room for the rounding. */
    pairing->unwind_size = (uint32_t)bytes_align_up(size, 8);
}

/* By address if it can be, else the LOAD is noted as a guess for the DEBUG_INFO before it. */
static int pair_debug(struct pairing *pairing, struct code *code, size_t number)
{
    uint64_t debug = 0, guessed = pairing->last_debug;

    /* Then no DEBUG_INFO is the last one either. */
    if (!pairing->debugs.count)
        return 0;
    pairing->last_debug = 0;
    if (hashmap_take(&pairing->debugs, code->addr, 0, &debug)) {
        code->debug = debug;
        return 0;
    }
    if (!guessed)
        return 0;
    if (!array_reserve(&pairing->guesses, &pairing->guess_capacity, pairing->guess_count + 1))
        return -ENOMEM;
    pairing->guesses[pairing->guess_count++] =
        (struct pairing_guess){.addr = pairing->last_addr, .debug = guessed, .code = number};
    return 0;
}

int pairing_load(struct pairing *pairing, struct code *code, size_t number)
{
    if (pairing->unwind) {
        code->unwind = pairing->unwind;
        code->unwind_size = pairing->unwind_size;
        if (!pairing->unwind_is_shared)
            pairing->unwind = 0;
    }
    return pair_debug(pairing, code, number);
}

bool pairing_is_idle(const struct pairing *pairing, bool with_unwinding)
{
    return !pairing->debugs.count && (!pairing->unwind || with_unwinding);
}

int pairing_append(struct pairing *pairing, struct pairing *later, size_t first)
{
    struct pairing joined = *later;

    joined.guesses = pairing->guesses;
    joined.guess_count = pairing->guess_count;
    joined.guess_capacity = pairing->guess_capacity;
    if (!array_reserve(&joined.guesses, &joined.guess_capacity,
                       joined.guess_count + later->guess_count))
        return -ENOMEM;
    for (size_t i = 0; i < later->guess_count; i++) {
        joined.guesses[joined.guess_count] = later->guesses[i];
        joined.guesses[joined.guess_count++].code += first;
    }
    joined.unpaired += pairing->unpaired;
    hashmap_clear(&pairing->debugs);
    free(later->guesses);
    *later = (struct pairing){0};
    *pairing = joined;
    return 0;
}

/* A DEBUG_INFO that no LOAD after it has asked for. */
struct leftover {
    uint64_t addr, debug;
    size_t before;    /* the nearest LOAD of its address before it, SIZE_MAX: none */
    bool addr_loaded; /* there is a LOAD of its address */
    bool paired;
};

static int compare_leftovers(const void *a, const void *b)
{
    uint64_t addr_a = ((const struct leftover *)a)->addr;
    uint64_t addr_b = ((const struct leftover *)b)->addr;

    return (addr_a > addr_b) - (addr_a < addr_b);
}

static struct leftover *find_leftover(struct leftover *leftovers, size_t count, uint64_t addr)
{
    struct leftover key = {.addr = addr};

    return bsearch(&key, leftovers, count, sizeof(*leftovers), compare_leftovers);
}

static struct leftover *list_leftovers(const struct pairing *pairing)
{
    const struct hashmap *debugs = &pairing->debugs;
    struct leftover *leftovers = calloc(debugs->count, sizeof(*leftovers));
    size_t count = 0;

    if (!leftovers)
        return NULL;
    for (size_t i = 0; i < debugs->capacity; i++) {
        if (debugs->slots[i].used)
            leftovers[count++] = (struct leftover){
                .addr = debugs->slots[i].key, .debug = debugs->slots[i].value, .before = SIZE_MAX};
    }
    qsort(leftovers, count, sizeof(*leftovers), compare_leftovers);
    return leftovers;
}

/* Unless the code has one. */
static void pair(struct leftover *leftover, struct code *code)
{
    if (code->debug)
        return;
    code->debug = leftover->debug;
    leftover->paired = true;
}

int pairing_finish(struct pairing *pairing, const struct jitdump_index *index, bool truncated)
{
    size_t waiting = pairing->debugs.count;
    struct leftover *leftovers;

    if (!waiting)
        return 0;
    leftovers = list_leftovers(pairing);
    if (!leftovers)
        return -ENOMEM;

    for (size_t i = 0; i < index->count; i++) {
        const struct code *code = jitdump_index_code(index, i);
        struct leftover *leftover = find_leftover(leftovers, waiting, code->addr);
        if (!leftover || (code->flags & CODE_MOVED))
            continue;
        leftover->addr_loaded = true;
        if (code->name < leftover->debug)
            leftover->before = i;
    }

    for (size_t i = 0; i < waiting; i++) {
        struct leftover *leftover = &leftovers[i];
        /* The last one of a cut dump waits for a LOAD that was cut off, not for one before it. */
        bool cut_off = truncated && leftover->debug == pairing->last_debug;
        if (leftover->before != SIZE_MAX && !cut_off)
            pair(leftover, jitdump_index_code(index, leftover->before));
    }

    for (size_t i = 0; i < pairing->guess_count; i++) {
        const struct pairing_guess *guess = &pairing->guesses[i];
        struct leftover *leftover = find_leftover(leftovers, waiting, guess->addr);
        if (leftover && leftover->debug == guess->debug && !leftover->addr_loaded)
            pair(leftover, jitdump_index_code(index, guess->code));
    }

    for (size_t i = 0; i < waiting; i++)
        pairing->unpaired += !leftovers[i].paired;
    free(leftovers);
    return 0;
}
