/* SPDX-License-Identifier: MIT */
/*
 * Placing: which piece of code goes where in which file, and which mapping events make a reader see
 * the right piece at every time. Knows nothing of files: in go pieces, mappings and forks of a
 * whole recording, out come files (as layouts) and events. DESIGN.md, "Placing".
 */
#ifndef JITINJECT_PLACE_H
#define JITINJECT_PLACE_H

#include "jitinject/code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place;

struct place_options {
    /* Whether two pieces at one address have the same name and bytes; called rarely. */
    bool (*same_code)(void *context, const struct code *a, const struct code *b);
    void *context;
};

/* 0 or -ENOMEM. `options` is copied. */
int place_new(const struct place_options *options, struct place **out);
void place_free(struct place *place);

enum place_mapping_kind {
    PLACE_FILE,      /* code of a real file, or anything else that replaces what was there */
    PLACE_DATA,      /* a real file mapped without the right to run it: replaces too */
    PLACE_ANONYMOUS, /* memory without a file of its own: never hides live code */
};

struct place_mapping {
    uint32_t pid;
    uint64_t time;
    uint64_t addr, len;
    uint64_t offset; /* of `addr` in the file */
    uint64_t file; /* tells files apart. Of memory without a file it is 0, or a number of the memory
                      and of where it begins, if other processes may have it there, too: what one
                      of them loads there is there for all */
    enum place_mapping_kind kind;
    uint64_t record; /* the number of its record, for place_dropped */
};

/*
 * Input, in any order; times in ns. A time of 0 is before everything. 0 or -ENOMEM.
 *
 * place_add_mapping: `mapping` is copied. Of a process that holds no code none is dropped.
 * place_add_fork:    `child` starts as a copy of `parent`.
 * place_add_exec:    `pid` is another program from then on, with memory of its own; so it is
 *                    after a fork that makes it again.
 * place_add_exit:    a thread of `pid` has ended, which after the last one means the process.
 * place_add_dump:    the process writes a dump from `time` on: no code of it ran before.
 * place_add_codes:   `count` pieces, codes[i] of process codes[i].pid. They are borrowed until
 *                    place_free, which may read and mark them (`layer`, `flags`). Pieces of size 0
 *                    are left out. One with a time at which the pid was a program without a dump
 *                    goes to the next one with a dump, and gets the time when that began.
 */
int place_add_mapping(struct place *place, const struct place_mapping *mapping);
int place_add_fork(struct place *place, uint32_t child, uint32_t parent, uint64_t time);
int place_add_exec(struct place *place, uint32_t pid, uint64_t time);
int place_add_exit(struct place *place, uint32_t pid, uint64_t time);
int place_add_dump(struct place *place, uint32_t pid, uint64_t time);
int place_add_codes(struct place *place, struct code *codes, size_t count);
/* Whether anything was added of a process. */
bool place_has_process(const struct place *place, uint32_t pid);
/* Makes room for so many pieces of a process: adding them moves none. 0 or -ENOMEM. */
int place_expect_codes(struct place *place, uint32_t pid, size_t count);

/*
 * Names of a process of which no time is known, by address and not overlapping, in addition to its
 * pieces: each holds where the process, as it is or as it was inherited, has memory without a file
 * and no piece with a time ever was. They are of the program that the pid stood for at `time`, or
 * of all of them where that is UINT64_MAX. Borrowed until place_run is done; the last call counts.
 * 0 or -ENOMEM.
 */
int place_add_snapshot(struct place *place, uint32_t pid, uint64_t time, uint16_t source,
                       const struct code_symbol *symbols, size_t count);

/*
 * ---- Pieces whose clock is not that of the mappings ----
 *
 * Called with all mappings and forks in, before place_run.
 */

/* When a fork last made the process, ns; 0: none is known. */
uint64_t place_fork_time(struct place *place, uint32_t pid);

/*
 * Whether it matters when they came: sets CODE_REUSED on each piece that would not be the only one
 * at its addresses if codes[i] were there from since[i] on. Other code (by same_code) of its
 * process, or of one that descends from it or that it descends from, has one of them, or a file was
 * mapped there later. 0 or -ENOMEM.
 */
int place_mark_reused(struct place *place, struct code *const *codes, const uint64_t *since,
                      size_t count);

/*
 * How far the clock of the mappings, and of samples, is ahead of that of the pieces, by
 * code->source: memory was mapped before the code in it, and code was there before it ran.
 */
struct place_bounds {
    int64_t low, high; /* ns */
    bool has_low, has_high;
};
struct place_fit;
/* Only one at a time. 0 or -ENOMEM. */
int place_fit_new(struct place *place, struct code *const *codes, size_t count,
                  struct place_fit **out);
void place_fit_free(struct place_fit *fit);
/* The process ran at `addr` at that time. */
void place_fit_sample(struct place_fit *fit, uint32_t pid, uint64_t addr, uint64_t time);
struct place_bounds place_fit_bounds(const struct place_fit *fit, uint16_t source);

/* Does the work, once. 0 or -ENOMEM, also where there are more pieces than numbers of 32 bits. */
int place_run(struct place *place);

/* A run of pieces with small gaps: one section of the file. offset - addr is one number for a file
 * that mirrors. */
