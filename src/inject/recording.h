/* SPDX-License-Identifier: MIT */
/* What the five steps hand on to one another. */
#ifndef INJECT_RECORDING_H
#define INJECT_RECORDING_H

#include "tally.h"
#include "tasks.h"

#include "jitinject/diag_list.h"
#include "jitinject/image.h"
#include "jitinject/inject.h"
#include "jitinject/jitdump.h"
#include "jitinject/outfile.h"
#include "jitinject/perfdata.h"
#include "jitinject/perfmap.h"
#include "jitinject/place.h"

#include <pthread.h>

/* How sure it is that a file is the one that a process had mapped. */
enum owner_rank {
    OWNER_SAME_FILE,  /* it is */
    OWNER_SAME_INODE, /* its inode is the same, the device is not: a container's overlay and btrfs
                         show files under numbers that the kernel does not record, but inodes of two
                         file systems may be equal, too */
    OWNER_BY_CONTENT, /* a copy, another file, or the inode was not recorded */
};

/* A mapping event of a file that is called like a dump. */
struct marker {
    char *path;      /* as in the event */
    uint32_t pid;    /* of the event: the pid that the rest of the recording uses */
    uint64_t time;   /* ns, 0: before everything */
    uint64_t record; /* number of the event's record */
    uint64_t addr, len;
    dev_t device;
    ino_t inode;          /* of the file that was mapped, 0: not recorded */
    size_t dump;          /* index into dumps, or NO_DUMP */
    enum owner_rank rank; /* how sure it is that this is its dump */
    uint32_t claim;       /* the same for all markers of one file */
};

#define NO_DUMP SIZE_MAX

/* When the code of a dump came to be, on the clock of the recording. */
struct dump_clock {
    enum inject_timing timing;  /* what is done with the times in it */
    bool placed;                /* its code has its times */
    bool disputed;              /* by them it is not of its process, but the user insists */
    bool may_ignore, may_shift; /* what is left to try where that is not known */
    int64_t offset;
    uint64_t uncertainty;
    uint64_t first, last; /* of its code then */
    uint64_t reused;      /* pieces left out for want of times */
};

struct dump {
    struct jitdump *file;
    struct jitdump_index index;
    dev_t device;
    ino_t inode;
    uint32_t inner_pid; /* the writer in its own pid namespace: that of the header */
    uint32_t pid;       /* the writer in the recording */
    bool in_namespace;  /* these differ */
    uint32_t child;     /* the only one that it forked, in the recording; 0: none, or several */
    bool given;         /* by the user, who says whose it is */
    bool unowned;       /* nobody knows whose it is: not used */
    uint64_t announced; /* when its writer mapped it, ns; 0: before the recording, or not known */
    struct dump_clock clock;
};

/* The perf map of a process. */
struct map {
    struct perfmap file;
    uint32_t pid;
    uint64_t time; /* of the program that wrote it, as place_add_snapshot takes it */
};

/* A file that was read. */
struct input {
    dev_t device;
    ino_t inode;
};

struct recording {
    const struct inject_options *options;
    const struct diag *diag;
    struct perfdata *data;
    struct place *place;

    struct marker *markers; /* in order of their records */
    size_t marker_count, marker_capacity;
    bool is_injected;   /* by us or by perf inject: it maps what they write */
    struct tally tally; /* of the samples; their processes only where maps are looked for */
    uint64_t end_time;  /* of anything, ns */
    struct tasks tasks;

    struct ahead *ahead; /* indexes dumps while the recording is scanned */
    struct dump *dumps;
    size_t dump_count, dump_capacity;
    struct map *maps;
    size_t map_count, map_capacity;
    struct image_source *sources; /* by code->source: the dumps, then the maps */
    struct input *inputs;         /* all files that were opened as dumps or maps */
    size_t input_count, input_capacity;

    uint64_t *dropped; /* numbers of all records to leave out, ascending */
    size_t dropped_count;

    struct outfile **images; /* one for each of place_files */
    struct diag_list *image_reports;
    uint8_t (*build_ids)[IMAGE_BUILD_ID_SIZE];
    size_t image_count;
    pthread_t emitter;
    bool emitting;                 /* the thread runs */
    pthread_mutex_t emit_lock;     /* for what follows, and the time that emitting takes */
    pthread_cond_t emit_changed;   /* another image is open, or none is to be written any more */
    size_t images_open;            /* so many have been started */
    size_t next_image, images_end; /* those that nobody has taken */
    int emit_err;                  /* of failed_image */
    size_t failed_image;
    struct outfile *output;
    struct directory *directory; /* that it is to be in, with other files; else NULL */

    struct inject_summary *summary;
};

/* scan.c: one pass over perf.data for mappings, forks and markers. */
int scan_records(struct recording *recording);
/* claims.c: opens and indexes the dumps that are given or that markers claim, each with its owner.
 */
int claims_find_dumps(struct recording *recording);
/* dumps.c: the same, and hands their code to place. */
int dumps_read(struct recording *recording);
/* maps.c: finds the perf maps of the processes with samples and hands their names to place. */
int maps_read(struct recording *recording);
/* emit.c: an error if `path` is the recording or one of the dumps found so far. */
int emit_spare_inputs(const struct recording *recording, const char *path);
/* emit.c: starts the recording to write: a file, or a stream. */
int emit_start_output(struct recording *recording);
/* emit.c: starts an output; whatever is wrong with its place is reported. */
int emit_start(const struct recording *recording, const char *path, mode_t mode,
               struct outfile **out);
/*
 * emit.c: starts a file for every image that place laid out. They are written from then on, beside
 * what the caller does until emit_finish, which helps with what is left: they and the recording are
 * made of different inputs. Build-ids and sizes are there after emit_finish, and what is to be said
 * of the images is said then, in their order. It may be called again. 0 or a negative errno,
 * reported.
 */
int emit_begin(struct recording *recording);
int emit_finish(struct recording *recording);
/* emit.c: waits for what is being written, and leaves the rest out. Nothing is said of images. */
void emit_stop(struct recording *recording);
/* directory.c: the same where the output is to be a directory. */
int directory_start(struct recording *recording);
/* directory.c: the files that the records of further parts go to; NULL: they go to the output. */
const int *directory_parts(const struct recording *recording);
/* directory.c: copies the code of the kernel; nothing to do where the output is no directory. */
int directory_fill(struct recording *recording);
/* directory.c: gives the directory its name, with all that is in it. */
int directory_commit(struct recording *recording);
void directory_clear(struct recording *recording);
/* replace.c: warns if an image is about to replace one that another output has code in. */
void replace_warn(const struct recording *recording, size_t number);
/* rewrite.c: the recording again, with the new mapping events. */
int rewrite_records(struct recording *recording);
/* unlogged.c: warns of processes that ran code of which no dump tells, once samples are counted. */
int unlogged_report(const struct recording *recording);

#endif /* INJECT_RECORDING_H */
