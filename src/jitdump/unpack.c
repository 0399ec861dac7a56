/* SPDX-License-Identifier: MIT */
#include "unpack.h"

#include "jitinject/io.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (64 * 1024)

bool unpack_is_gzip(int fd)
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

int unpack_gzip(int fd, const char *path, const struct diag *diag)
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
