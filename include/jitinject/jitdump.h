/* SPDX-License-Identifier: MIT */
/*
 * Reading jitdump files,
 * https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jitdump-specification.txt
 *
 * A dump is untrusted: every length is checked against its record and every record against the
 * file. What is odd is reported with its offset and costs only the records it concerns.
 */
#ifndef JITINJECT_JITDUMP_H
#define JITINJECT_JITDUMP_H

#include "jitinject/code.h"
#include "jitinject/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum jitdump_record_id {
    JITDUMP_LOAD = 0,
    JITDUMP_MOVE = 1,
    JITDUMP_DEBUG_INFO = 2,
    JITDUMP_CLOSE = 3,
    JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump_header {
    uint32_t version;
    uint32_t total_size;  /* bytes of the header; the first record is there */
    uint32_t elf_machine; /* EM_*; 0 where the writer left it out */
    uint32_t reserved;    /* as found: some writers are known by it */
    uint32_t pid;         /* of the writer, in its own pid namespace */
    uint64_t timestamp;   /* unreliable in practice */
    uint64_t flags;       /* as found */
    bool swapped;         /* the dump's byte order is not this machine's */
    bool arch_timestamps; /* flags is exactly the one known flag: times are raw TSC */
};

struct jitdump;

/*
 * Opens a dump and reads its header. A gzip file is unpacked into an unnamed temporary file first;
 * offsets are then those of the unpacked dump. -ENOENT, -EACCES ... as open(2); -EBADMSG: not a
 * jitdump, empty, or cut in its header. A failure is reported to `diag` as a warning, with the
 * reason.
 */
int jitdump_open(const char *path, const struct diag *diag, struct jitdump **out);
void jitdump_free(struct jitdump *dump);

const char *jitdump_path(const struct jitdump *dump);
const struct jitdump_header *jitdump_header(const struct jitdump *dump);
/* Identity of the file as it was opened (of the .gz itself for a packed dump). */
void jitdump_identity(const struct jitdump *dump, dev_t *device, ino_t *inode);
/* A descriptor for pread of the (unpacked) dump, owned by the dump, and its size in bytes. */
int jitdump_fd(const struct jitdump *dump);
uint64_t jitdump_size(const struct jitdump *dump);

/* Bytes of a dump that are in memory. */
struct jitdump_span {
    const struct jitdump *dump;
    const uint8_t *bytes;
    size_t size;
    uint64_t offset; /* of bytes[0] in the dump */
};

/* `size` bytes at `offset` of a dump, or NULL if the span has not all of them. */
static inline const uint8_t *jitdump_span_at(const struct jitdump_span *span,
                                             const struct jitdump *dump, uint64_t offset,
                                             uint64_t size)
{
    if (span->dump != dump || offset < span->offset || offset - span->offset > span->size ||
        size > span->size - (offset - span->offset))
        return NULL;
    return span->bytes + (offset - span->offset);
}

/* Bytes that were read last: records that lie side by side share a read. All zero: empty. */
struct jitdump_view {
    struct jitdump_span span;
    uint8_t *buffer;
    size_t capacity;
};

void jitdump_view_release(struct jitdump_view *view);
/* The same, read if need be, good until the next call. *bytes is NULL where the dump has fewer. 0
 * or a negative errno. */
int jitdump_view_at(struct jitdump_view *view, const struct jitdump *dump, uint64_t offset,
                    uint64_t size, const uint8_t **bytes);
/* Copies bytes and leaves the view as it is. 0 or a negative errno, -EIO where the dump has fewer.
 */
int jitdump_view_copy(const struct jitdump_view *view, const struct jitdump *dump, uint64_t offset,
                      size_t size, void *to);

