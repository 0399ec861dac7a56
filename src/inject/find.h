/* SPDX-License-Identifier: MIT */
/*
 * Where a file that a recorded process wrote for perf, a jitdump for one, may be now. The recording
 * has its path as the process saw it; since then the file may have gone with a container, been
 * packed, or been taken along with the recording.
 */
#ifndef INJECT_FIND_H
#define INJECT_FIND_H

#include "jitinject/inject.h"

#include <limits.h>
#include <sys/stat.h>

enum find_place {
    FIND_RECORDED, /* the path as recorded */
    FIND_PROCESS,  /* that path below the root of the process, which lives */
    FIND_BESIDE,   /* in the directory of the recording */
    FIND_GIVEN,    /* in a directory that the user named, or in it below the recorded path */
};

/* A search. The first members are the file that find_next found. */
struct find {
    char path[PATH_MAX];
    enum find_place place;
    bool packed;        /* its name has .gz at the end */
    struct stat status; /* of the file; of a link itself if it leads nowhere */

    const struct inject_options *options;
    const char *wanted;
    uint32_t pid;
    uint64_t until;
    bool lives;    /* the process, once it has been asked for */
    unsigned next; /* number of the next candidate */
    struct find_seen {
        dev_t device;
        ino_t inode;
    } * seen;
    size_t seen_count, seen_capacity;
};

/*
 * Starts the search for `path` of process `pid`; `path` and `options` are borrowed until find_end.
 * `until`: ns of CLOCK_MONOTONIC, when the recording ended, or 0; a process of that pid that began
 * later is another one.
 */
void find_begin(struct find *find, const struct inject_options *options, const char *path,
                uint32_t pid, uint64_t until);
/*
 * Goes to the next file that is there, in the order of enum find_place, each first as it is called
 * and then packed. No file comes twice, whatever its names. False: that was all.
 */
bool find_next(struct find *find);
void find_end(struct find *find);

/* Whether a process of that pid lives and may be the recorded one; `until` as above. */
bool find_lives(uint32_t pid, uint64_t until);

#endif /* INJECT_FIND_H */
