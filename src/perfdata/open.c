/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
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

/* The input as a regular file. */
static int open_input(struct perfdata *data, bool standard, bool force)
{
    struct stat status;
    int err;

    data->fd = open_path(data, standard);
    if (data->fd < 0 || fstat(data->fd, &status) < 0) {
        err = -errno;
        return perfdata_fail(data, err, DIAG_NO_OFFSET, "cannot open it: %s", strerror(-err));
    }
    if (S_ISDIR(status.st_mode))
        return perfdata_fail(data, -ENOTSUP, DIAG_NO_OFFSET,
                             "is a directory, as perf record --threads and --kcore make; record "
                             "without these");
    data->file_size = (uint64_t)status.st_size;
    /* Of a file on standard input somebody else may have read a part. */
    if (!S_ISREG(status.st_mode) || (standard && lseek(data->fd, 0, SEEK_CUR) != 0)) {
        err = spool_input(data);
        if (err)
            return err;
        if (fstat(data->fd, &status) < 0)
            return -errno;
    } else if (!standard && !force && status.st_uid != 0 && status.st_uid != geteuid()) {
        return perfdata_fail(data, -EPERM, DIAG_NO_OFFSET,
                             "belongs neither to you nor to root; use -f if you trust its owner");
    }
    data->device = status.st_dev;
    data->inode = status.st_ino;
    return 0;
}

int perfdata_open(const char *path, const struct perfdata_options *options, const struct diag *diag,
                  struct perfdata **out)
{
    struct perfdata *data = calloc(1, sizeof(*data));
    const bool standard = strcmp(path, "-") == 0;
    int err = -ENOMEM;

    *out = NULL;
    if (!data)
        return err;
    data->fd = -1;
    data->diag = diag;
    data->path = strdup(standard ? "standard input" : path);
    if (!data->path)
        goto fail;
    err = open_input(data, standard, options && options->force);
    if (!err)
        err = header_read(data);
    if (!err)
        err = source_init(&data->source, data->fd, data->data_section.offset,
                          data->data_section.offset + data->data_section.size, &data->watch);
    if (err)
        goto fail;
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
    inflate_free(data->inflate);
    source_clear(&data->source);
    attrs_clear(&data->attrs);
    free(data->attr_ids);
    free(data->arch);
    free(data->path);
    if (data->fd >= 0)
        close(data->fd);
    free(data);
}

void perfdata_identity(const struct perfdata *data, dev_t *device, ino_t *inode)
{
    *device = data->device;
    *inode = data->inode;
}

const char *perfdata_path(const struct perfdata *data)
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
