/* SPDX-License-Identifier: MIT */
/* A regular file to read from, at any offset. One that was packed with gzip is unpacked first. */
#ifndef JITINJECT_INFILE_H
#define JITINJECT_INFILE_H

#include "jitinject/diag.h"

#include <stdint.h>
#include <sys/types.h>

struct infile {
    int fd;        /* of the file, or of the unnamed temporary one that it was unpacked into */
    uint64_t size; /* as it was when opened; what a live writer adds later does not count */
    dev_t device;  /* identity of the file itself */
    ino_t inode;
};

/*
 * A failure is reported to `diag` as a warning: -EBADMSG where it is no regular file, else that of
 * open(2) or of the unpacking. Of packed data that is cut or broken, what comes before counts, and
 * a warning says so. After a failure `file` is closed.
 */
int infile_open(const char *path, const struct diag *diag, struct infile *file);
void infile_close(struct infile *file);

/* What infile_close takes for a file that is not open. */
#define INFILE_CLOSED                                                                              \
    (struct infile)                                                                                \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

#endif /* JITINJECT_INFILE_H */
