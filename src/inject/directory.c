/* SPDX-License-Identifier: MIT */
/*
 * A recording that has the code of the kernel beside it (perf record --kcore) becomes a directory
 * again: it has no place in one file.
 */
#include "recording.h"

#include "jitinject/io.h"
#include "jitinject/outdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (64u << 10)

int directory_start(struct recording *recording)
{
    const char *path = recording->options->output;
    struct stat status;
    size_t count;

    perfdata_kernel_files(recording->data, &count);
    /* Whether a directory was written by us or recorded by perf nobody can tell. */
    if (lstat(path, &status) == 0) {
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                    "exists, and a recording with the code of the kernel is written as a new "
                    "directory: remove it, or choose another output");
        return -EEXIST;
    }
    int err = emit_start(recording, path, 0600, &recording->output);
    for (size_t i = 0; i < count && !err; i++)
        err = emit_start(recording, path, 0600, &recording->kernel[i]);
    return err;
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
    size_t count;
    const struct perfdata_kernel_file *files = perfdata_kernel_files(recording->data, &count);
    uint8_t *buffer = malloc(CHUNK);
    int err = buffer ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && recording->kernel[i] && !err; i++) {
        err = copy(&files[i], outfile_fd(recording->kernel[i]), buffer);
        if (err)
            diag_report(recording->diag, DIAG_ERROR, recording->options->output, DIAG_NO_OFFSET,
                        "cannot copy %s: %s", files[i].name, strerror(-err));
    }
    free(buffer);
    return err;
}

int directory_commit(struct recording *recording)
{
    size_t count;
    const struct perfdata_kernel_file *files = perfdata_kernel_files(recording->data, &count);
    struct outdir_entry entries[PERFDATA_KERNEL_FILES + 1] = {{"data", recording->output}};

    for (size_t i = 0; i < count; i++)
        entries[i + 1] = (struct outdir_entry){files[i].name, recording->kernel[i]};
    const int err = outdir_commit(recording->options->output, entries, count + 1);
    if (err)
        diag_report(recording->diag, DIAG_ERROR, recording->options->output, DIAG_NO_OFFSET,
                    "cannot be written: %s", strerror(-err));
    return err;
}

void directory_clear(struct recording *recording)
{
    for (size_t i = 0; i < PERFDATA_KERNEL_FILES; i++)
        outfile_free(recording->kernel[i]);
}
