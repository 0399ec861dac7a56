/* SPDX-License-Identifier: MIT */
/* A recording, and what the steps have found out of it for those that come next. */
#ifndef INJECT_RECORDING_H
#define INJECT_RECORDING_H

#include "inputs.h"
#include "tally.h"
#include "tasks.h"

#include "jitinject/image.h"
#include "jitinject/inject.h"
#include "jitinject/jitdump.h"
#include "jitinject/perfdata.h"
#include "jitinject/place.h"

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

struct recording {
    const struct inject_options *options;
    const struct diag *diag;
    struct inject_summary *summary;
    struct perfdata *data;
    struct place *place;

    /* What a scan finds. */
    struct marker *markers; /* in order of their records */
    size_t marker_count, marker_capacity;
    bool is_injected;   /* by us or by perf inject: it maps what they write */
    struct tally tally; /* of the samples; their processes only where maps are looked for */
    uint64_t end_time;  /* of anything, ns */
    struct tasks tasks;

    /* What the code is read from. */
    struct ahead *ahead; /* indexes dumps while the recording is scanned */
    struct dump *dumps;
    size_t dump_count, dump_capacity;
    struct maps *maps;            /* NULL: none were looked for */
    struct image_source *sources; /* by code->source: the dumps, then the maps */
    struct inputs inputs;         /* all files that were opened as dumps or maps */
};

/*
 * Opens options->input. `options`, `diag` and `summary` are borrowed until recording_close, which
 * has to follow in any case. 0 or a negative errno.
 */
int recording_open(struct recording *recording, const struct inject_options *options,
                   const struct diag *diag, struct inject_summary *summary);
void recording_close(struct recording *recording);

#endif /* INJECT_RECORDING_H */
