/* SPDX-License-Identifier: MIT */
#include "map.h"
#include "pairing.h"
#include "reader.h"
#include "window.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/*
 * Bytes of a dump for which the first block has room for a piece: there are seldom fewer. Many
 * small blocks would be on small pages, which cost more.
 */
#define BYTES_A_PIECE  2048
#define BLOCK_BITS_MIN 8
#define BLOCK_BITS_MAX 20

/* Bytes of the code_index of a LOAD, which is right before the name. */
#define LOAD_INDEX_SIZE 8

struct builder {
    const struct jitdump *dump;
    struct jitdump_index *index;
    struct jitdump_reader *reader;
    struct pairing pairing;
    struct map latest; /* code_index and pid to the piece that a MOVE of it concerns */
    bool has_moves;
    uint64_t moves_unresolved, without_bytes;
    uint16_t source;
};

static unsigned choose_block_bits(uint64_t size)
{
    unsigned bits = BLOCK_BITS_MIN;

    while (bits < BLOCK_BITS_MAX && UINT64_C(2) << bits <= size / BYTES_A_PIECE)
        bits++;
    return bits;
}

/* Adds a piece; NULL when memory is out. */
static struct code *add_code(struct jitdump_index *index)
{
    const size_t first = (size_t)1 << index->block_bits, number = index->count + first;

    if ((number & (number - 1)) == 0) { /* it is the first one of a block */
        struct code *block = array_new(number, sizeof(*block));
        if (!block)
            return NULL;
        index->blocks[(unsigned)__builtin_ctzll(number) - index->block_bits] = block;
    }
    return jitdump_index_code(index, index->count++);
}

static int add_load(struct builder *builder, const struct jitdump_record *record)
{
    struct code *code = add_code(builder->index);
    size_t number = builder->index->count - 1;

    if (!code)
        return -ENOMEM;
    *code = (struct code){
        .time = record->time,
        .addr = record->load.addr,
        .size = (uint32_t)record->load.size,
        .name = record->offset + JITDUMP_LOAD_NAME,
        .pid = record->load.pid,
        .name_size = record->load.name_size,
        .code_delta = record->load.has_bytes ? record->load.code_delta - JITDUMP_LOAD_NAME : 0,
        .source = builder->source,
        .flags = record->load.has_bytes ? 0 : CODE_NO_BYTES,
    };
    if (!record->load.has_bytes && code->size)
        builder->without_bytes++;
    int err = pairing_load(&builder->pairing, code, number);
    if (!err && builder->has_moves)
        err = map_put(&builder->latest, record->load.index, record->load.pid, number);
    return err;
}

/*
 * Hardly any dump has a MOVE, so only the first one makes the table. The code_index of the LOADs
 * before it is read once more.
 */
static int expect_moves(struct builder *builder)
{
    struct window window;
    int err = 0;

    if (builder->has_moves)
        return 0;
    builder->has_moves = true;
    window_init(&window, builder->dump);
    for (size_t i = 0; i < builder->index->count && !err; i++) {
        const struct code *code = jitdump_index_code(builder->index, i);
        const uint8_t *index =
            window_at(&window, code->name - LOAD_INDEX_SIZE, LOAD_INDEX_SIZE, NULL);
        err = index ? map_put(&builder->latest, bytes_u64(index, window.swapped), code->pid, i)
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
    struct code moved = *jitdump_index_code(index, origin);
    if (record->move.size && record->move.size < moved.size)
        moved.size = (uint32_t)record->move.size;
    if (record->move.new_addr > UINT64_MAX - moved.size) {
        reader_reject(builder->reader, record, "moves code beyond the address space");
        return 0;
    }
    moved.time = record->time;
    moved.addr = record->move.new_addr;
    moved.debug = origin;
    moved.flags |= CODE_MOVED;

    struct code *code = add_code(index);
    if (!code)
        return -ENOMEM;
    *code = moved;
    return map_put(&builder->latest, record->move.index, record->move.pid, index->count - 1);
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

/* Gives back what the last block has beyond its pieces: in small dumps that is as much as they
 * hold.
 */
static void trim(struct jitdump_index *index)
{
    const size_t end = ((size_t)1 << index->block_bits) + index->count;
    const unsigned bits = 63 - (unsigned)__builtin_clzll(end - 1);

    if (index->count == 0)
        return;
    struct code **block = &index->blocks[bits - index->block_bits];
    struct code *trimmed = realloc(*block, (end - ((size_t)1 << bits)) * sizeof(**block));
    if (trimmed)
        *block = trimmed;
}

static int finish(struct builder *builder)
{
    struct jitdump_index *index = builder->index;

    trim(index);
    index->stats = *reader_stats(builder->reader);
    int err = pairing_finish(&builder->pairing, index, index->stats.cut_bytes > 0);
    if (err)
        return err;
    index->stats.moves_unresolved = builder->moves_unresolved;
    index->stats.without_bytes = builder->without_bytes;
    index->stats.debug_unpaired = builder->pairing.unpaired;
    if (!builder->has_moves)
        return 0;
    for (size_t i = 0; i < index->count; i++) {
        struct code *code = jitdump_index_code(index, i);
        if (code->flags & CODE_MOVED)
            code->debug = jitdump_index_code(index, code->debug)->debug;
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

int jitdump_index_build(struct jitdump *dump, uint16_t source, const struct diag *diag,
                        struct jitdump_index *index)
{
    struct builder builder = {.dump = dump, .index = index, .source = source};
    struct jitdump_record record;
    int status;

    *index = (struct jitdump_index){.block_bits = choose_block_bits(jitdump_size(dump))};
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
    if (!err && index->stats.debug_infos)
        err = jitdump_lines_survey(dump, index, &index->lines);
    if (err)
        jitdump_index_clear(index);
    else
        report_unresolved(&builder, diag, jitdump_path(dump));
    map_clear(&builder.latest);
    pairing_clear(&builder.pairing);
    jitdump_reader_free(builder.reader);
    return err;
}

void jitdump_index_clear(struct jitdump_index *index)
{
    for (size_t i = 0; i < sizeof(index->blocks) / sizeof(index->blocks[0]); i++)
        free(index->blocks[i]);
    *index = (struct jitdump_index){0};
}
