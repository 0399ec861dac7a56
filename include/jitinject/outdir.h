/* SPDX-License-Identifier: MIT */
/* A directory that exists with all of its files or not at all. */
#ifndef JITINJECT_OUTDIR_H
#define JITINJECT_OUTDIR_H

#include "jitinject/outfile.h"

#include <stddef.h>

struct outdir_entry {
    const char *name; /* in the directory; may have one directory before it, as in "of/this" */
    struct outfile *file;
};

/*
 * Commits files, which were started with outfile_new(path), as a new directory of that name. What
 * is there already stays, unless it is an empty directory. 0 or a negative errno: -ENOTEMPTY,
 * -EEXIST or -ENOTDIR where something is there; on an error nothing is left behind.
 */
int outdir_commit(const char *path, const struct outdir_entry *entries, size_t count);

#endif /* JITINJECT_OUTDIR_H */
