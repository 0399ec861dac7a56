/* SPDX-License-Identifier: MIT */
#include "windows.h"

#include "order.h"
#include "regions.h"
#include "rooms.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Gaps up to this stay in an extent: a hole in the file, and one mapping event less. */
#define EXTENT_GAP UINT64_C(0x10000)
#define EXTENT_MAX UINT64_C(0x60000000)
/* .eh_frame_hdr: its header, with some slack for the end marks of .eh_frame, and a row a function.
 */
#define TABLE_HEADER 64
#define TABLE_ROW    8
/* Code at used addresses has one table with what it replaced: room a layer for what that usually
 * takes. */
#define TABLE_REPLACED   512
#define TABLE_LAYERS_MAX 16
/* Up to this, all files of a region have all of its tables. */
#define TABLES_SHARED_MAX (UINT64_C(128) << 20)

static size_t placed_count(const struct process *process)
{
    return process->code_count - process->row.repeated;
}

static uint64_t code_end(const struct code *code)
{
    return code->addr + code->size;
}

/* Whether `next` may lie in the extent that began at `start` and whose last piece is `previous`.
 * No library has anything between the two. */
static bool continues_extent(const struct code *previous, const struct code *next, uint64_t start)
{
    return next->layer == previous->layer && next->addr - code_end(previous) <= EXTENT_GAP &&
           code_end(next) - start <= EXTENT_MAX;
}

/* Where the first library is that has something at the address or above. */
static uint64_t next_library(const struct process *process, uint64_t addr)
{
    const struct rangemap *ranges = &process->past.libraries;
    const struct range *range = rangemap_get(ranges, rangemap_find(ranges, addr));

    return range ? range->start : UINT64_MAX;
}

/* The first piece behind the extent that begins with number `first`. */
static size_t find_end(const struct process *process, size_t first, size_t count)
{
    struct code *const *codes = process->extents.codes;
    const uint64_t start = codes[first]->addr;
    uint64_t library = next_library(process, code_end(codes[first]));
    size_t next = first + 1;

    for (; next < count && continues_extent(codes[next - 1], codes[next], start); next++) {
        const uint64_t end = code_end(codes[next - 1]);
        /* It may lie within the code. */
        if (library < end)
            library = next_library(process, end);
        if (library < codes[next]->addr)
            break;
    }
    return next;
}

