/* SPDX-License-Identifier: MIT */
#include "map.h"
#include "pairing.h"
#include "reader.h"

#include "jitinject/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct builder {
    struct jitdump_index *index;
    struct jitdump_reader *reader;
    struct pairing pairing;
    struct map latest; /* code_index and pid to the piece that a MOVE of it concerns */
    bool has_moves;
    uint64_t moves_unresolved;
    uint16_t source;
};

static struct code *add_code(struct builder *builder)
{
    struct jitdump_index *index = builder->index;

    if (!array_reserve(&index->codes, &index->capacity, index->count + 1))
        return NULL;
    return &index->codes[index->count++];
}

static int remember(struct builder *builder, size_t number)
{
    const struct code *code = &builder->index->codes[number];

    return map_put(&builder->latest, code->index, code->pid, number);
}

static int add_load(struct builder *builder, const struct jitdump_record *record)
{
    struct code *code = add_code(builder);
    size_t number = builder->index->count - 1;

    if (!code)
        return -ENOMEM;
    *code = (struct code){
        .time = record->time,
        .addr = record->load.addr,
        .size = record->load.size,
        .name = record->offset + JITDUMP_LOAD_NAME,
        .index = record->load.index,
        .pid = record->load.pid,
        .name_size = record->load.name_size,
        .code_delta = record->load.has_bytes ? record->load.code_delta - JITDUMP_LOAD_NAME : 0,
        .source = builder->source,
        .flags = record->load.has_bytes ? 0 : CODE_NO_BYTES,
    };
    int err = pairing_load(&builder->pairing, code, number);
    if (!err && builder->has_moves)
        err = remember(builder, number);
    return err;
}

/* Hardly any dump has a MOVE, so only the first one makes the table. */
static int expect_moves(struct builder *builder)
{
    int err = 0;

    if (builder->has_moves)
        return 0;
    builder->has_moves = true;
    for (size_t i = 0; i < builder->index->count && !err; i++)
        err = remember(builder, i);
    return err;
}

/*
 * Until the end, `debug` of a moved piece is the number of the LOAD it comes from: that one may get
 * its DEBUG_INFO later.
 */
static uint64_t origin_of(const struct jitdump_index *index, size_t number)
{
    const struct code *code = &index->codes[number];

    return code->flags & CODE_MOVED ? code->debug : number;
}

static int add_move(struct builder *builder, const struct jitdump_record *record)
{
    struct jitdump_index *index = builder->index;
    int err = expect_moves(builder);

    if (err)
        return err;
    const uint64_t *latest = map_find(&builder->latest, record->move.index, record->move.pid);
    if (!latest) {
        builder->moves_unresolved++;
        return 0;
    }
    uint64_t origin = origin_of(index, (size_t)*latest);
    struct code moved = index->codes[origin];
    if (record->move.size && record->move.size < moved.size)
        moved.size = record->move.size;
    if (record->move.new_addr > UINT64_MAX - moved.size) {
        reader_reject(builder->reader, record, "moves code beyond the address space");
        return 0;
    }
    moved.time = record->time;
    moved.addr = record->move.new_addr;
    moved.debug = origin;
    moved.flags |= CODE_MOVED;

    struct code *code = add_code(builder);
    if (!code)
        return -ENOMEM;
    *code = moved;
    return remember(builder, index->count - 1);
}

static int add_record(struct builder *builder, const struct jitdump_record *record)
{
    switch (record->id) {
    case JITDUMP_LOAD:
        return add_load(builder, record);
    case JITDUMP_MOVE:
        return add_move(builder, record);
    case JITDUMP_DEBUG_INFO:
        return pairing_debug(&builder->pairing, record);
    case JITDUMP_UNWINDING_INFO:
        pairing_unwinding(&builder->pairing, record);
        return 0;
    default:
        return 0;
    }
}

static int finish(struct builder *builder)
{
    struct jitdump_index *index = builder->index;

    index->stats = *reader_stats(builder->reader);
    int err = pairing_finish(&builder->pairing, index->codes, index->count, index->stats.truncated);
    if (err)
        return err;
    index->stats.moves_unresolved = builder->moves_unresolved;
    index->stats.debug_unpaired = builder->pairing.unpaired;
    if (!builder->has_moves)
        return 0;
    for (size_t i = 0; i < index->count; i++) {
        struct code *code = &index->codes[i];
        if (code->flags & CODE_MOVED)
            code->debug = index->codes[code->debug].debug;
    }
    return 0;
}

static void report_unresolved(const struct builder *builder, const struct diag *diag,
                              const char *path)
{
    const struct jitdump_stats *stats = &builder->index->stats;

    if (stats->moves_unresolved)
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "%" PRIu64 " moves of code that was never loaded are left out",
                    stats->moves_unresolved);
    if (stats->debug_unpaired)
        diag_report(diag, DIAG_NOTE, path, DIAG_NO_OFFSET,
                    "%" PRIu64 " line tables of code that was never loaded are left out",
                    stats->debug_unpaired);
}

/* Growing has left up to a third of the array unused. */
static void shrink(struct jitdump_index *index)
{
    if (!index->count)
        return;
    struct code *moved = realloc(index->codes, index->count * sizeof(*index->codes));
    if (moved) {
        index->codes = moved;
        index->capacity = index->count;
    }
}

int jitdump_index_build(struct jitdump *dump, uint16_t source, const struct diag *diag,
                        struct jitdump_index *index)
{
    struct builder builder = {.index = index, .source = source};
    struct jitdump_record record;
    int status;

    *index = (struct jitdump_index){0};
    int err = jitdump_reader_new(dump, diag, &builder.reader);
    if (err)
        return err;
    while ((status = jitdump_reader_next(builder.reader, &record)) > 0) {
        status = add_record(&builder, &record);
        if (status < 0)
            break;
    }
    err = status;
    if (!err)
        err = finish(&builder);
    if (err) {
        jitdump_index_clear(index);
    } else {
        report_unresolved(&builder, diag, jitdump_path(dump));
        shrink(index);
    }
    map_clear(&builder.latest);
    pairing_clear(&builder.pairing);
    jitdump_reader_free(builder.reader);
    return err;
}

void jitdump_index_clear(struct jitdump_index *index)
{
    free(index->codes);
    *index = (struct jitdump_index){0};
}
