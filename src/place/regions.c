/* SPDX-License-Identifier: MIT */
#include "regions.h"

#include "rooms.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* Unwind tables and samply use 32-bit offsets within a file; header and tables need some room too.
 */
#define REGION_MAX UINT64_C(0x60000000)

static uint64_t extent_end(const struct place_extent *extent)
{
    return extent->addr + extent->size;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct place_extent *const *a = left, *const *b = right;

    return ((*a)->addr > (*b)->addr) - ((*a)->addr < (*b)->addr);
}

/* A library in [start, end), but not one that is all around it. */
static bool library_between(const struct process *process, uint64_t start, uint64_t end)
{
    const struct range *library =
        rangemap_get(&process->past.libraries, rangemap_find(&process->past.libraries, start));

    return library && library->start < end && (library->start > start || library->end < end);
}

static bool continues_region(const struct process *process, const struct region *region,
                             const struct place_extent *next)
{
    if (extent_end(next) - region->start > REGION_MAX)
        return false;
    return next->addr <= region->end || !library_between(process, region->end, next->addr);
}

int regions_make(const struct process *process, struct region **regions, size_t *count)
{
    const struct place_extent **extents = array_new(process->extents.count, sizeof(*extents));
    size_t mirrored = 0, capacity = 0;
    int err = extents ? 0 : -ENOMEM;

    *regions = NULL;
    *count = 0;
    for (size_t i = 0; i < process->extents.count && !err; i++)
        if (process->extents.list[i].layer < PLACE_LAYERS)
            extents[mirrored++] = &process->extents.list[i];
    array_sort(extents, mirrored, sizeof(*extents), compare_addresses);
    for (size_t i = 0; i < mirrored && !err; i++) {
        const uint64_t end = extent_end(extents[i]);
        struct region *last = *count ? &(*regions)[*count - 1] : NULL;
        if (last && continues_region(process, last, extents[i])) {
            last->end = end > last->end ? end : last->end;
            continue;
        }
        if (!array_reserve(regions, &capacity, *count + 1))
            err = -ENOMEM;
        else
            (*regions)[(*count)++] = (struct region){.start = extents[i]->addr, .end = end};
    }
    free(extents);
    return err;
}

struct region *regions_at(struct region *regions, size_t count, uint64_t addr)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (regions[middle].start <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return &regions[low - 1];
}

int region_place(struct process *process, struct region *region)
{
    const uint64_t base = bytes_align_down(region->start, PAGE);
    const uint64_t size = PAGE + region->tables_size;
    const uint64_t room = rooms_find_below(process, base, size);
    uint64_t library;
    int err = 0;

    if (room) {
        region->bias = room - base;
        region->head_size = PAGE;
        region->tables_offset = PAGE;
        return rooms_take(process, base - room, base - room + size);
    }
    /* Code within a library has that one's base: of the two libdw knows one for these addresses,
     * and takes it for the other. */
    region->bias = PLACE_TEXT_OFFSET - base;
    if (rooms_library_base(process, base, &library) && base - library >= PAGE &&
        base - library <= REGION_MAX)
        region->bias = 0 - bytes_align_down(library, PAGE);
    if (region->tables_size)
        region->tables_offset =
            rooms_find_above(process, region->bias,
                             bytes_align_up(region->end + region->bias, PAGE), region->tables_size);
    if (region->tables_offset)
        err = rooms_take(process, region->tables_offset - region->bias,
                         region->tables_offset - region->bias + region->tables_size);
    return err;
}
