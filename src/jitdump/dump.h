/* SPDX-License-Identifier: MIT */
/* What the modules of this part know of an open dump. */
#ifndef JITDUMP_DUMP_H
#define JITDUMP_DUMP_H

#include "jitinject/infile.h"
#include "jitinject/jitdump.h"

struct jitdump {
    char *path;
    struct infile file;
    uint64_t first_record; /* offset */
    struct jitdump_header header;
};

#endif /* JITDUMP_DUMP_H */
