/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include "jitinject/io.h"

#include <string.h>

#define CHUNK ((size_t)16 * 1024)

static bool same_bytes(const struct jitdump *a, uint64_t at_a, const struct jitdump *b,
                       uint64_t at_b, uint64_t size)
{
    uint8_t bytes_a[CHUNK], bytes_b[CHUNK];

    for (uint64_t done = 0; done < size;) {
        size_t part = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
        if (io_pread(a->file.fd, bytes_a, part, at_a + done) != (ssize_t)part ||
            io_pread(b->file.fd, bytes_b, part, at_b + done) != (ssize_t)part ||
            memcmp(bytes_a, bytes_b, part) != 0)
            return false;
        done += part;
    }
    return true;
}

bool jitdump_same_code(const struct jitdump *dump_a, const struct code *a,
                       const struct jitdump *dump_b, const struct code *b)
{
    if (a->size != b->size || a->name_size != b->name_size ||
        (a->flags & CODE_NO_BYTES) != (b->flags & CODE_NO_BYTES))
        return false;
    if (dump_a == dump_b && a->name == b->name)
        return true;
    if (!same_bytes(dump_a, a->name, dump_b, b->name, a->name_size))
        return false;
    return (a->flags & CODE_NO_BYTES) ||
           same_bytes(dump_a, a->name + a->code_delta, dump_b, b->name + b->code_delta, a->size);
}
