/* SPDX-License-Identifier: MIT */
#include "indexing.h"

#include "blocks.h"
#include "dump.h"
#include "format.h"
#include "reader.h"
#include "window.h"

#include "jitinject/bytes.h"

#include <errno.h>

static int add_load(struct indexing *indexing, const struct jitdump_record *record)
{
    struct code *code = blocks_add(indexing->index);
    size_t number = indexing->index->count - 1;

    if (!code)
        return -ENOMEM;
    *code = (struct code){
        .time = record->time,
        .addr = record->load.addr,
        .size = (uint32_t)record->load.size,
        .name = record->offset + LOAD_NAME,
        .pid = record->load.pid,
        .name_size = record->load.name_size,
        .code_delta = record->load.has_bytes ? record->load.code_delta - LOAD_NAME : 0,
        .source = indexing->source,
        .flags = record->load.has_bytes ? 0 : CODE_NO_BYTES,
    };
    if (!record->load.has_bytes && code->size)
        indexing->without_bytes++;
    indexing->nameless += code->name_size == 0 && code->size > 0;
    indexing->others += code->pid != indexing->dump->header.pid;
    int err = pairing_load(&indexing->pairing, code, number);
    if (!err && indexing->has_moves)
        err = hashmap_put(&indexing->latest, record->load.index, record->load.pid, number);
    return err;
}

/*
 * Hardly any dump has a MOVE, so only the first one makes the table. The code_index of the LOADs
 * before it is read once more.
 */
static int expect_moves(struct indexing *indexing)
{
    struct window window;
    int err = 0;

    if (indexing->has_moves)
        return 0;
    indexing->has_moves = true;
    window_init(&window, indexing->dump);
    for (size_t i = 0; i < indexing->index->count && !err; i++) {
        const struct code *code = jitdump_index_code(indexing->index, i);
        const uint8_t *index =
            window_at(&window, code->name - LOAD_NAME + LOAD_CODE_INDEX, sizeof(uint64_t), NULL);
        err = index ? hashmap_put(&indexing->latest, bytes_u64(index, window.swapped), code->pid, i)
                    : window.error;
    }
    window_release(&window);
    return err;
}

/*
 * Until the end, `debug` of a moved piece is the number of the LOAD it comes from: that one may get
 * its DEBUG_INFO later.
 */
static uint64_t origin_of(const struct jitdump_index *index, size_t number)
{
    const struct code *code = jitdump_index_code(index, number);

    return code->flags & CODE_MOVED ? code->debug : number;
}

static int add_move(struct indexing *indexing, const struct jitdump_record *record)
{
    struct jitdump_index *index = indexing->index;
    int err = expect_moves(indexing);

    if (err)
        return err;
    const uint64_t *latest = hashmap_find(&indexing->latest, record->move.index, record->move.pid);
    if (!latest) {
        indexing->moves_unresolved++;
        return 0;
    }
    uint64_t origin = origin_of(index, (size_t)*latest);
    struct code moved = *jitdump_index_code(index, origin);
    if (record->move.size && record->move.size < moved.size)
        moved.size = (uint32_t)record->move.size;
    if (record->move.new_addr > UINT64_MAX - moved.size) {
        reader_reject(indexing->reader, record, "moves code beyond the address space");
        return 0;
    }
    moved.time = record->time;
    moved.addr = record->move.new_addr;
    moved.debug = origin;
    moved.flags |= CODE_MOVED;

    struct code *code = blocks_add(index);
    if (!code)
        return -ENOMEM;
    *code = moved;
    return hashmap_put(&indexing->latest, record->move.index, record->move.pid, index->count - 1);
}

int indexing_add(struct indexing *indexing, const struct jitdump_record *record)
{
    switch (record->id) {
    case JITDUMP_LOAD:
        return add_load(indexing, record);
    case JITDUMP_MOVE:
        return add_move(indexing, record);
    case JITDUMP_DEBUG_INFO:
        return pairing_debug(&indexing->pairing, record);
    case JITDUMP_UNWINDING_INFO:
        pairing_unwinding(&indexing->pairing, record);
        return 0;
    default:
        return 0;
    }
}

void indexing_clear(struct indexing *indexing)
{
    hashmap_clear(&indexing->latest);
    pairing_clear(&indexing->pairing);
    jitdump_reader_free(indexing->reader);
    *indexing = (struct indexing){0};
}
