/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory: "data" is a recording like others, and the threads of
 * perf record --threads have written the files data.0, data.1 and so on beside it, which hold
 * records and nothing else.
 * tools/perf/Documentation/perf.data-directory-format.txt of Linux.
 */
#include "internal.h"

#include "jitinject/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_part(struct perfdata *data, char *path, int fd, struct section records)
{
    if (!array_reserve(&data->parts, &data->part_capacity, data->part_count + 1))
        return -ENOMEM;
    data->parts[data->part_count++] = (struct part){path, fd, records};
    return 0;
}

/* 0, -ENOENT: there is no file of that number, or another errno, reported. */
static int open_part(struct perfdata *data, unsigned number, bool force)
{
    struct stat status;
    char *path;
    int err = 0;

    if (asprintf(&path, "%s/data.%u", data->name, number) < 0)
        return -ENOMEM;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    data->path = path;
    if (fd < 0 || fstat(fd, &status) < 0) {
        err = -errno;
        if (err != -ENOENT)
            err = perfdata_fail(data, err, DIAG_NO_OFFSET, "cannot open it: %s", strerror(-err));
    } else if (!S_ISREG(status.st_mode)) {
        err = perfdata_fail(data, -EBADMSG, DIAG_NO_OFFSET, "is not a regular file");
    } else if (!force && !owner_is_trusted(&status)) {
        err = perfdata_fail(data, -EPERM, DIAG_NO_OFFSET, OWNER_IS_NOT_TRUSTED);
    } else {
        err = add_part(data, path, fd, (struct section){0, (uint64_t)status.st_size});
    }
    data->path = data->parts[0].path;
    if (err) {
        if (fd >= 0)
            close(fd);
        free(path);
    }
    return err;
}

int parts_open(struct perfdata *data, bool force)
{
    char *path = strdup(data->path);
    int err = path ? add_part(data, path, data->fd, data->data_section) : -ENOMEM;

    if (err) {
        free(path);
        return err;
    }
    for (unsigned number = 0; data->is_directory && !err; number++)
        err = open_part(data, number, force);
    return err == -ENOENT ? 0 : err;
}

void parts_enter(struct perfdata *data, size_t number)
{
    const struct part *part = &data->parts[number];

    data->part = number;
    data->path = part->path;
    source_move(&data->source, part->fd, part->records.offset,
                part->records.offset + part->records.size);
    /* Each file is compressed by itself. */
    if (data->inflate)
        inflate_reset(data->inflate);
    data->payload = 0;
    data->pieces_end = 0;
}

uint64_t parts_largest(const struct perfdata *data)
{
    uint64_t size = 0;

    for (size_t i = 0; i < data->part_count; i++)
        if (data->parts[i].records.size > size)
            size = data->parts[i].records.size;
    return size;
}

void parts_close(struct perfdata *data)
{
    for (size_t i = 0; i < data->part_count; i++) {
        if (i > 0) /* the first is data->fd */
            close(data->parts[i].fd);
        free(data->parts[i].path);
    }
    free(data->parts);
}
