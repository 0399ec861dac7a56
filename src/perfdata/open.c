/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of that name, or what the shell gave us. */
static int open_path(const struct perfdata *data, bool standard)
{
    if (standard)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    /* Without O_NONBLOCK a fifo that nobody writes to would hold us here, before all checks. */
    return open(data->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Opens data->path. 0 or an errno, reported. */
static int open_file(struct perfdata *data, bool standard, struct stat *status)
{
    data->fd = open_path(data, standard);
    if (data->fd >= 0 && fstat(data->fd, status) == 0)
        return 0;
    int err = -errno;
    return perfdata_fail(data, err, DIAG_NO_OFFSET, "cannot open it: %s", strerror(-err));
}

/* What is there is a directory: its file with the header in its place. */
static int enter_directory(struct perfdata *data, struct stat *status)
{
    close(data->fd);
    data->fd = -1;
    data->files.is_directory = true;
    if (asprintf(&data->files.main_path, "%s/data", data->files.name) < 0) {
        data->files.main_path = NULL;
        return -ENOMEM;
    }
    data->path = data->files.main_path;
    int err = open_file(data, false, status);
    if (!err && !S_ISREG(status->st_mode))
        err = perfdata_fail(data, -EBADMSG, DIAG_NO_OFFSET, "is not a regular file");
    return err;
}

/* The input as a regular file. */
static int open_input(struct perfdata *data, bool standard, bool force)
{
    struct stat status;
    int err = open_file(data, standard, &status);

    if (!err && S_ISDIR(status.st_mode))
        err = enter_directory(data, &status);
    if (err)
        return err;
    data->file_size = (uint64_t)status.st_size;
    /* Of a file on standard input somebody else may have read a part. */
    if (!S_ISREG(status.st_mode) || (standard && lseek(data->fd, 0, SEEK_CUR) != 0)) {
        err = spool_input(data);
        if (err)
            return err;
        if (fstat(data->fd, &status) < 0)
            return -errno;
    } else if (!standard && !force && !owner_is_trusted(&status)) {
        return perfdata_fail(data, -EPERM, DIAG_NO_OFFSET, OWNER_IS_NOT_TRUSTED);
    }
    data->files.device = status.st_dev;
    data->files.inode = status.st_ino;
    return 0;
}

int perfdata_open(const char *path, const struct perfdata_options *options, const struct diag *diag,
                  struct perfdata **out)
{
    struct perfdata *data = calloc(1, sizeof(*data));
    const bool standard = strcmp(path, "-") == 0, force = options && options->force;
    int err = -ENOMEM;

    *out = NULL;
    if (!data)
        return err;
    data->fd = -1;
    data->diag = diag;
    data->files.name = strdup(standard ? "standard input" : path);
    if (!data->files.name)
        goto fail;
    data->path = data->files.name;
    err = open_input(data, standard, force);
    if (!err)
        err = header_read(data);
    if (!err)
        err = parts_open(data, force);
    if (!err && data->files.is_directory)
        err = kernel_open(data, force);
    if (!err)
        err = source_init(&data->source, parts_largest(data), &data->watch);
    if (err)
        goto fail;
    parts_enter(data, 0);
    *out = data;
    return 0;
fail:
    perfdata_free(data);
    return err;
}

void perfdata_free(struct perfdata *data)
{
    if (!data)
        return;
    source_clear(&data->source);
    if (data->is_branch) {
        free(data);
        return;
    }
    inflate_free(data->inflate);
    attrs_clear(&data->attrs);
    free(data->header.attr_ids);
    free(data->arch);
    parts_close(data);
    kernel_close(data);
    free(data->files.main_path);
    free(data->files.name);
    if (data->fd >= 0)
        close(data->fd);
    free(data);
}

const char *perfdata_path(const struct perfdata *data)
{
    return data->files.name;
}

const char *perfdata_record_path(const struct perfdata *data)
{
    return data->path;
}

const struct perfdata_attr *perfdata_attrs(const struct perfdata *data, size_t *count)
{
    *count = data->attrs.count;
    return data->attrs.list;
}

bool perfdata_swapped(const struct perfdata *data)
{
    return data->swapped;
}

const char *perfdata_arch(const struct perfdata *data)
{
    return data->arch;
}