/* One record as found in the stream. */
struct jitdump_record {
    uint64_t offset;     /* of the record in the dump */
    uint32_t id;         /* enum jitdump_record_id, or an unknown one */
    uint32_t total_size; /* with the 16-byte prefix, within the file */
    uint64_t time;
    union {
        struct {
            uint32_t pid, tid;
            uint64_t addr, size, index;
            uint32_t name_size;
            uint32_t code_delta; /* of the bytes from the record's start; valid if has_bytes */
            bool has_bytes;
            const char *name; /* NUL-terminated, valid until the next call */
        } load;
        struct {
            uint32_t pid, tid;
            uint64_t old_addr, new_addr, size, index;
        } move;
        struct {
            uint64_t addr, entries; /* nr_entry as written, not checked against the record */
        } debug;
        struct {
            uint64_t size, header_size,
                mapped_size;   /* as written; header_size <= size <= total_size - 40 is checked */
            bool header_first; /* .eh_frame_hdr before .eh_frame (LLVM ORC), not behind it */
        } unwinding;
    };
};

/* What a dump holds, and what was odd in it: data for a summary. */
struct jitdump_stats {
    uint64_t loads, moves, debug_infos, unwinding_infos, closes, unknown;
    uint64_t skipped_bytes;   /* foreign bytes passed over */
    uint64_t invalid_records; /* left out */
    uint64_t code_bytes;
    uint64_t first_time, last_time; /* over LOAD and MOVE; 0 if none */
    uint64_t cut_bytes; /* at the end, of a record that is not whole; 0: it ends with a whole one */

    /* Of an index only: */
    uint64_t moves_unresolved; /* MOVE of a code_index that was never loaded by that pid */
    uint64_t without_bytes;    /* LOADs of code, but without its bytes */
    uint64_t nameless;         /* LOADs of code with an empty name */
    uint64_t others;           /* LOADs of another pid than that of the header */
    uint64_t debug_unpaired;   /* DEBUG_INFO of a function that was never loaded */
};

struct jitdump_reader;

/*
 * A sequential reader over the records of `dump`, in a bounded buffer: code bytes are passed over,
 * never kept. Records whose fixed part, name or sizes are not within the record are reported and
 * left out. Foreign bytes between records are passed over up to the next plausible run of records,
 * and said. `dump` and `diag` are borrowed until jitdump_reader_free. 0 or -ENOMEM.
 */
int jitdump_reader_new(struct jitdump *dump, const struct diag *diag, struct jitdump_reader **out);
void jitdump_reader_free(struct jitdump_reader *reader);
/* 1: *record is set; 0: the end (whether it is cut say the stats, and the caller to its user; what
 * is whole counts); <0: -errno of the disk, reported. */
int jitdump_reader_next(struct jitdump_reader *reader, struct jitdump_record *record);
/* What the records so far tell; complete at the end. Owned by the reader. */
const struct jitdump_stats *jitdump_reader_stats(const struct jitdump_reader *reader);

/* What the line tables of a dump have in common. */
struct jitdump_line_traits {
    bool has_lines; /* at least one of them tells a line */
    uint64_t bias;  /* what its writer adds to each address in them */
};

/* Some pieces that lie side by side. */
struct jitdump_block {
    struct code *codes;
    size_t first; /* the number of the first of them */
};

/* All pieces of code of a dump in the order of its records, in blocks that never move. */
struct jitdump_index {
    struct jitdump_block *blocks;
    size_t block_count, block_capacity;
    size_t count;
    size_t room;       /* as many have room in these blocks */
    size_t next_block; /* as many will have room in the next one */
    struct jitdump_stats stats;
    struct jitdump_line_traits lines;
};

/* The block of piece number `number`, of those that are there. */
static inline const struct jitdump_block *jitdump_index_block(const struct jitdump_index *index,
                                                              size_t number)
{
    const struct jitdump_block *block = index->blocks + index->block_count - 1;

    /* There are few of them, and the last ones are the largest. */
    while (number < block->first)
        block--;
    return block;
}

static inline struct code *jitdump_index_code(const struct jitdump_index *index, size_t number)
{
    const struct jitdump_block *block = jitdump_index_block(index, number);

    return block->codes + (number - block->first);
}

/* The same, and how many lie side by side from there on. */
static inline struct code *jitdump_index_run(const struct jitdump_index *index, size_t number,
                                             size_t *count)
{
    const struct jitdump_block *block = jitdump_index_block(index, number);
    const bool is_last = block + 1 == index->blocks + index->block_count;
    const size_t end = is_last || block[1].first > index->count ? index->count : block[1].first;

    *count = end - number;
    return block->codes + (number - block->first);
}

