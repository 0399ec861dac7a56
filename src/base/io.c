/* SPDX-License-Identifier: MIT */
#include "jitinject/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t io_pread_some(int fd, void *buffer, size_t size, uint64_t offset)
{
    for (;;) {
        const ssize_t got = pread(fd, buffer, size, (off_t)offset);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return -errno;
    }
}

ssize_t io_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = io_pread_some(fd, (char *)buffer + done, size - done, offset + done);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Takes so many bytes off the front of the parts, and parts that are empty. */
static void pass_over(struct iovec **parts, size_t *count, size_t size)
{
    for (; *count && size >= (*parts)->iov_len; ++*parts, --*count)
        size -= (*parts)->iov_len;
    if (*count) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + size;
        (*parts)->iov_len -= size;
    }
}

int io_pwritev(int fd, struct iovec *parts, size_t count, uint64_t offset)
{
    pass_over(&parts, &count, 0);
    while (count) {
        ssize_t put = pwritev(fd, parts, (int)count, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? -errno : -EIO;
        pass_over(&parts, &count, (size_t)put);
        offset += (uint64_t)put;
    }
    return 0;
}

int io_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
    struct iovec part = {(void *)(uintptr_t)buffer, size};

    return io_pwritev(fd, &part, 1, offset);
}

int io_write(int fd, const void *buffer, size_t size)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    size_t done = 0;

    while (done < size) {
        ssize_t put = write(fd, (const char *)buffer + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        /* A pipe may have been made not to wait by another program that has it too. */
        if (put < 0 && errno == EAGAIN && (poll(&wanted, 1, -1) >= 0 || errno == EINTR))
            continue;
        if (put <= 0)
            return put < 0 ? -errno : -EIO;
        done += (size_t)put;
    }
    return 0;
}

int io_spool_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];

    if (!dir || !*dir)
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (snprintf(path, sizeof(path), "%s/jitinject-XXXXXX", dir) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

const char *io_open_error(int err)
{
    /* A dump and an output are open for each process, as many as the hard limit allows. */
    if (err == -EMFILE)
        return "too many open files: run it where the hard limit (ulimit -Hn) is higher";
    return strerror(-err);
}
