/* SPDX-License-Identifier: MIT */
/* What the modules of this part know of an open dump. */
#ifndef JITDUMP_DUMP_H
#define JITDUMP_DUMP_H

#include "jitinject/jitdump.h"

/* Bytes of the file header that every version has. */
#define HEADER_SIZE 40

struct jitdump {
    char *path;
    int fd;                /* of the dump, or of the temporary file it was unpacked into */
    uint64_t size;         /* as it was when opened; what a live writer adds later does not count */
    uint64_t first_record; /* offset */
    dev_t device;
    ino_t inode;
    struct jitdump_header header;
};

#endif /* JITDUMP_DUMP_H */
