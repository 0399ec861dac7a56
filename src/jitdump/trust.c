/* SPDX-License-Identifier: MIT */
#include "trust.h"

#include "jitinject/bytes.h"

#include <limits.h>

/* PID_MAX_LIMIT of Linux on 64 bits, include/linux/threads.h. */
#define PID_LIMIT ((uint32_t)4 << 20)
/* What a name, and what padding, may take without raising doubt. */
#define NAME_LIMIT    65536
#define PADDING_LIMIT 64
/* The name of a file has at least its NUL. */
#define ENTRY_SIZE_MIN (ENTRY_FILE + 1)

static bool pid_is_plausible(uint32_t pid)
{
    return pid > 0 && pid <= PID_LIMIT;
}

static bool range_is_plausible(uint64_t addr, uint64_t size)
{
    return size <= INT_MAX && addr <= UINT64_MAX - size;
}

/* `raw` has the fixed fields, `room` is what the record holds beyond them. */
static bool fields_are_plausible(uint32_t id, const uint8_t *raw, uint32_t room, bool swapped)
{
    switch (id) {
    case JITDUMP_LOAD: {
        uint64_t size = bytes_u64(raw + LOAD_CODE_SIZE, swapped);
        uint64_t name_size = size <= room ? room - size : room; /* all, if it has no bytes */
        return pid_is_plausible(bytes_u32(raw + LOAD_PID, swapped)) &&
               range_is_plausible(bytes_u64(raw + LOAD_CODE_ADDR, swapped), size) &&
               name_size < NAME_LIMIT;
    }
    case JITDUMP_MOVE:
        return pid_is_plausible(bytes_u32(raw + MOVE_PID, swapped)) &&
               range_is_plausible(bytes_u64(raw + MOVE_NEW_CODE_ADDR, swapped),
                                  bytes_u64(raw + MOVE_CODE_SIZE, swapped)) &&
               room < PADDING_LIMIT;
    case JITDUMP_DEBUG_INFO:
        return bytes_u64(raw + DEBUG_NR_ENTRY, swapped) <= room / ENTRY_SIZE_MIN;
    case JITDUMP_UNWINDING_INFO: {
        uint64_t size = bytes_u64(raw + UNWINDING_SIZE, swapped);
        return size <= room && room - size < PADDING_LIMIT &&
               bytes_u64(raw + UNWINDING_HEADER_SIZE, swapped) <= size;
    }
    default:
        return room < PADDING_LIMIT; /* CLOSE */
    }
}

enum trust trust_of(struct window *window, const struct frame *frame,
                    const struct trust_times *times)
{
    uint8_t copy[FIXED_MAX];
    const uint8_t *raw = copy;
    uint32_t fixed = frame_fixed_size(frame->id);
    bool is_known = fixed && frame->size >= fixed;
    bool in_time = trust_in_time(times, frame->time);

    if (frame->size < FRAME_SIZE || (!is_known && !in_time))
        return TRUST_NONE;
    if (!is_known || !in_time)
        return TRUST_DOUBTFUL;
    /* Of a record that is cut within its fields there is no more to see. */
    if (window->size - frame->offset < fixed)
        return TRUST_CERTAIN;
    if (window_holds(window, frame->offset, fixed))
        raw = window->bytes + (frame->offset - window->start);
    else if (!window_peek_far(window, frame->offset, copy, fixed))
        return TRUST_DOUBTFUL;
    return fields_are_plausible(frame->id, raw, frame->size - fixed, window->swapped)
               ? TRUST_CERTAIN
               : TRUST_DOUBTFUL;
}
