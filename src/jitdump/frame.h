/* SPDX-License-Identifier: MIT */
/* The 16 bytes that each record starts with. */
#ifndef JITDUMP_FRAME_H
#define JITDUMP_FRAME_H

#include "format.h"
#include "window.h"

#include "jitinject/bytes.h"

/* Of a record that is longer, bytes are passed over. */
#define FRAME_SHORT 4096

struct frame {
    uint64_t offset; /* of the record */
    uint32_t id;
    uint32_t size; /* of the whole record, as written */
    uint64_t time;
};

/* False: fewer than 16 bytes are left, or they cannot be read. */
static inline bool frame_read(struct window *window, uint64_t offset, struct frame *frame)
{
    uint8_t raw[FRAME_SIZE];

    if (!window_peek(window, offset, raw, sizeof(raw)))
        return false;
    frame->offset = offset;
    frame->id = bytes_u32(raw + FRAME_ID, window->swapped);
    frame->size = bytes_u32(raw + FRAME_TOTAL_SIZE, window->swapped);
    frame->time = bytes_u64(raw + FRAME_TIMESTAMP, window->swapped);
    return true;
}

/* Bytes that a record of a known type has at least; 0 for an unknown type. */
static inline uint32_t frame_fixed_size(uint32_t id)
{
    /* Fields up to the name, the entries or the data. A name has at least its NUL. */
    static const uint32_t sizes[] = {
        [JITDUMP_LOAD] = LOAD_NAME + 1,
        [JITDUMP_MOVE] = MOVE_END,
        [JITDUMP_DEBUG_INFO] = DEBUG_ENTRIES,
        [JITDUMP_CLOSE] = FRAME_SIZE,
        [JITDUMP_UNWINDING_INFO] = UNWINDING_DATA,
    };

    return id < sizeof(sizes) / sizeof(*sizes) ? sizes[id] : 0;
}

/*
 * Lets the window hold all of a short record and the start of what follows it, which is looked at
 * before the record is: where the window ends, that is one read instead of three.
 */
static inline void frame_hold(struct window *window, const struct frame *frame)
{
    const uint64_t left = window->size - frame->offset;
    const uint64_t wanted = (uint64_t)frame->size + FIXED_MAX;

    if (frame->size <= FRAME_SHORT)
        window_at(window, frame->offset, wanted < left ? (size_t)wanted : (size_t)left, NULL);
}

/* Whether the dump has all bytes that the record claims. */
static inline bool frame_is_whole(const struct window *window, const struct frame *frame)
{
    return frame->size <= window->size - frame->offset;
}

#endif /* JITDUMP_FRAME_H */
