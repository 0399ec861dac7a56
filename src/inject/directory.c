/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory becomes one again: with the same files of records (perf record
 * --threads), and the code of the kernel, which has no place in one file (--kcore).
 */
#include "recording.h"

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
    size_t parts;                             /* files with records beside "data" */
    size_t count;                             /* of all files */
    struct outdir_entry *entries;             /* "data", the parts, and those of the kernel */
    char (*names)[sizeof("data.4294967295")]; /* of the parts */
    int *part_fds;
};

/* What files there are to be, without the files. 0 or -ENOMEM. */
static int lay_out(struct recording *recording)
{
    struct directory *directory = calloc(1, sizeof(*directory));
    size_t kernel_count;
    const struct perfdata_kernel_file *kernel =
        perfdata_kernel_files(recording->data, &kernel_count);

    if (!directory)
        return -ENOMEM;
    recording->directory = directory;
    directory->parts = perfdata_further_parts(recording->data);
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

int directory_start(struct recording *recording)
{
    const char *path = recording->options->output;
    struct stat status;

    /* Whether a directory was written by us or recorded by perf nobody can tell. */
    if (lstat(path, &status) == 0) {
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                    "exists, and a recording that is a directory is written as a new one: remove "
                    "it, or choose another output");
        return -EEXIST;
    }
    int err = lay_out(recording);
    struct directory *directory = recording->directory;
    for (size_t i = 0; !err && i < directory->count; i++) {
        struct outfile **file = i == 0 ? &recording->output : &directory->entries[i].file;
        err = emit_start(recording, path, 0600, file);
        directory->entries[i].file = *file;
        if (!err && i > 0 && i <= directory->parts)
            directory->part_fds[i - 1] = outfile_fd(*file);
    }
    return err;
}

const int *directory_parts(const struct recording *recording)
{
    const struct directory *directory = recording->directory;

    return directory && directory->parts ? directory->part_fds : NULL;
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

int directory_fill(struct recording *recording)
{
    const struct directory *directory = recording->directory;
    size_t count;
    const struct perfdata_kernel_file *files = perfdata_kernel_files(recording->data, &count);

    if (!directory)
        return 0;
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

int directory_commit(struct recording *recording)
{
    const struct directory *directory = recording->directory;
    const int err = outdir_commit(recording->options->output, directory->entries, directory->count);

    if (err)
        diag_report(recording->diag, DIAG_ERROR, recording->options->output, DIAG_NO_OFFSET,
                    "cannot be written: %s", strerror(-err));
    return err;
}

/* The output itself is freed as any. */
void directory_clear(struct recording *recording)
{
    struct directory *directory = recording->directory;

    if (!directory)
        return;
    for (size_t i = 1; directory->entries && i < directory->count; i++)
        outfile_free(directory->entries[i].file);
    free(directory->entries);
    free(directory->names);
    free(directory->part_fds);
    free(directory);
}
