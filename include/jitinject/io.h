/* SPDX-License-Identifier: MIT */
/* Whole reads and writes: interrupted and short calls are taken up again. */
#ifndef JITINJECT_IO_H
#define JITINJECT_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Reads up to `size` bytes at `offset`; fewer only where the file ends. Returns the number of bytes
 * read, or a negative errno.
 */
ssize_t io_pread(int fd, void *buffer, size_t size, uint64_t offset);
/* The same as far as one call goes: fewer also where what follows cannot be read, 0 at the end. */
ssize_t io_pread_some(int fd, void *buffer, size_t size, uint64_t offset);

/* Writes all of it; waits where a pipe is full. 0 or a negative errno. */
int io_pwrite(int fd, const void *buffer, size_t size, uint64_t offset);
int io_write(int fd, const void *buffer, size_t size);
/* The same for up to IOV_MAX parts that follow each other in the file; `parts` is used up. */
int io_pwritev(int fd, struct iovec *parts, size_t count, uint64_t offset);

/*
 * An unnamed temporary file (read and write, close-on-exec) in $TMPDIR or /tmp that vanishes with
 * its descriptor. A descriptor or a negative errno.
 */
int io_spool_file(void);

/* What went wrong when a file was opened, for a message; `err` is a negative errno. As strerror. */
const char *io_open_error(int err);

#endif /* JITINJECT_IO_H */
