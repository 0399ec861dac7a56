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
/* How far from the code its tables may be: files grow by that, if only by holes. */
#define REACH UINT64_C(0x10000000)
/* .eh_frame_hdr: its header, with some slack for the end marks of .eh_frame, and a row a function.
 */
#define TABLE_HEADER 64
#define TABLE_ROW    8
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
           !rangemap_overlaps(&process->library_ranges, end, next->addr);
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

/* Code of the process, memory without a file, or one of `files` in [start, end). */
static const struct range *occupant(const struct process *process, const struct rangemap *files,
                                    uint64_t start, uint64_t end)
{
    const struct rangemap *const maps[] = {&process->code_pages, files, &process->anonymous_ranges};

    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        const struct range *range = rangemap_get(maps[i], rangemap_find(maps[i], start));
        if (range && range->start < end)
            return range;
    }
    return NULL;
}

/* Bytes of unwind tables to keep room for, in pages. LLVM writes one record for a group of
 * functions. */
static uint64_t tables_size(struct code *const *codes, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++) {
        const bool shares = i > 0 && codes[i]->unwind == codes[i - 1]->unwind &&
                            codes[i]->source == codes[i - 1]->source;
        if (codes[i]->unwind_size && !shares)
            size += bytes_align_up(codes[i]->unwind_size, 8);
        if (codes[i]->unwind_size)
            size += TABLE_ROW;
    }
    return size ? bytes_align_up(size + TABLE_HEADER, PAGE) : 0;
}

/*
 * The offset of `base`, the page of a file's first code. Readers measure from the mapping of a
 * file's first page, and unwinders read its tables through the maps; so both, one behind the other,
 * go to the nearest addresses below the code that the process never uses. No library may lie in
 * between: libdw takes all from a file's first to its last address for it. 0: there is no room.
 */
static uint64_t find_room_below(const struct process *process, const struct rangemap *files,
                                uint64_t base, uint64_t size)
{
    struct rangemap_at at = rangemap_find(&process->library_ranges, base);
    const struct range *library = rangemap_previous(&process->library_ranges, &at);
    const uint64_t floor =
        library && library->end < UINT64_MAX - PAGE ? bytes_align_up(library->end, PAGE) : PAGE;
    uint64_t most = base > floor ? base - floor : 0;
    uint64_t offset = size > PLACE_TEXT_OFFSET ? size : PLACE_TEXT_OFFSET;

    most = most < REACH ? most : REACH;
    /* Less than PLACE_TEXT_OFFSET is better than none. */
    if (offset > most && most >= size)
        offset = most;
    for (unsigned try = 0; try < FREE_TRIES && offset <= most; try++) {
        const struct range *range = occupant(process, files, base - offset, base - offset + size);
        if (!range)
            return offset;
        offset = base - bytes_align_down(range->start, PAGE) + size;
    }
    return 0;
}

/* The same above: an offset behind `end` for the tables alone. */
static uint64_t find_room_above(const struct process *process, const struct rangemap *files,
                                uint64_t bias, uint64_t end, uint64_t size)
{
    uint64_t offset = end;

    for (unsigned try = 0; try < FREE_TRIES && offset - end <= REACH; try++) {
        const uint64_t addr = offset - bias;
        if (addr > UINT64_MAX - size ||
            rangemap_overlaps(&process->library_ranges, end - bias, addr))
            break;
        const struct range *range = occupant(process, files, addr, addr + size);
        if (!range)
            return offset;
        if (range->end > UINT64_MAX - PAGE)
            break;
        offset = bytes_align_up(range->end, PAGE) + bias;
    }
    return 0;
}

/* Whether a whole library lies between two extents. One that goes on beyond the gap has code of
 * ours in it. */
static bool library_between(const struct process *process, const struct place_extent *before,
                            const struct place_extent *after)
{
    const uint64_t gap = before->addr + before->size;
    const struct range *library =
        rangemap_get(&process->library_ranges, rangemap_find(&process->library_ranges, gap));

    if (library && library->start < gap) {
        struct rangemap_at at = rangemap_find(&process->library_ranges, library->end);
        library = rangemap_get(&process->library_ranges, at);
    }
    return library && library->end <= after->addr;
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

/* Makes the extents [first, first + count) a file. */
static int make_file(struct place *place, struct process *process, size_t first, size_t count,
                     bool mirrors)
{
    struct place_extent *extents = &process->extents[first];
    const uint64_t base = bytes_align_down(extents[0].addr, PAGE);
    const size_t first_code = extents[0].first;
    const size_t code_count = extents[count - 1].first + extents[count - 1].count - first_code;
    struct code *const *codes = process->by_offset + first_code;
    /* Tables are of use only where one bias leads to them. */
    const uint64_t tables = mirrors ? tables_size(codes, code_count) : 0;
    uint64_t room = 0;
    if (mirrors)
        room = find_room_below(process, &process->file_ranges, base, PAGE + tables);
    /* Data that was mapped there once is most often gone, and nobody looks it up by its address. */
    if (mirrors && !room)
        room = find_room_below(process, &process->library_ranges, base, PAGE + tables);
    uint64_t end = room ? room : PLACE_TEXT_OFFSET;
    struct bias bias = {.file = (uint32_t)place->file_count, .offset = end - base};
    uint32_t value = 0;
    int err = 0;

    if (!array_reserve(&place->files, &place->file_capacity, place->file_count + 1))
        return -ENOMEM;
    if (mirrors)
        err = add_bias(place, &bias, &value);
    for (size_t i = 0; i < count && !err; i++) {
        if (!mirrors) {
            bias.extent = i;
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

    struct place_file *file = &place->files[place->file_count++];
    *file = (struct place_file){
        .pid = process->pid,
        .number = process->first->file_number++,
        .mirrors = mirrors,
        .codes = codes,
        .code_count = code_count,
        .extents = extents,
        .extent_count = count,
        .end = end,
        .head_size = room ? PAGE : 0,
    };
    if (tables && room)
        file->tables_offset = PAGE;
    else if (tables)
        file->tables_offset =
            find_room_above(process, &process->file_ranges, bias.offset, end, tables);
    if (tables && !file->tables_offset)
        file->tables_offset =
            find_room_above(process, &process->library_ranges, bias.offset, end, tables);
    process->file_count++;
    if (file->tables_offset)
        file->tables_size = tables;
    if (file->tables_offset >= end)
        file->end = file->tables_offset + tables;
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
               extents[next].addr + extents[next].size - start <= WINDOW_MAX &&
               (!mirrors || !library_between(process, &extents[next - 1], &extents[next])))
            next++;
        err = make_file(place, process, first, next - first, mirrors);
    }
    return err;
}
