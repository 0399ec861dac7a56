/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "jitinject/bytes.h"

/* So many unknown records in a row need not be followed by a known one to be believed. */
#define CHAIN 4

uint32_t frame_fixed_size(uint32_t id)
{
    /* The jitdump specification: fields up to the name, the entries or the data. A name has at
     * least its NUL. */
    static const uint32_t sizes[] = {
        [JITDUMP_LOAD] = CODE_NAME_OFFSET + 1,
        [JITDUMP_MOVE] = 64,
        [JITDUMP_DEBUG_INFO] = 32,
        [JITDUMP_CLOSE] = FRAME_SIZE,
        [JITDUMP_UNWINDING_INFO] = 40,
    };

    return id < sizeof(sizes) / sizeof(*sizes) ? sizes[id] : 0;
}

bool frame_read(struct window *window, uint64_t offset, struct frame *frame)
{
    uint8_t raw[FRAME_SIZE];

    if (!window_peek(window, offset, raw, sizeof(raw)))
        return false;
    frame->offset = offset;
    frame->id = bytes_u32(raw, window->swapped);
    frame->size = bytes_u32(raw + 4, window->swapped);
    frame->time = bytes_u64(raw + 8, window->swapped);
    return true;
}

bool frame_is_known(const struct frame *frame)
{
    uint32_t fixed = frame_fixed_size(frame->id);

    return fixed && frame->size >= fixed;
}

static bool is_whole(const struct window *window, const struct frame *frame)
{
    return frame->size >= FRAME_SIZE && frame->size <= window->size - frame->offset;
}

/* Nothing, or less than a record starts with: the dump ends or is cut here. */
static bool is_end(const struct window *window, uint64_t offset)
{
    return window->size - offset < FRAME_SIZE;
}

bool frame_begins(struct window *window, uint64_t offset)
{
    struct frame frame;

    if (!frame_read(window, offset, &frame) || !is_whole(window, &frame))
        return false;
    for (unsigned hops = 0; !frame_is_known(&frame) && hops < CHAIN; hops++) {
        offset += frame.size;
        if (is_end(window, offset))
            return true;
        if (!frame_read(window, offset, &frame))
            return false;
        if (!frame_is_known(&frame) && !is_whole(window, &frame))
            return false;
    }
    return true;
}

bool frame_follows(struct window *window, uint64_t offset)
{
    struct frame frame;

    if (is_end(window, offset))
        return true;
    if (!frame_read(window, offset, &frame))
        return false;
    return frame_is_known(&frame) || frame_begins(window, offset);
}
