/* SPDX-License-Identifier: MIT */
#include "rooms.h"

#include "jitinject/bytes.h"

/* How far from the code a room may be: files grow by that, if only by holes. */
#define REACH UINT64_C(0x10000000)
/* Tries to find free addresses before going without. */
#define FREE_TRIES 64

/*
 * What a room may cover. Best is what the process never used. Data of files that was mapped there
 * once is most often gone, and nobody looks it up by its address. Memory without a file is all
 * there is where a runtime has reserved more than it fills and the recording tells of it, as one
 * with
 * `--call-graph dwarf` does.
 */
enum cover { COVER_NOTHING, COVER_DATA, COVER_MEMORY, COVERS };

int rooms_take(struct process *process, uint64_t start, uint64_t end)
{
    struct process *family = process->kin.family;
    int err = rangemap_set(&process->taken, start, end, 0, 0);

    /* Whoever comes later has to look at it: of its family a process maps all files. */
    if (!err && family && family != process && !family->first->is_laid_out)
        err = rangemap_set(&family->taken, start, end, 0, 0);
    return err;
}

int rooms_take_inherited(const struct process *process)
{
    struct process *const family = process->kin.family;
    const struct process *from = process;
    int err = 0;

    for (unsigned depth = 1; family && depth < ANCESTORS_MAX && !err; depth++) {
        from = from->parent;
        if (!from || from->kin.family == family)
            break;
        for (size_t i = 0; i < from->extents.count && !err; i++)
            err = rangemap_set(&family->taken, from->extents.list[i].addr,
                               from->extents.list[i].addr + from->extents.list[i].size, 0, 0);
    }
    return err;
}

static const struct range *first_in(const struct rangemap *map, uint64_t start, uint64_t end)
{
    const struct range *range = rangemap_get(map, rangemap_find(map, start));

    return range && range->start < end ? range : NULL;
}

/* Something in [start, end) that a room may not cover. */
static const struct range *obstacle(const struct process *process, enum cover cover, uint64_t start,
                                    uint64_t end)
{
    const struct range *range =
        first_in(cover < COVER_DATA ? &process->past.files : &process->past.libraries, start, end);
    const struct process *owner = process;

    if (!range && cover < COVER_MEMORY)
        range = first_in(&process->past.memory, start, end);
    for (unsigned depth = 0; owner && !range && depth < ANCESTORS_MAX; depth++) {
        range = first_in(&owner->taken, start, end);
        if (!range && owner->kin.family)
            range = first_in(&owner->kin.family->taken, start, end);
        owner = owner->parent;
    }
    return range;
}

bool rooms_library_base(const struct process *process, uint64_t addr, uint64_t *base)
{
    uint64_t until = UINT64_MAX; /* what came after the fork is not inherited */

    for (unsigned depth = 0; process && depth < ANCESTORS_MAX; depth++) {
        for (size_t i = 0; i < process->mapping_count; i++) {
            const struct mapping *mapping = &process->mappings[i];
            if (mapping->kind != PLACE_FILE || mapping->start > addr || mapping->end <= addr ||
                mapping->time > until)
                continue;
            *base = mapping->start - mapping->offset;
            return mapping->offset <= mapping->start;
        }
        until = process->fork_time;
        process = process->parent;
    }
    return false;
}

/* The least offset from `least` up to `most`; 0: none. */
static uint64_t find_below(const struct process *process, enum cover cover, uint64_t base,
                           uint64_t size, uint64_t least, uint64_t most)
{
    uint64_t offset = least;

    for (unsigned try = 0; try < FREE_TRIES && offset <= most; try++) {
        const struct range *range = obstacle(process, cover, base - offset, base - offset + size);
        if (!range)
            return offset;
        offset = base - bytes_align_down(range->start, PAGE) + size;
    }
    return 0;
}

uint64_t rooms_find_below(const struct process *process, uint64_t base, uint64_t size)
{
    struct rangemap_at at = rangemap_find(&process->past.libraries, base);
    const struct range *library = rangemap_previous(&process->past.libraries, &at);
    const uint64_t floor =
        library && library->end < UINT64_MAX - PAGE ? bytes_align_up(library->end, PAGE) : PAGE;
    const uint64_t least = size > PLACE_TEXT_OFFSET ? size : PLACE_TEXT_OFFSET;
    uint64_t most = base > floor ? base - floor : 0;
    uint64_t offset = 0;

    if (rangemap_overlaps(&process->past.libraries, base, base + 1))
        return 0;
    most = most < REACH ? most : REACH;
    for (enum cover cover = COVER_NOTHING; cover < COVERS && !offset; cover++) {
        offset = find_below(process, cover, base, size, least, most);
        if (!offset)
            offset = find_below(process, cover, base, size, size, most);
    }
    return offset;
}

static uint64_t find_above(const struct process *process, enum cover cover, uint64_t bias,
                           uint64_t end, uint64_t size)
{
    uint64_t offset = end;

    for (unsigned try = 0; try < FREE_TRIES && offset - end <= REACH; try++) {
        const uint64_t addr = offset - bias;
        if (addr > UINT64_MAX - size ||
            rangemap_overlaps(&process->past.libraries, end - bias, addr))
            break;
        const struct range *range = obstacle(process, cover, addr, addr + size);
        if (!range)
            return offset;
        if (range->end > UINT64_MAX - PAGE)
            break;
        offset = bytes_align_up(range->end, PAGE) + bias;
    }
    return 0;
}

uint64_t rooms_find_above(const struct process *process, uint64_t bias, uint64_t end, uint64_t size)
{
    uint64_t offset = 0;

    for (enum cover cover = COVER_NOTHING; cover < COVERS && !offset; cover++)
        offset = find_above(process, cover, bias, end, size);
    return offset;
}
