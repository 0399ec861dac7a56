/* SPDX-License-Identifier: MIT */
#include "branch.h"

#include "blocks.h"
#include "parse.h"
#include "reader.h"
#include "resync.h"

/* A record begins within so many bytes, or the place is a bad one. */
#define SEARCH_MAX ((uint64_t)1 << 20)
/* So many records are passed over to begin where nothing waits for a LOAD. */
#define PASSED_MAX 256

/* Goes to the record behind the next one; false: that is none, or could be another. */
static bool step(struct jitdump_reader *reader)
{
    const uint64_t end = reader->sure.offset + reader->sure.size;
    struct frame after;

    frame_hold(&reader->window, &reader->sure);
    /* What follows is looked at without moving the window, so it is moved here. */
    if (end == reader->window.size || !window_at(&reader->window, reader->next, FRAME_SIZE, NULL) ||
        !resync_begins(&reader->window, end, &reader->times, &after) || !after.size)
        return false;
    reader->sure = after;
    reader->next = end;
    return true;
}

static bool waits_for_load(uint32_t id)
{
    return id == JITDUMP_DEBUG_INFO || id == JITDUMP_UNWINDING_INFO;
}

/* Goes on to where tables follow code, if that is soon: nothing waits there. */
static void pass_loads(struct jitdump_reader *reader)
{
    const struct frame start = reader->sure;

    for (unsigned i = 0; i < PASSED_MAX; i++) {
        const uint32_t passed = reader->sure.id;
        if (!step(reader))
            break;
        if (passed == JITDUMP_LOAD && waits_for_load(reader->sure.id))
            return;
    }
    reader->sure = start;
    reader->next = start.offset;
}

int branch_begin(struct branch *branch, struct jitdump *dump, uint16_t source, uint64_t from,
                 uint64_t first_time)
{
    *branch =
        (struct branch){.indexing = {.dump = dump, .source = source, .index = &branch->index}};
    blocks_init(&branch->index, jitdump_size(dump) - from);
    const int err = jitdump_reader_new(dump, NULL, &branch->indexing.reader);
    if (err)
        return err;
    struct jitdump_reader *reader = branch->indexing.reader;
    /* These stay as they are: a time counts only where it is near to the first one. */
    reader->times = (struct trust_times){.known = true, .first = first_time, .last = first_time};
    const uint64_t size = reader->window.size;
    const uint64_t to = size - from < SEARCH_MAX ? size : from + SEARCH_MAX;
    const uint64_t found = resync_find(&reader->window, from, to, &reader->times);
    reader->next = branch->start = from;
    if (found == size || !resync_begins(&reader->window, found, &reader->times, &reader->sure))
        return 0;
    reader->next = found;
    pass_loads(reader);
    branch->start = reader->next;
    return 1;
}

int branch_next(struct branch *branch)
{
    struct jitdump_reader *reader = branch->indexing.reader;
    const struct frame frame = reader->sure;
    struct jitdump_record record;

    /* What a MOVE concerns may have been loaded before. */
    if (frame.id == JITDUMP_MOVE || parse_record(&reader->window, &frame, &record) || !step(reader))
        return 0;
    if (frame.id == JITDUMP_UNWINDING_INFO && branch->index.count == 0)
        branch->with_unwinding = true;
    branch->last_time = frame.time;
    reader_count(reader, &record);
    const int err = indexing_add(&branch->indexing, &record);
    return err ? err : 1;
}

int branch_join(struct branch *branch, struct indexing *indexing)
{
    struct jitdump_index *index = indexing->index;
    const size_t first = index->count;

    if (branch->indexing.reader->next == branch->start || indexing->has_moves ||
        !pairing_is_idle(&indexing->pairing, branch->with_unwinding))
        return 0;
    int err = blocks_append(index, &branch->index);
    if (!err)
        err = pairing_append(&indexing->pairing, &branch->indexing.pairing, first);
    if (err)
        return err;
    indexing->without_bytes += branch->indexing.without_bytes;
    indexing->nameless += branch->indexing.nameless;
    indexing->others += branch->indexing.others;
    reader_go_on(indexing->reader, branch->indexing.reader, branch->last_time);
    return 1;
}

void branch_clear(struct branch *branch)
{
    indexing_clear(&branch->indexing);
    jitdump_index_clear(&branch->index);
    *branch = (struct branch){0};
}
