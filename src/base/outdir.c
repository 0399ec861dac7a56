/* SPDX-License-Identifier: MIT */
/*
 * The files have no names until all of them are written, so the directory is there under a
 * temporary name for a moment only.
 */
#include "jitinject/outdir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As of perf record: nobody else is to see what was recorded. */
#define MODE 0700

/* A new directory beside `path`, whose name nobody else uses. */
static int make_temporary(const char *path, char **out)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (asprintf(out, "%.*s.%.200s.%ld-%u.tmp", (int)(base - path), path, base, (long)getpid(),
                     attempt) < 0)
            return -ENOMEM;
        if (mkdir(*out, MODE) == 0)
            return 0;
        const int err = -errno;
        free(*out);
        if (err != -EEXIST)
            return err;
    }
    return -EEXIST;
}

/* The directory in `directory` that the name begins with; NULL: none, or no memory. */
static char *inner_directory(const char *directory, const char *name)
{
    const char *slash = strchr(name, '/');
    char *inner;

    if (!slash || asprintf(&inner, "%s/%.*s", directory, (int)(slash - name), name) < 0)
        return NULL;
    return inner;
}

static int add(const char *directory, const struct outdir_entry *entry)
{
    char *inner = inner_directory(directory, entry->name), *path;
    int err = 0;

    if (inner && mkdir(inner, MODE) < 0 && errno != EEXIST)
        err = -errno;
    free(inner);
    if (err)
        return err;
    if (asprintf(&path, "%s/%s", directory, entry->name) < 0)
        return -ENOMEM;
    err = outfile_rename(entry->file, path);
    if (!err)
        err = outfile_commit(entry->file);
    free(path);
    return err;
}

static void undo(const char *directory, const struct outdir_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        outfile_revoke(entries[i].file);
    for (size_t i = 0; i < count; i++) {
        char *inner = inner_directory(directory, entries[i].name);
        if (inner)
            rmdir(inner);
        free(inner);
    }
    rmdir(directory);
}

/* A shell that completes the name of a directory ends it in a slash. NULL: no memory. */
static char *without_slash_at_end(const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        size--;
    return strndup(path, size);
}

static int commit(const char *path, const struct outdir_entry *entries, size_t count)
{
    char *temporary;
    int err = make_temporary(path, &temporary);

    if (err)
        return err;
    for (size_t i = 0; i < count && !err; i++)
        err = add(temporary, &entries[i]);
    if (!err && rename(temporary, path) < 0)
        err = -errno;
    if (err)
        undo(temporary, entries, count);
    free(temporary);
    return err;
}

int outdir_commit(const char *path, const struct outdir_entry *entries, size_t count)
{
    char *plain = without_slash_at_end(path);
    const int err = plain ? commit(plain, entries, count) : -ENOMEM;

    free(plain);
    return err;
}
