/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory: "data" is a recording like others, and the threads of
 * perf record --threads have written the files data.0, data.1 and so on beside it, which hold
 * records and nothing else.
 * tools/perf/Documentation/perf.data-directory-format.txt of Linux.
 */
#include "internal.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* DIR_FORMAT: the version of the form, or that all records are in "data". Nothing is told where
 * perf record did not come to its end. */
#define ONE_FILE 0
#define NOT_TOLD UINT64_MAX

static int add_part(struct perfdata *data, const struct part *part)
{
    if (!array_reserve(&data->files.parts, &data->files.part_capacity, data->files.part_count + 1))
        return -ENOMEM;
    data->files.parts[data->files.part_count++] = *part;
    return 0;
}

/* 0, -ENOENT: there is no file of that number, or another errno, reported. */
static int open_part(struct perfdata *data, unsigned number, bool force)
{
    struct stat status;
    char *path;
    int err = 0;

    if (asprintf(&path, "%s/data.%u", data->files.name, number) < 0)
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
        err = add_part(data, &(struct part){.path = path,
                                            .fd = fd,
                                            .records = {0, (uint64_t)status.st_size},
                                            .device = status.st_dev,
                                            .inode = status.st_ino});
    }
    data->path = data->files.parts[0].path;
    if (err) {
        if (fd >= 0)
            close(fd);
        free(path);
    }
    return err;
}

/* What DIR_FORMAT says. */
static uint64_t read_version(const struct perfdata *data)
{
    uint8_t bytes[sizeof(uint64_t)];

    for (size_t i = 0; i < data->header.feature_count; i++) {
        const struct feature *feature = &data->header.features[i];
        if (feature->bit == PERFDATA_FEATURE_DIR_FORMAT && feature->payload.size >= sizeof(bytes) &&
            io_pread(data->fd, bytes, sizeof(bytes), feature->payload.offset) == sizeof(bytes))
            return bytes_u64(bytes, data->swapped);
    }
    return NOT_TOLD;
}

int parts_open(struct perfdata *data, bool force)
{
    char *path = strdup(data->path);
    int err = path ? add_part(data, &(struct part){.path = path,
                                                   .fd = data->fd,
                                                   .records = data->header.records,
                                                   .device = data->files.device,
                                                   .inode = data->files.inode})
                   : -ENOMEM;

    if (err) {
        free(path);
        return err;
    }
    if (!data->files.is_directory)
        return 0;
    const uint64_t version = read_version(data);
    for (unsigned number = 0; version != ONE_FILE && !err; number++)
        err = open_part(data, number, force);
    data->files.split = version != ONE_FILE && version != NOT_TOLD;
    return err == -ENOENT ? 0 : err;
}

size_t perfdata_further_parts(const struct perfdata *data)
{
    return data->files.split ? data->files.part_count - 1 : 0;
}

bool perfdata_has_file(const struct perfdata *data, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < data->files.part_count; i++)
        if (data->files.parts[i].device == device && data->files.parts[i].inode == inode)
            return true;
    return false;
}

void parts_enter(struct perfdata *data, size_t number)
{
    const struct part *part = &data->files.parts[number];

    data->files.part = number;
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

    for (size_t i = 0; i < data->files.part_count; i++)
        if (data->files.parts[i].records.size > size)
            size = data->files.parts[i].records.size;
    return size;
}

void parts_close(struct perfdata *data)
{
    for (size_t i = 0; i < data->files.part_count; i++) {
        if (i > 0) /* the first is data->fd */
            close(data->files.parts[i].fd);
        free(data->files.parts[i].path);
    }
    free(data->files.parts);
}