int windows_make_extents(struct process *process)
{
    struct code *const *codes = process->extents.codes;
    const size_t count = placed_count(process);
    int err = 0;

    for (size_t first = 0, next; first < count; first = next) {
        next = find_end(process, first, count);
        if (!array_reserve(&process->extents.list, &process->extents.capacity,
                           process->extents.count + 1))
            return -ENOMEM;
        process->extents.list[process->extents.count++] = (struct place_extent){
            .addr = codes[first]->addr,
            .size = code_end(codes[next - 1]) - codes[first]->addr,
            .first = first, /* of the process until the file is known */
            .count = next - first,
            .layer = codes[first]->layer,
        };
    }
    for (size_t i = 0; i < process->extents.count && !err; i++)
        err = rooms_take(process, process->extents.list[i].addr,
                         process->extents.list[i].addr + process->extents.list[i].size);
    process->extents.biases = calloc(process->extents.count + 1, sizeof(*process->extents.biases));
    return process->extents.biases ? err : -ENOMEM;
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

/* What the tables of these pieces take more if those below are in them. */
static uint64_t replaced_size(struct code *const *codes, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count && codes[0]->layer > 0; i++)
        size += TABLE_REPLACED * (uint64_t)(codes[i]->layer < TABLE_LAYERS_MAX ? codes[i]->layer + 1
                                                                               : TABLE_LAYERS_MAX);
    return bytes_align_up(size, PAGE);
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

/* The pieces of the extents [first, first + count). */
static struct code *const *codes_of(const struct process *process, size_t first, size_t count,
                                    size_t *code_count)
{
    const struct place_extent *from = &process->extents.list[first], *last = from + count - 1;

    *code_count = last->first + last->count - from->first;
    return process->extents.codes + from->first;
}

/* Room for tables, if there are any: the same for all files of the region, or one behind the other.
 */
static void give_tables(struct place_file *file, struct region *region)
{
    if (!region->tables_size)
        return;
    file->table_codes = region->codes ? region->codes : file->codes;
    file->table_code_count = region->codes ? region->code_count : file->code_count;
    if (region->tables_offset)
        file->tables_size =
            region->codes ? region->tables_size : tables_size(file->codes, file->code_count);
    file->tables_offset = file->tables_size ? region->tables_offset : 0;
    if (!region->codes)
        region->tables_offset += file->tables_size;
}

/* Makes the extents [first, first + count) a file: with the bias of their region, or, without one,
 * one extent behind the other. */
static int make_file(struct place *place, struct process *process, size_t first, size_t count,
                     struct region *region)
{
    struct place_extent *extents = &process->extents.list[first];
    struct bias bias = {.file = (uint32_t)place->file_count, .offset = region ? region->bias : 0};
    struct place_file file = {.pid = process->pid,
                              .number = process->first->file_number++,
                              .mirrors = region != NULL,
                              .has_debug = process->has_debug,
                              .extents = extents,
                              .extent_count = count,
                              .end = PLACE_TEXT_OFFSET};
    const size_t first_code = extents[0].first;
    uint32_t value = 0;
    int err = 0;

    file.codes = codes_of(process, first, count, &file.code_count);
    if (!array_reserve(&place->files, &place->file_capacity, place->file_count + 1))
        return -ENOMEM;
    if (region)
        err = add_bias(place, &bias, &value);
    for (size_t i = 0; i < count && !err; i++) {
        if (!region) {
            bias.extent = i;
            bias.offset = file.end - bytes_align_down(extents[i].addr, PAGE);
            err = add_bias(place, &bias, &value);
        }
        process->extents.biases[first + i] = value;
        extents[i].offset = extents[i].addr + bias.offset;
        extents[i].first -= first_code;
        file.end = bytes_align_up(extents[i].offset + extents[i].size, PAGE);
    }
    if (err)
        return err;
    if (region) {
        file.head_size = region->head_size;
        give_tables(&file, region);
        if (file.tables_offset + file.tables_size > file.end)
            file.end = file.tables_offset + file.tables_size;
    }
    place->files[place->file_count++] = file;
    process->row.files++;
    return 0;
}

struct layout {
    struct place *place;
    struct process *process;
    struct region *regions;
    size_t region_count;
};

/* The extents of one file from number `first` on: *end is behind the last. NULL: not of a region.
 */
static struct region *next_file(const struct layout *layout, size_t first, size_t *end)
{
    const struct place_extent *extents = layout->process->extents.list;
    const size_t count = layout->process->extents.count;
    struct region *region;

    *end = count;
    if (extents[first].layer >= PLACE_LAYERS)
        return NULL;
    region = regions_at(layout->regions, layout->region_count, extents[first].addr);
    for (*end = first + 1; *end < count && extents[*end].layer == extents[first].layer; (*end)++)
        if (extents[*end].addr >= region->end)
            break;
    return region;
}

/* Counts what the files of each region need. Tables are of use only where one bias leads to them.
 */
static void survey_files(const struct layout *layout)
{
    const struct process *process = layout->process;

    for (size_t first = 0, next; first < process->extents.count; first = next) {
        struct region *region = next_file(layout, first, &next);
        size_t count;
        struct code *const *codes = codes_of(process, first, next - first, &count);
        if (!region)
            continue;
        region->file_count++;
        region->code_count += count;
        if (process->has_tables)
            region->tables_size += tables_size(codes, count);
        region->replaced_size += replaced_size(codes, count);
    }
}

/*
 * libdw unwinds code of all files of a region by the tables of the one that it saw first. So each
 * has all, as long as that is not too much.
 */
static bool shares_tables(const struct region *region)
{
    return region->file_count > 1 && region->tables_size > 0 &&
           region->tables_size + region->replaced_size <= TABLES_SHARED_MAX / region->file_count;
}

/* Lets regions whose files share their tables know the pieces of all. 0 or -ENOMEM. */
static int share_tables(const struct layout *layout)
{
    struct process *process = layout->process;
    size_t total = 0;
    int err = 0;

    for (size_t i = 0; i < layout->region_count; i++)
        total += shares_tables(&layout->regions[i]) ? layout->regions[i].code_count : 0;
    if (total == 0)
        return 0;
    process->extents.table_codes = array_new(total, sizeof(struct code *));
    if (!process->extents.table_codes)
        return -ENOMEM;
    struct code **at = process->extents.table_codes;
    for (size_t i = 0; i < layout->region_count; i++) {
        struct region *region = &layout->regions[i];
        if (!shares_tables(region))
            continue;
        region->codes = at;
        at += region->code_count;
        region->tables_size += region->replaced_size;
        region->code_count = 0;
    }
    for (size_t first = 0, next; first < process->extents.count; first = next) {
        struct region *region = next_file(layout, first, &next);
        size_t count;
        struct code *const *codes = codes_of(process, first, next - first, &count);
        if (!region || !region->codes)
            continue;
        memcpy(region->codes + region->code_count, codes, count * sizeof(struct code *));
        region->code_count += count;
    }
    for (size_t i = 0; i < layout->region_count && !err; i++)
        if (layout->regions[i].codes)
            err = order_codes(layout->regions[i].codes, layout->regions[i].code_count, ORDER_ADDR);
    return err;
}

static int make_files(const struct layout *layout)
{
    struct process *process = layout->process;

    process->row.first_file = layout->place->file_count;
    survey_files(layout);
    int err = share_tables(layout);
    for (size_t i = 0; i < layout->region_count && !err; i++)
        err = region_place(process, &layout->regions[i]);
    for (size_t first = 0, next; first < process->extents.count && !err; first = next) {
        struct region *region = next_file(layout, first, &next);
        err = make_file(layout->place, process, first, next - first, region);
    }
    return err;
}

int windows_lay_out(struct place *place, struct process *process)
{
    struct layout layout = {.place = place, .process = process};

    if (process->extents.count == 0)
        return 0;
    int err = regions_make(process, &layout.regions, &layout.region_count);
    if (!err)
        err = make_files(&layout);
    free(layout.regions);
    return err;
}
