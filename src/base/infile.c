/* SPDX-License-Identifier: MIT */
#include "jitinject/infile.h"

#include "jitinject/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (64 * 1024)

static bool is_gzip(int fd)
{
    static const uint8_t magic[] = {0x1f, 0x8b}; /* RFC 1952, 2.3.1 */
    uint8_t start[sizeof(magic)];

    return io_pread(fd, start, sizeof(start), 0) == sizeof(start) &&
           !memcmp(start, magic, sizeof(magic));
}

/* Copies the unpacked stream; *broken is set where it ends before its end mark. */
static int copy_unpacked(gzFile packed, int to, bool *broken)
{
    uint8_t chunk[CHUNK];
    int got, status;

    while ((got = gzread(packed, chunk, sizeof(chunk))) > 0) {
        int err = io_write(to, chunk, (size_t)got);
        if (err)
            return err;
    }
    gzerror(packed, &status);
    if (status == Z_ERRNO)
        return errno ? -errno : -EIO;
    if (status == Z_MEM_ERROR)
        return -ENOMEM;
    *broken = status != Z_OK && status != Z_STREAM_END;
    return 0;
}

/* Unpacks into an unnamed temporary file; its descriptor, or a negative errno. */
static int unpack(int fd, const char *path, const struct diag *diag)
{
    bool broken = false;
    gzFile packed = NULL;
    int duplicate = -1; /* gzclose closes the descriptor that it is given */
    int spool = io_spool_file();
    int err = spool < 0 ? spool : 0;

    if (err)
        return err;
    duplicate = dup(fd);
    if (duplicate < 0 || lseek(duplicate, 0, SEEK_SET) < 0) {
        err = -errno;
        goto out;
    }
    packed = gzdopen(duplicate, "rb");
    if (!packed) {
        err = -ENOMEM;
        goto out;
    }
    duplicate = -1;
    err = copy_unpacked(packed, spool, &broken);
    if (!err && broken)
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "the gzip data is cut or broken; what could be unpacked is used");
out:
    if (packed)
        gzclose_r(packed);
    if (duplicate >= 0)
        close(duplicate);
    if (err) {
        close(spool);
        return err;
    }
    return spool;
}

static int unpack_if_packed(struct infile *file, const char *path, const struct diag *diag)
{
    struct stat status;

    if (!is_gzip(file->fd))
        return 0;
    const int unpacked = unpack(file->fd, path, diag);
    int err = unpacked < 0 ? unpacked : 0;
    if (!err) {
        close(file->fd);
        file->fd = unpacked;
        err = fstat(unpacked, &status) < 0 ? -errno : 0;
    }
    if (err)
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "cannot be unpacked: %s",
                    strerror(-err));
    else
        file->size = (uint64_t)status.st_size;
    return err;
}

/* Size and identity; only a regular file can be read at any offset and has an end. */
static int look_at(struct infile *file, const char *path, const struct diag *diag)
{
    struct stat status;

    if (fstat(file->fd, &status) < 0) {
        const int err = -errno;
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "%s", strerror(-err));
        return err;
    }
    if (!S_ISREG(status.st_mode)) {
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "is not a regular file");
        return -EBADMSG;
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->size = (uint64_t)status.st_size;
    return 0;
}

int infile_open(const char *path, const struct diag *diag, struct infile *file)
{
    /* O_NONBLOCK: a fifo must not stop the run. */
    *file = (struct infile){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (file->fd < 0) {
        const int err = -errno;
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "cannot be opened: %s",
                    io_open_error(err));
        return err;
    }
    int err = look_at(file, path, diag);
    if (!err)
        err = unpack_if_packed(file, path, diag);
    if (err)
        infile_close(file);
    return err;
}

void infile_close(struct infile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
