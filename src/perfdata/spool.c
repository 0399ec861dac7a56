/* SPDX-License-Identifier: MIT */
/*
 * What comes through a pipe, made a file: the records are read twice, and the file form not even
 * front to back. It is read to its end, which is when the recorded programs are at their ends too,
 * so their dumps do not grow any more.
 */
#include "internal.h"

#include "jitinject/io.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_MAX (32u << 20)
#define CHUNK_SIZE (256u << 10)

struct spool {
    int fd;
    bool in_memory;
    uint64_t size;
    uint8_t chunk[CHUNK_SIZE];
};

/* Bytes read, 0 at the end, or a negative errno. */
static ssize_t read_some(int fd, void *buffer, size_t size)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    for (;;) {
        /* A fifo that was opened without waiting seems to be at its end until somebody writes. */
        if (poll(&wanted, 1, -1) < 0) {
            if (errno != EINTR)
                return -errno;
            continue;
        }
        ssize_t got = read(fd, buffer, size);
        if (got >= 0)
            return got;
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

/* Moves what is in memory to the disk. */
static int move_to_disk(struct spool *spool)
{
    int disk = io_spool_file(), err = 0;

    if (disk < 0)
        return disk;
    for (uint64_t at = 0; at < spool->size && !err;) {
        ssize_t got = io_pread(spool->fd, spool->chunk, sizeof(spool->chunk), at);
        if (got <= 0)
            err = got < 0 ? (int)got : -EIO;
        else
            err = io_pwrite(disk, spool->chunk, (size_t)got, at);
        at += got > 0 ? (uint64_t)got : 0;
    }
    close(err ? disk : spool->fd);
    if (!err) {
        spool->fd = disk;
        spool->in_memory = false;
    }
    return err;
}

/* Makes room for a chunk. Where there are no files in memory, all goes to the disk. */
static int make_room(struct spool *spool)
{
    if (spool->fd < 0) {
        spool->fd = memfd_create("perf.data", MFD_CLOEXEC);
        spool->in_memory = spool->fd >= 0;
        if (spool->fd < 0)
            spool->fd = io_spool_file();
        return spool->fd < 0 ? spool->fd : 0;
    }
    return spool->in_memory && spool->size + CHUNK_SIZE > MEMORY_MAX ? move_to_disk(spool) : 0;
}

static int fail_to_keep(struct perfdata *data, int err)
{
    return perfdata_fail(data, err, DIAG_NO_OFFSET,
                         "what comes through it cannot be kept in a temporary file: %s; set TMPDIR "
                         "to a directory with more room",
                         strerror(-err));
}

static int fill(struct perfdata *data, struct spool *spool)
{
    bool known = false;

    for (;;) {
        int err = make_room(spool);
        if (err)
            return fail_to_keep(data, err);
        ssize_t got = read_some(data->fd, spool->chunk, sizeof(spool->chunk));
        if (got < 0)
            return perfdata_fail(data, (int)got, spool->size, "cannot read it: %s",
                                 strerror(-(int)got));
        if (got == 0)
            return 0;
        err = io_pwrite(spool->fd, spool->chunk, (size_t)got, spool->size);
        if (err)
            return fail_to_keep(data, err);
        spool->size += (uint64_t)got;
        /* Another stream need not have an end; what it is instead is told from its beginning. */
        if (!known && spool->size >= HEADER_MAGIC) {
            uint8_t magic[HEADER_MAGIC];
            if (io_pread(spool->fd, magic, sizeof(magic), 0) != HEADER_MAGIC)
                return fail_to_keep(data, -EIO);
            known = header_has_magic(magic);
            if (!known)
                return 0;
        }
    }
}

int spool_input(struct perfdata *data)
{
    struct spool *spool = malloc(sizeof(*spool));

    if (!spool)
        return -ENOMEM;
    spool->fd = -1;
    spool->in_memory = false;
    spool->size = 0;
    int err = fill(data, spool);
    if (spool->fd >= 0) {
        close(data->fd);
        data->fd = spool->fd;
        data->file_size = spool->size;
    }
    free(spool);
    return err;
}
