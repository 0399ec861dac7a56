/* SPDX-License-Identifier: MIT */
/*
 * Where records begin and end: what can be told from the 16 bytes that each record starts with and
 * from what stands behind it.
 */
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

/* Bytes that a record of a known type has at least; 0 for an unknown type. */
uint32_t frame_fixed_size(uint32_t id);

/* False: fewer than 16 bytes are left, or they cannot be read. */
bool frame_read(struct window *window, uint64_t offset, struct frame *frame);

/* Whether it can be a record: of a known type and long enough for that. It may be cut. */
bool frame_is_known(const struct frame *frame);

/*
 * Whether a whole record is at `offset`. Of a type that is not known, or with less in it than its
 * type has, it is one only if its size leads to the next.
 */
bool frame_begins(struct window *window, uint64_t offset);

/* Whether what is at `offset` can stand behind a record: a record, a cut one, or the end. */
bool frame_follows(struct window *window, uint64_t offset);

#endif /* JITDUMP_FRAME_H */
