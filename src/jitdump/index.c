/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "indexing.h"
#include "reader.h"
#include "split.h"

#include <inttypes.h>

static int finish(struct indexing *indexing)
{
    struct jitdump_index *index = indexing->index;

    blocks_trim(index);
    index->stats = *jitdump_reader_stats(indexing->reader);
    int err = pairing_finish(&indexing->pairing, index, index->stats.cut_bytes > 0);
    if (err)
        return err;
    index->stats.moves_unresolved = indexing->moves_unresolved;
    index->stats.without_bytes = indexing->without_bytes;
    index->stats.nameless = indexing->nameless;
    index->stats.others = indexing->others;
    index->stats.debug_unpaired = indexing->pairing.unpaired;
    if (!indexing->has_moves)
        return 0;
    for (size_t i = 0; i < index->count; i++) {
        struct code *code = jitdump_index_code(index, i);
        if (code->flags & CODE_MOVED)
            code->debug = jitdump_index_code(index, code->debug)->debug;
    }
    return 0;
}

static void report_unresolved(const struct indexing *indexing, const struct diag *diag,
                              const char *path)
{
    const struct jitdump_stats *stats = &indexing->index->stats;

    if (stats->moves_unresolved)
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "%" PRIu64 " moves of code that was never loaded are left out",
                    stats->moves_unresolved);
    if (stats->debug_unpaired)
        diag_report(diag, DIAG_NOTE, path, DIAG_NO_OFFSET,
                    "%" PRIu64 " line tables of code that was never loaded are left out",
                    stats->debug_unpaired);
}

static int read_records(struct indexing *indexing, struct jitdump_split *split)
{
    struct jitdump_record record;
    int status = 0, err = 0;

    while (!err && (status = jitdump_reader_next(indexing->reader, &record)) > 0) {
        err = indexing_add(indexing, &record);
        if (!err && split)
            err = split_pass(split, indexing, record.offset + record.total_size);
    }
    return err ? err : status;
}

int jitdump_index_build_split(struct jitdump *dump, struct jitdump_split *split, uint16_t source,
                              const struct diag *diag, struct jitdump_index *index)
{
    struct indexing indexing = {.dump = dump, .index = index, .source = source};

    blocks_init(index, jitdump_size(dump));
    int err = jitdump_reader_new(dump, diag, &indexing.reader);
    if (!err)
        err = read_records(&indexing, split);
    if (split)
        split_end(split);
    if (!err)
        err = finish(&indexing);
    if (!err && index->stats.debug_infos)
        err = jitdump_lines_survey(dump, index, &index->lines);
    if (err)
        jitdump_index_clear(index);
    else
        report_unresolved(&indexing, diag, jitdump_path(dump));
    indexing_clear(&indexing);
    return err;
}

int jitdump_index_build(struct jitdump *dump, uint16_t source, const struct diag *diag,
                        struct jitdump_index *index)
{
    return jitdump_index_build_split(dump, NULL, source, diag, index);
}