struct place_extent {
    uint64_t addr, size;
    uint64_t offset;     /* in the file */
    size_t first, count; /* its pieces: file->codes[first] ... */
    uint32_t layer;      /* of its pieces */
};

struct place_file {
    uint32_t pid;
    uint32_t number; /* 0, 1, ... within the process */
    bool mirrors; /* one bias for all extents; false for the last file of a process with more layers
                     than get one each */
    bool has_debug; /* some piece of the process has line tables */
    struct code *const
        *codes; /* by extent, then by address; distinct and not overlapping within an extent */
    size_t code_count;
    const struct place_extent *extents; /* by offset, page-congruent with their addresses */
    size_t extent_count;
    uint64_t head_size;     /* bytes from offset 0 on that have a mapping event: a page, or 0 */
    uint64_t tables_offset; /* room for unwind tables that a mapping event covers, before or after
                               the extents; 0 if tables_size is 0 */
    uint64_t tables_size;
    /* Pieces whose tables go there, by address: those of all files with this base, which overlap,
     * or, where that would be too much, those of this file; none if it does not mirror, or none has
     * tables. */
    struct code *const *table_codes;
    size_t table_code_count;
    uint64_t end; /* first offset behind all that is mapped */
};

/*
 * Code begins here or later; earlier, but behind the first page, where a library lies so near below
 * it. The ELF header and notes lie in the first page.
 */
#define PLACE_TEXT_OFFSET 0x10000

/* After place_run; this and what follows is owned by the place. */
const struct place_file *place_files(const struct place *place, size_t *count);

/* A mapping event to slip in. */
struct place_event {
    uint64_t time; /* ns, never 0 */
    uint64_t addr, len;
    uint64_t offset; /* pgoff: in the file */
    uint32_t pid;
    uint32_t file; /* index into place_files */
};
size_t place_event_count(const struct place *place);
/* They are in order of time. */
struct place_event place_event(const struct place *place, size_t number);

/* Numbers of the records of anonymous mappings that add nothing, ascending. */
const uint64_t *place_dropped(const struct place *place, size_t *count);

enum place_found {
    PLACE_ELSEWHERE, /* not in memory that held JIT code */
    PLACE_UNLOGGED,  /* in memory without a file, of a process that neither has nor inherits pieces
                      */
    PLACE_UNNAMED,   /* in such memory, where no piece was known at that time */
    PLACE_NAMED,
};

/* Bits that say of addresses side by side that pieces hold all of them. */
struct place_grid {
    uint64_t start, span; /* the addresses that it knows: what is beyond is in no piece */
    unsigned shift;       /* a granule is 1 << shift bytes */
    uint64_t *full;       /* bit of a granule, from `start` on: pieces hold all of it */
};

/* Bytes that the bits take. */
static inline uint64_t place_grid_size(const struct place_grid *grid)
{
    return (grid->span >> grid->shift) / 8;
}

/* Brings what place_grid_is_full reads into the cache: of many samples together. */
static inline void place_grid_fetch(const struct place_grid *grid, uint64_t addr)
{
    __builtin_prefetch(&grid->full[((addr - grid->start) >> grid->shift) / 64]);
}

/* Whether the address, which the grid knows, lies where it is full. Asked for each sample. */
static inline bool place_grid_is_full(const struct place_grid *grid, uint64_t addr)
{
    const uint64_t granule = (addr - grid->start) >> grid->shift;

    return grid->full[granule / 64] >> granule % 64 & 1;
}

/* What readers of the result find in a stretch of a process's memory for some time. */
struct place_view {
    uint32_t pid;
    enum place_found found;
    uint64_t start, end;           /* addresses [start, end) */
    uint64_t since, until;         /* times [since, until) */
    const struct place_grid *grid; /* not NULL: an address is PLACE_NAMED if place_grid_is_full or
                                      place_search says so, else PLACE_UNNAMED */
};

static inline bool place_view_covers(const struct place_view *view, uint32_t pid, uint64_t addr,
                                     uint64_t time)
{
    return addr >= view->start && addr < view->end && time >= view->since && time < view->until &&
           pid == view->pid;
}

/*
 * The view that covers the address and the time, as large as is easily told; it may be empty, and
 * `found` is right for the two all the same. Only one thread may ask: what many calls need is made
 * by the first, and times that are near the one before are found sooner. 0 or -ENOMEM.
 */
int place_look(struct place *place, uint32_t pid, uint64_t addr, uint64_t time,
               struct place_view *view);

struct place_query {
    const struct place_view *view;
    uint64_t addr; /* that it covers, where its grid is not full */
    bool named;    /* the answer */
};

/* Many at once cost less, of whichever views: they wait for memory together. */
void place_search(struct place_query *queries, size_t count);

struct place_process {
    uint32_t pid;
    uint64_t codes; /* pieces that were placed */
    uint64_t code_bytes;
    uint64_t beyond_layers; /* pieces in a file that does not mirror: names and lines are right,
                               DWARF unwinding is not */
    uint64_t repeated;      /* pieces left out because the same code was there already */
    uint64_t events, dropped;
    size_t first_file, files; /* place_files[first_file] ... */
};
/* One row for each process that has pieces of its own, by pid. */
const struct place_process *place_processes(const struct place *place, size_t *count);

#endif /* JITINJECT_PLACE_H */
