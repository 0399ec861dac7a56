/* SPDX-License-Identifier: MIT */
#include "jitinject/outfile.h"

#include "jitinject/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct outfile {
    int fd;
    char *path;                /* the name it is to have */
    char *directory;           /* of the path that it was started with */
    char *temporary;           /* a name in there, once it has one */
    struct leftover *leftover; /* the same */
    bool stream;
    bool replaced; /* another file had the name */
    bool committed;
};

/* A name beside the final one that nobody else uses; `attempt` tells tries apart. */
static char *temporary_name(const struct outfile *file, unsigned attempt)
{
    const char *base = strrchr(file->path, '/');
    char *name;

    base = base ? base + 1 : file->path;
    if (asprintf(&name, "%s/.%.200s.%ld-%u.tmp", file->directory, base, (long)getpid(), attempt) <
        0)
        return NULL;
    return name;
}

/* Where the file system has no unnamed files. O_EXCL: never through somebody's link. */
static int open_named(struct outfile *file, mode_t mode)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char *name = temporary_name(file, attempt);
        if (!name)
            return -ENOMEM;
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0) {
            file->temporary = name;
            file->leftover = leftovers_add(name);
            return fd;
        }
        free(name);
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

int outfile_new(const char *path, mode_t mode, struct outfile **out)
{
    struct outfile *file = calloc(1, sizeof(*file));
    int err = -ENOMEM;

    *out = NULL;
    if (!file)
        return err;
    file->fd = -1;
    file->path = strdup(path);
    file->directory = strdup(path);
    if (!file->path || !file->directory)
        goto fail;

    char *slash = strrchr(file->directory, '/');
    if (!slash)
        strcpy(file->directory, *path ? "." : "");
    else if (slash == file->directory)
        slash[1] = '\0';
    else
        *slash = '\0';

    file->fd = open(file->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    err = file->fd < 0 ? -errno : 0;
    if (err == -EOPNOTSUPP || err == -EISDIR || err == -EINVAL) {
        file->fd = open_named(file, mode);
        err = file->fd < 0 ? file->fd : 0;
    }
    if (err)
        goto fail;
    *out = file;
    return 0;
fail:
    outfile_free(file);
    return err;
}

int outfile_new_stream(const char *path, struct outfile **out)
{
    const bool standard = strcmp(path, "-") == 0;
    struct outfile *file = calloc(1, sizeof(*file));
    int err = -ENOMEM;

    *out = NULL;
    if (!file)
        return err;
    file->fd = -1;
    file->stream = true;
    file->path = strdup(standard ? "standard output" : path);
    if (!file->path)
        goto fail;
    file->fd =
        standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
    if (file->fd < 0) {
        err = -errno;
        goto fail;
    }
    *out = file;
    return 0;
fail:
    outfile_free(file);
    return err;
}

bool outfile_is_stream(const struct outfile *file)
{
    return file->stream;
}

int outfile_fd(const struct outfile *file)
{
    return file->fd;
}

const char *outfile_path(const struct outfile *file)
{
    return file->path;
}

int outfile_rename(struct outfile *file, const char *path)
{
    char *copy = strdup(path);

    if (!copy)
        return -ENOMEM;
    free(file->path);
    file->path = copy;
    return 0;
}

/*
 * Gives an unnamed file a name, which must not be there. By its descriptor alone that takes half as
 * long and no /proc, but before Linux 6.10 CAP_DAC_READ_SEARCH.
 */
static int link_as(const struct outfile *file, const char *name)
{
    char unnamed[64];

    if (linkat(file->fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0)
        return 0;
    if (errno == EEXIST)
        return -EEXIST;
    snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* An unnamed file cannot replace a name, so it gets a temporary one first. */
static int give_temporary_name(struct outfile *file)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char *name = temporary_name(file, attempt);
        if (!name)
            return -ENOMEM;
        const int err = link_as(file, name);
        if (!err) {
            file->temporary = name;
            file->leftover = leftovers_add(name);
            return 0;
        }
        free(name);
        if (err != -EEXIST)
            return err;
    }
    return -EEXIST;
}

/* Gives the file its name in place of what has it. */
static int replace_name(struct outfile *file)
{
    int err = file->temporary ? 0 : give_temporary_name(file);

    if (err)
        return err;
    file->replaced = faccessat(AT_FDCWD, file->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (rename(file->temporary, file->path) < 0)
        return -errno;
    leftovers_drop(file->leftover);
    free(file->temporary);
    file->temporary = NULL;
    return 0;
}

static void take_name_away(struct outfile *file)
{
    unlink(file->path);
    file->committed = false;
}

/* A network file system may say only now that the disk is full. */
static int close_whole(struct outfile *file)
{
    const int fd = file->fd;

    file->fd = -1;
    if (close(fd) == 0 || errno == EINTR)
        return 0;
    const int err = -errno;
    if (file->committed)
        take_name_away(file);
    return err;
}

int outfile_commit_new(struct outfile *file)
{
    int err = file->temporary ? -EEXIST : 0;

    if (!err && !file->stream)
        err = link_as(file, file->path);
    if (err)
        return err;
    file->committed = !file->stream;
    return close_whole(file);
}

int outfile_commit(struct outfile *file)
{
    int err = outfile_commit_new(file);

    if (err != -EEXIST)
        return err;
    err = replace_name(file);
    file->committed = !err;
    return err ? err : close_whole(file);
}

void outfile_revoke(struct outfile *file)
{
    if (file && file->committed && !file->replaced)
        take_name_away(file);
}

void outfile_free(struct outfile *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    leftovers_drop(file->leftover);
    free(file->temporary);
    free(file->directory);
    free(file->path);
    free(file);
}