/*
 * Reads the dump once. Every piece gets `source` (see struct code). A MOVE becomes a piece at the
 * new address with the bytes, name and tables of the last piece of that pid and code_index.
 * DEBUG_INFO goes to the LOAD of its address (the next one, else the nearest before), failing that
 * to the next LOAD in order; UNWINDING_INFO goes to the next LOAD, and, where its table is written
 * header first for a group (LLVM ORC), to every LOAD up to the next such record. 0 or a negative
 * errno; on an error the index is empty.
 */
int jitdump_index_build(struct jitdump *dump, uint16_t source, const struct diag *diag,
                        struct jitdump_index *index);
void jitdump_index_clear(struct jitdump_index *index);

/* ---- One index built by two threads ---- */

struct jitdump_split;

/* For one index of `dump`, which is borrowed. NULL: the dump is too small for it, or memory is out.
 */
struct jitdump_split *jitdump_split_new(struct jitdump *dump);
/* NULL is fine. */
void jitdump_split_free(struct jitdump_split *split);
/* As jitdump_index_build, with the same result, whoever helps or does not. NULL is fine. */
int jitdump_index_build_split(struct jitdump *dump, struct jitdump_split *split, uint16_t source,
                              const struct diag *diag, struct jitdump_index *index);
/*
 * Called by another thread, before the index is built or while it is: reads the second half of what
 * is left to read, and again if much is left then. Returns when there is nothing more to help with.
 */
void jitdump_split_help(struct jitdump_split *split);

/*
 * Whether two pieces of (perhaps different) dumps have the same name and the same bytes. Reads the
 * dumps.
 */
bool jitdump_same_code(const struct jitdump *dump_a, const struct code *a,
                       const struct jitdump *dump_b, const struct code *b);

/* The address that the LOAD of a piece has: where it was before it was moved. 0 or a negative
 * errno, -EIO where the dump has no such record. */
int jitdump_loaded_addr(const struct jitdump_view *view, const struct jitdump *dump,
                        const struct code *code, uint64_t *addr);

/* ---- Unwind tables ---- */

/* The tables of an UNWINDING_INFO record, where its bytes were read. */
struct jitdump_unwinding {
    const uint8_t *frames; /* .eh_frame; NULL: the record is damaged, and nothing else is set */
    size_t frames_size;
    const uint8_t *header; /* .eh_frame_hdr */
    size_t header_size;    /* may be 0 */
    bool header_first;     /* it is in front of .eh_frame, not behind it */
};

/*
 * Reads the record at code->unwind, unless `heard` has it, through the view; the tables are good as
 * long as both. 0 or a negative errno.
 */
int jitdump_unwinding(struct jitdump_view *view, const struct jitdump_span *heard,
                      const struct jitdump *dump, uint64_t offset,
                      struct jitdump_unwinding *unwinding);

/* ---- Line tables ---- */

/* Reads line tables from all over the dump, which `index` is of. 0 or a negative errno. */
int jitdump_lines_survey(const struct jitdump *dump, const struct jitdump_index *index,
                         struct jitdump_line_traits *traits);

/* One entry of a line table. */
struct jitdump_line {
    int64_t offset;        /* of the code it begins with; may lie outside of the piece */
    uint32_t line, column; /* 0: none */
    const char *file;      /* without NUL, valid until the next call of jitdump_lines_open */
    size_t file_size;      /* 0: not known */
    bool is_whole;         /* the function's own line: no finer one is known */
};

struct jitdump_lines;

/* A reader of the line tables of any dumps. 0 or -ENOMEM. */
int jitdump_lines_new(struct jitdump_lines **out);
void jitdump_lines_free(struct jitdump_lines *lines);
/*
 * Goes to the line table of a piece of `dump`, whose addresses are `bias` too high. One that is
 * damaged, or none, has no lines; without one, `dump` may be NULL. Memory: the largest record. 0 or
 * a negative errno.
 */
int jitdump_lines_open(struct jitdump_lines *lines, const struct jitdump *dump,
                       const struct code *code, uint64_t bias);
/* The next entries, at most `max`, in the order of the record; how many, 0: that was all. */
size_t jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_line *entries, size_t max);

#endif /* JITINJECT_JITDUMP_H */
