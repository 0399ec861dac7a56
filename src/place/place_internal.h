/* SPDX-License-Identifier: MIT */
/* What the steps of placing share: one struct a process, filled step by step. */
#ifndef PLACE_INTERNAL_H
#define PLACE_INTERNAL_H

#include "jitinject/hashmap.h"
#include "jitinject/place.h"
#include "jitinject/rangemap.h"

#include "finder.h"
#include "history.h"
#include "model.h"

struct mapping {
    uint64_t time;
    uint64_t start, end;
    uint64_t offset; /* of `start` in its file */
    uint64_t file;
    uint64_t record;
    enum place_mapping_kind kind;
};

/* Names without times: snapshot.c. */
struct names {
    const struct code_symbol *symbols; /* of the first life: by address; borrowed */
    size_t symbol_count;
    uint16_t source;
    uint64_t time;       /* the life at that time has them; UINT64_MAX: all do */
    struct code *pieces; /* that are made of them for this one */
    size_t piece_count;
};

/* Where the process, or one that it is forked from, ever had what: process.c. */
struct past {
    struct rangemap files;      /* real ones */
    struct rangemap late_files; /* of these, the ones mapped since its first code */
    struct rangemap libraries;  /* of all, those of the files with code */
    struct rangemap memory;     /* without a file, and inherited code */
};

/* The code of the process as it lies in files: layers.c, windows.c. */
struct extents {
    struct place_extent *list; /* by layer, then by address */
    size_t count, capacity;
    struct code **codes; /* of all, by layer and address, without the repeated; file->codes points
                            into it */
    struct code **table_codes; /* of regions whose files share their tables */
    uint32_t *biases;          /* by extent: what the timeline calls the mapping of it */
};

/* All programs that a pid stood for, one after the other: lives.c. */
struct lives {
    struct process **list; /* by time; NULL: there is one */
    size_t count, capacity;
};

/* When dumps that it writes were announced. */
struct dumps {
    bool any;
    uint64_t first; /* no piece is older, as far as the recording tells */
    uint64_t *times;
    size_t count, capacity;
};

/* Whom it shares memory with: share.c. */
struct kin {
    bool maps_shared;         /* memory that others may have, too */
    struct process *family;   /* the first of those that share memory with it; NULL: none does */
    struct process **members; /* of the first: all that may live */
    size_t member_count, member_capacity;
    struct rangemap shared; /* stamp: number of the memory that it shares there */
};

/* How far the timeline has come: timeline.c, loads.c, events.c. */
struct progress {
    bool has_model; /* the model is kept */
    size_t next_load;
    size_t last_step;    /* of the timeline that concerns it */
    size_t change_count; /* events for the history */
    uint64_t child_time; /* of the last fork that it made, so far */
};

struct process {
    uint32_t pid;
    uint32_t number;       /* among all */
    struct process *first; /* of those that the pid stood for one after the other; maybe itself */
    struct lives lives;    /* of the first */
    uint64_t begin;        /* of this one, 0 for the first */
    uint64_t made;         /* by the last fork or exec in it; before there is nothing; 0: none */
    bool forked;
    uint64_t fork_time; /* of the last fork that made it */
    uint64_t exit_time; /* of the first: of the last thread that ended, in any of its lives */
    struct process *parent;
    bool related;    /* has pieces, or is an ancestor or descendant of a process that has */
    bool holds_code; /* has pieces, or inherited some */

    struct mapping *mappings; /* by time once sorted */
    size_t mapping_count, mapping_capacity;
    struct dumps dumps;
    struct kin kin;

    struct code **codes; /* by time; those that are in a file */
    size_t code_count, code_capacity;
    bool disordered;     /* they did not come by time */
    struct code **loads; /* by time; what it can run, if not just `codes` */
    size_t load_count, load_capacity;
    bool has_layers; /* above the first */
    bool has_tables; /* some piece has unwind tables */
    bool has_debug;  /* ... line tables */

    struct names names;
    struct past past;
    struct extents extents;
    uint32_t file_number;       /* of the first: that the next file gets */
    bool is_laid_out;           /* of the first: with all that follow it */
    struct rangemap code_known; /* by reuse.c and fit.c, which come before all else */
    struct rangemap taken;      /* by its own files, and those beside which its family's lie */
    struct place_process row;   /* what becomes of this life; its files come one after the other */
    struct progress timeline;
    struct model model;
    struct history history;
};

/* start + bias = offset in the file. */
struct bias {
    uint32_t file;
    size_t extent;         /* of the file, where it does not mirror */
    uint64_t offset;       /* modulo 2^64 */
    struct finder *finder; /* of the pieces that it maps; NULL: nobody has asked yet */
};

struct fork {
    uint64_t time;
    size_t order; /* of input, where times are equal */
    struct process *child, *parent;
};

struct exec {
    uint64_t time;
    struct process *process;
};

struct place {
    struct place_options options;

    struct process **processes; /* in order of appearance */
    size_t process_count, process_capacity;
    struct hashmap by_pid; /* number of the process; of its first life */

    struct fork *forks;
    size_t fork_count, fork_capacity;
    size_t linked_forks; /* that processes know of */
    bool has_shared;     /* some process maps memory that others may have, too */
    struct exec *execs;
    size_t exec_count, exec_capacity;

    struct place_file *files;
    size_t file_count, file_capacity;
    struct bias *biases; /* by value - MAPPED_FIRST_BIAS */
    size_t bias_count, bias_capacity;

    struct event *events; /* by time, in the end */
    size_t event_count, event_capacity;
    uint32_t *unwritten; /* numbers of the events that there is nothing to write for, ascending */
    size_t unwritten_count, unwritten_capacity;
    uint64_t *dropped;
    size_t dropped_count, dropped_capacity;

    struct place_process *rows;
    size_t row_count;
};

/* Set in code->flags by place: a piece that a file has already. */
#define CODE_REPEATED (1u << 15)
/* ... and one in the files of the first of a family. */
#define CODE_SHARED (1u << 14)

/* What is mapped apart lies on pages of its own. */
#define PAGE UINT64_C(0x1000)

/* A chain of forks in a recording is short; a damaged one may be a circle. */
#define ANCESTORS_MAX 64

/* Layers that get windows of their own; the rest share one file. */
#define PLACE_LAYERS 64

/* process.c */
struct process *process_get(struct place *place, uint32_t pid);
struct process *process_find(const struct place *place, uint32_t pid);
void process_free(struct process *process);
/* Tells each process its parent, by the last fork that made it. */
void process_link(struct place *place);
/* By time. */
void process_sort_mappings(struct process *process);
/* Sorts inputs, relates processes, and collects what each ever had mapped. */
int process_prepare_all(struct place *place);

#endif /* PLACE_INTERNAL_H */
