/* SPDX-License-Identifier: MIT */
/* The whole job: perf.data and the dumps it names in, perf.data and one shared object a window out.
 */
#ifndef JITINJECT_INJECT_H
#define JITINJECT_INJECT_H

#include "jitinject/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A dump that the user gives to a process. */
struct inject_dump {
    uint32_t pid; /* as the recording has it */
    const char *path;
};

/* How to find out when code came to be, on the clock of the recording. */
enum inject_clock {
    INJECT_CLOCK_AUTO,   /* as the inputs tell; where they do not, the run fails */
    INJECT_CLOCK_OFFSET, /* by adding clock_offset to the times in dumps */
    INJECT_CLOCK_IGNORE, /* not at all: code that had its addresses to itself is always there */
};

struct inject_options {
    const char *input;      /* "-": standard input */
    const char *output;     /* "-": standard output; it and a fifo get the pipe form */
    const char *so_dir;     /* NULL: the output's directory, of a stream the current one */
    const char **dump_dirs; /* where dumps are looked for, too */
    size_t dump_dir_count;
    struct inject_dump *dumps; /* these are not looked for */
    size_t dump_count;
    bool perf_map;       /* perf maps name what no dump does */
    bool force;          /* read inputs that seem to belong to somebody else: to another user, or to
                            another process */
    bool compress_debug; /* line tables compressed */
    bool has_debug_bias; /* debug_bias counts; else it is found out for each dump */
    uint64_t debug_bias; /* bytes that the addresses of line tables are too high */
    enum inject_clock clock;
    int64_t clock_offset; /* ns */
};

/* A shared object that was written. */
struct inject_file {
    char *path;
    uint64_t size;  /* apparent */
    uint64_t bytes; /* without holes */
    uint64_t symbols;
};

/* What became of one process. Children that run inherited code have a row of their own, and so have
 * processes that ran code of which no dump tells. Code in shared memory counts for the process that
 * had the memory first. */
struct inject_process {
    uint32_t pid;
    uint64_t functions, code_bytes;
    uint64_t repeated;         /* loads of code that was there already */
    uint64_t beyond_layers;    /* functions in a file whose DWARF unwinding does not work */
    uint64_t mappings;         /* events slipped in */
    uint64_t dropped;          /* anonymous mappings left out */
    uint64_t jit_samples;      /* samples whose address lay in memory for JIT code */
    uint64_t named_samples;    /* of these, the ones with a name */
    uint64_t unlogged_samples; /* where it has no code: samples in memory without a file */
    size_t first_file, file_count;
};

/* The steps of the work. */
enum inject_step {
    INJECT_SCAN,    /* the recording is read for its mappings */
    INJECT_INDEX,   /* the dumps are read */
    INJECT_PLACE,   /* their code gets its place in files and in time */
    INJECT_EMIT,    /* shared objects are written, beside the last step */
    INJECT_REWRITE, /* the recording is written again */
    INJECT_STEPS,
};

/* What a step took, in ns: time that passed, and time on a processor. */
struct inject_time {
    uint64_t wall, cpu;
};

/* What was done with the times of a dump. */
enum inject_timing {
    INJECT_TIMING_UNKNOWN,   /* nothing could be: the dump was left out */
    INJECT_TIMING_KEPT,      /* its clock is that of the recording */
    INJECT_TIMING_CONVERTED, /* the processor's, converted as the recording says */
    INJECT_TIMING_SHIFTED,   /* `offset` was added */
    INJECT_TIMING_IGNORED,   /* all of its code is there from when the dump was announced */
};

/* The times of a dump that was read. */
struct inject_dump_clock {
    char *path;
    uint32_t pid; /* of its writer, in the recording */
    enum inject_timing timing;
    int64_t offset;       /* ns */
    uint64_t uncertainty; /* ns that code may be placed too early */
    uint64_t reused; /* pieces left out: times are ignored, and their addresses were used again */
    uint64_t first_time, last_time; /* of its code, ns on the clock of the recording; 0: none */
};

/* The result as data. All zero is an empty one. */
struct inject_summary {
    struct inject_process *processes; /* by pid */
    size_t process_count, process_capacity;
    struct inject_file *files;
    size_t file_count;
    uint64_t markers;                 /* dumps that the recording names */
    uint64_t dumps;                   /* of these, the ones that were read */
    struct inject_dump_clock *clocks; /* one for each dump that was read, be it of use or not */
    size_t clock_count;
    bool takes_stacks;     /* call chains are left to readers, --call-graph dwarf */
    uint64_t samples;      /* of all kinds */
    uint64_t output_bytes; /* of the perf.data written */
    struct inject_time times[INJECT_STEPS];
};

/*
 * Does it. Oddities go to `diag` while it runs. 0, or a negative errno after an error was reported;
 * then nothing was written, but for what a stream took before.
 */
int inject_run(const struct inject_options *options, const struct diag *diag,
               struct inject_summary *summary);
void inject_summary_clear(struct inject_summary *summary);

#endif /* JITINJECT_INJECT_H */
