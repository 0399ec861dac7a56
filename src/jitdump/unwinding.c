/* SPDX-License-Identifier: MIT */
#include "unwinding.h"

#include "dump.h"
#include "format.h"

#include "jitinject/bytes.h"

/* Bytes that somebody else has read, or else the view. */
static int bytes_at(struct jitdump_view *view, const struct jitdump_span *heard,
                    const struct jitdump *dump, uint64_t offset, uint64_t size,
                    const uint8_t **bytes)
{
    *bytes = jitdump_span_at(heard, dump, offset, size);
    return *bytes ? 0 : jitdump_view_at(view, dump, offset, size, bytes);
}

int jitdump_unwinding(struct jitdump_view *view, const struct jitdump_span *heard,
                      const struct jitdump *dump, uint64_t offset,
                      struct jitdump_unwinding *unwinding)
{
    const bool swapped = dump->header.swapped;
    const uint8_t *bytes;
    int err = bytes_at(view, heard, dump, offset, UNWINDING_DATA, &bytes);

    unwinding->frames = NULL;
    if (err || !bytes)
        return err;
    const uint64_t size = bytes_u64(bytes + UNWINDING_SIZE, swapped);
    const uint64_t header_size = bytes_u64(bytes + UNWINDING_HEADER_SIZE, swapped);
    if (header_size > size)
        return 0;
    err = bytes_at(view, heard, dump, offset + UNWINDING_DATA, size, &bytes);
    if (err || !bytes)
        return err;
    unwinding->frames_size = (size_t)(size - header_size);
    unwinding->header_size = (size_t)header_size;
    unwinding->header_first = unwinding_has_both(size, header_size) &&
                              unwinding_header_first(bytes, bytes + unwinding->frames_size);
    unwinding->frames = unwinding->header_first ? bytes + header_size : bytes;
    unwinding->header = unwinding->header_first ? bytes : bytes + unwinding->frames_size;
    return 0;
}
