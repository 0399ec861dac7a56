/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "jitinject/bytes.h"

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

uint32_t frame_fixed_size(uint32_t id)
{
    /* The jitdump specification: fields up to the name, the entries or the data. A name has at
     * least its NUL. */
    static const uint32_t sizes[] = {
        [JITDUMP_LOAD] = JITDUMP_LOAD_NAME + 1,
        [JITDUMP_MOVE] = 64,
        [JITDUMP_DEBUG_INFO] = 32,
        [JITDUMP_CLOSE] = FRAME_SIZE,
        [JITDUMP_UNWINDING_INFO] = 40,
    };

    return id < sizeof(sizes) / sizeof(*sizes) ? sizes[id] : 0;
}
