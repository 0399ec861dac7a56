/* SPDX-License-Identifier: MIT */
#include "directory.h"

#include "create.h"

#include "jitinject/io.h"
#include "jitinject/outdir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (64u << 10)

struct directory {
    const struct recording *recording;
    size_t parts;                             /* files with records beside "data" */
    size_t count;                             /* of all files */
    struct outdir_entry *entries;             /* "data", the parts, and those of the kernel */
    char (*names)[sizeof("data.4294967295")]; /* of the parts */
    int *part_fds;
};

/* What files there are to be, without the files. 0 or -ENOMEM. */
static int lay_out(struct directory *directory)
{
    const struct perfdata *data = directory->recording->data;
    size_t kernel_count;
    const struct perfdata_kernel_file *kernel = perfdata_kernel_files(data, &kernel_count);

    directory->parts = perfdata_further_parts(data);
    directory->count = 1 + directory->parts + kernel_count;
    directory->entries = calloc(directory->count, sizeof(*directory->entries));
    directory->names = calloc(directory->parts + 1, sizeof(*directory->names));
    directory->part_fds = calloc(directory->parts + 1, sizeof(*directory->part_fds));
    if (!directory->entries || !directory->names || !directory->part_fds)
        return -ENOMEM;
    directory->entries[0].name = "data";
    for (size_t i = 0; i < directory->parts; i++) {
        snprintf(directory->names[i], sizeof(*directory->names), "data.%u", (unsigned)i);
        directory->entries[1 + i].name = directory->names[i];
    }
    for (size_t i = 0; i < kernel_count; i++)
        directory->entries[1 + directory->parts + i].name = kernel[i].name;
    return 0;
}

static int start_files(const struct directory *directory)
{
    const struct recording *recording = directory->recording;
    int err = 0;

    for (size_t i = 0; i < directory->count && !err; i++)
        err = create_file(recording, recording->options->output, 0600, &directory->entries[i].file);
    for (size_t i = 0; i < directory->parts && !err; i++)
        directory->part_fds[i] = outfile_fd(directory->entries[1 + i].file);
    return err;
}

int directory_new(const struct recording *recording, struct directory **out)
{
    const char *path = recording->options->output;
    struct stat status;

    *out = NULL;
    /* Whether a directory was written by us or recorded by perf nobody can tell. */
    if (lstat(path, &status) == 0) {
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                    "exists, and a recording that is a directory is written as a new one: remove "
                    "it, or choose another output");
        return -EEXIST;
    }
    struct directory *directory = calloc(1, sizeof(*directory));
    if (!directory)
        return -ENOMEM;
    directory->recording = recording;
    int err = lay_out(directory);
    if (!err)
        err = start_files(directory);
    if (err)
        directory_free(directory);
    else
        *out = directory;
    return err;
}

struct outfile *directory_data(const struct directory *directory)
{
    return directory->entries[0].file;
}

const int *directory_parts(const struct directory *directory)
{
    return directory->parts ? directory->part_fds : NULL;
}

/* Where the next bytes lie that are not in a hole, and where they end; false: there are none. */
static bool next_bytes(const struct perfdata_kernel_file *file, uint64_t *at, uint64_t *end)
{
    const off_t begin = lseek(file->fd, (off_t)*at, SEEK_DATA);
    const off_t hole = begin < 0 ? -1 : lseek(file->fd, begin, SEEK_HOLE);

    if (hole < 0 || (uint64_t)begin >= file->size)
        return false;
    *at = (uint64_t)begin;
    *end = (uint64_t)hole < file->size ? (uint64_t)hole : file->size;
    return true;
}

/* A file may claim any size by its holes, which stay such. */
static int copy(const struct perfdata_kernel_file *from, int to, uint8_t *buffer)
{
    uint64_t at = 0, end;

    if (ftruncate(to, (off_t)from->size) < 0)
        return -errno;
    while (next_bytes(from, &at, &end)) {
        while (at < end) {
            const ssize_t got = io_pread(from->fd, buffer, end - at < CHUNK ? end - at : CHUNK, at);
            if (got <= 0) /* it has become shorter since it was opened */
                return got < 0 ? (int)got : -EBADMSG;
            const int err = io_pwrite(to, buffer, (size_t)got, at);
            if (err)
                return err;
            at += (uint64_t)got;
        }
    }
    return 0;
}

int directory_fill(struct directory *directory)
{
    const struct recording *recording = directory->recording;
    size_t count;
    const struct perfdata_kernel_file *files = perfdata_kernel_files(recording->data, &count);
    uint8_t *buffer = malloc(CHUNK);
    int err = buffer ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !err; i++) {
        const struct outdir_entry *entry = &directory->entries[1 + directory->parts + i];
        err = copy(&files[i], outfile_fd(entry->file), buffer);
        if (err)
            diag_report(recording->diag, DIAG_ERROR, recording->options->output, DIAG_NO_OFFSET,
                        "cannot copy %s: %s", entry->name, strerror(-err));
    }
    free(buffer);
    return err;
}

int directory_commit(struct directory *directory)
{
    return outdir_commit(directory->recording->options->output, directory->entries,
                         directory->count);
}

void directory_free(struct directory *directory)
{
    if (!directory)
        return;
    for (size_t i = 0; directory->entries && i < directory->count; i++)
        outfile_free(directory->entries[i].file);
    free(directory->entries);
    free(directory->names);
    free(directory->part_fds);
    free(directory);
}
