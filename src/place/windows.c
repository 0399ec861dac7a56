/* SPDX-License-Identifier: MIT */
/*
 * Windows: each file mirrors a span of the address space, offset = address + one bias, because
 * unwinders and hotspot take one base a file. Pieces with small gaps between them are one extent.
 */
#include "place_internal.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* Gaps up to this stay in an extent: a hole in the file, and one mapping event less. */
#define EXTENT_GAP UINT64_C(0x10000)
/* Unwind tables and samply use 32-bit offsets within a file; header and tables need some room too.
 */
#define WINDOW_MAX UINT64_C(0x60000000)
#define FILE_MAX   UINT64_C(0x7fff0000)
#define PAGE       UINT64_C(0x1000)
/* Tries to find free addresses before going without. */
#define FREE_TRIES 64

static size_t placed_count(const struct process *process)
{
    return process->code_count - process->repeated;
}

static uint64_t code_end(const struct code *code)
{
    return code->addr + code->size;
}

/* Whether `next` may lie in the extent that began at `start` and reaches up to `end`. */
static bool continues_extent(const struct process *process, const struct code *previous,
                             const struct code *next, uint64_t start)
{
    const uint64_t end = code_end(previous);

    return next->layer == previous->layer && next->addr - end <= EXTENT_GAP &&
           code_end(next) - start <= WINDOW_MAX &&
           !rangemap_overlaps(&process->file_ranges, end, next->addr);
}

static int make_extents(struct process *process)
{
    struct code *const *codes = process->by_offset;
    const size_t count = placed_count(process);

    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (!continues_extent(process, codes[next - 1], codes[next], codes[first]->addr))
                break;
        if (!array_reserve(&process->extents, &process->extent_capacity, process->extent_count + 1))
            return -ENOMEM;
        process->extents[process->extent_count++] = (struct place_extent){
            .addr = codes[first]->addr,
            .size = code_end(codes[next - 1]) - codes[first]->addr,
            .first = first, /* of the process until the file is known */
            .count = next - first,
            .layer = codes[first]->layer,
        };
    }
    process->biases = calloc(process->extent_count + 1, sizeof(*process->biases));
    return process->biases ? 0 : -ENOMEM;
}

static const struct range *occupant(const struct process *process, uint64_t start, uint64_t end)
{
    const struct rangemap *const maps[] = {&process->code_ranges, &process->file_ranges,
                                           &process->anonymous_ranges};

    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        const struct range *range = rangemap_get(maps[i], rangemap_find(maps[i], start));
        if (range && range->start < end)
            return range;
    }
    return NULL;
}

/*
 * The offset of `base`, a page of the process. It is PLACE_TEXT_OFFSET, or more where that makes
 * the address of the file's first page one that the process never uses, so that it can be mapped:
 * some readers measure from that mapping.
 */
static uint64_t text_offset(const struct process *process, uint64_t base)
{
    uint64_t offset = PLACE_TEXT_OFFSET;

    for (unsigned try = 0; try < FREE_TRIES && base > offset && offset < FILE_MAX - WINDOW_MAX;
         try++) {
        const struct range *range = occupant(process, base - offset, base - offset + PAGE);
        if (!range)
            return offset;
        if (range->start < 2 * PAGE || range->start > base)
            break;
        offset = base - bytes_align_down(range->start, PAGE) + PAGE;
    }
    return PLACE_TEXT_OFFSET;
}

static int add_bias(struct place *place, const struct bias *bias, uint32_t *value)
{
    if (place->bias_count >= UINT32_MAX - MAPPED_FIRST_BIAS ||
        !array_reserve(&place->biases, &place->bias_capacity, place->bias_count + 1))
        return -ENOMEM;
    *value = (uint32_t)place->bias_count + MAPPED_FIRST_BIAS;
    place->biases[place->bias_count++] = *bias;
    return 0;
}

/* Unwind tables are read through the maps, so they need addresses that nothing else has. */
static void place_tables(const struct process *process, struct place_file *file, uint64_t bias)
{
    uint64_t size = 0, offset = file->end;

    for (size_t i = 0; i < file->code_count; i++)
        if (file->codes[i]->unwind_size)
            size += bytes_align_up(file->codes[i]->unwind_size, 8) + 8;
    if (size == 0)
        return;
    size = bytes_align_up(size + 64, PAGE);
    for (unsigned try = 0; try < FREE_TRIES && size < FILE_MAX && offset < FILE_MAX - size; try++) {
        const uint64_t addr = offset - bias;
        if (addr > UINT64_MAX - size)
            return;
        const struct range *range = occupant(process, addr, addr + size);
        if (!range) {
            file->tables_offset = offset;
            file->tables_size = size;
            file->end = offset + size;
            return;
        }
        if (range->end > UINT64_MAX - PAGE)
            return;
        offset = bytes_align_up(range->end, PAGE) + bias;
    }
}

/* Makes the extents [first, first + count) a file. */
static int make_file(struct place *place, struct process *process, size_t first, size_t count,
                     bool mirrors)
{
    struct place_extent *extents = &process->extents[first];
    const uint64_t base = bytes_align_down(extents[0].addr, PAGE);
    const size_t first_code = extents[0].first;
    uint64_t end = mirrors ? text_offset(process, base) : PLACE_TEXT_OFFSET;
    struct bias bias = {.file = (uint32_t)place->file_count, .extent = first, .offset = end - base};
    uint32_t value = 0;
    int err = 0;

    if (!array_reserve(&place->files, &place->file_capacity, place->file_count + 1))
        return -ENOMEM;
    if (mirrors)
        err = add_bias(place, &bias, &value);
    for (size_t i = 0; i < count && !err; i++) {
        if (!mirrors) {
            bias.extent = first + i;
            bias.offset = end - bytes_align_down(extents[i].addr, PAGE);
            err = add_bias(place, &bias, &value);
        }
        process->biases[first + i] = value;
        extents[i].offset = extents[i].addr + bias.offset;
        extents[i].first -= first_code;
        end = bytes_align_up(extents[i].offset + extents[i].size, PAGE);
    }
    if (err)
        return err;

    const struct place_extent *last = &extents[count - 1];
    struct place_file *file = &place->files[place->file_count++];
    *file = (struct place_file){
        .pid = process->pid,
        .number = (uint32_t)process->file_count++,
        .mirrors = mirrors,
        .codes = process->by_offset + first_code,
        .code_count = last->first + last->count,
        .extents = extents,
        .extent_count = count,
        .end = end,
    };
    if (mirrors)
        place_tables(process, file, bias.offset);
    return 0;
}

int windows_lay_out(struct place *place, struct process *process)
{
    int err = make_extents(process);

    process->first_file = place->file_count;
    for (size_t first = 0, next; first < process->extent_count && !err; first = next) {
        const struct place_extent *extents = process->extents;
        const uint32_t layer = extents[first].layer;
        const bool mirrors = layer < PLACE_LAYERS;
        const uint64_t start = extents[first].addr;

        next = mirrors ? first + 1 : process->extent_count;
        while (next < process->extent_count && extents[next].layer == layer &&
               extents[next].addr + extents[next].size - start <= WINDOW_MAX)
            next++;
        err = make_file(place, process, first, next - first, mirrors);
    }
    return err;
}
