/* SPDX-License-Identifier: MIT */
/* The 16 bytes that each record starts with. */
#ifndef JITDUMP_FRAME_H
#define JITDUMP_FRAME_H

#include "window.h"

#define FRAME_SIZE 16

struct frame {
    uint64_t offset; /* of the record */
    uint32_t id;
    uint32_t size; /* of the whole record, as written */
    uint64_t time;
};

/* False: fewer than 16 bytes are left, or they cannot be read. */
bool frame_read(struct window *window, uint64_t offset, struct frame *frame);

/* Bytes that a record of a known type has at least; 0 for an unknown type. */
uint32_t frame_fixed_size(uint32_t id);

/* Whether the dump has all bytes that the record claims. */
static inline bool frame_is_whole(const struct window *window, const struct frame *frame)
{
    return frame->size <= window->size - frame->offset;
}

#endif /* JITDUMP_FRAME_H */
