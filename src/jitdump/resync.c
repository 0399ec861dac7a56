/* SPDX-License-Identifier: MIT */
#include "resync.h"

#include "jitinject/bytes.h"

#include <limits.h>

/* No writer is a longer time (three days in ns, about one in cycles) from its first and from its
 * last record. */
#define TIME_SPAN ((uint64_t)1 << 48)
/* PID_MAX_LIMIT of Linux on 64 bits, include/linux/threads.h. */
#define PID_LIMIT ((uint32_t)4 << 20)
/* What a name and padding may take in a record that is to be believed without others before it. */
#define NAME_LIMIT    65536
#define PADDING_LIMIT 64
/* nr_entry counts entries of addr, line, discrim and at least a NUL. */
#define DEBUG_ENTRY_SIZE 17

void resync_note_time(struct resync_times *times, uint64_t time)
{
    if (!times->known)
        times->first = time;
    times->known = true;
    times->last = time;
}

static bool is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) < TIME_SPAN;
}

/* Either will do: one of the two may itself come from a damaged record. */
static bool time_is_plausible(const struct resync_times *times, uint64_t time)
{
    return !times->known || is_near(time, times->first) || is_near(time, times->last);
}

static bool pid_is_plausible(uint32_t pid)
{
    return pid > 0 && pid <= PID_LIMIT;
}

static bool range_is_plausible(uint64_t addr, uint64_t size)
{
    return size <= INT_MAX && addr <= UINT64_MAX - size;
}

/* The fixed fields of the record, which fit its type; offsets are those of the specification. */
static bool fields_are_plausible(const struct frame *frame, const uint8_t *raw, bool swapped)
{
    switch (frame->id) {
    case JITDUMP_LOAD: {
        uint64_t size = bytes_u64(raw + 40, swapped);
        uint32_t room = frame->size - frame_fixed_size(JITDUMP_LOAD);
        bool has_bytes = size <= room;
        return pid_is_plausible(bytes_u32(raw + 16, swapped)) &&
               range_is_plausible(bytes_u64(raw + 32, swapped), size) &&
               (has_bytes ? room - size : room) < NAME_LIMIT;
    }
    case JITDUMP_MOVE:
        return pid_is_plausible(bytes_u32(raw + 16, swapped)) &&
               range_is_plausible(bytes_u64(raw + 40, swapped), bytes_u64(raw + 48, swapped)) &&
               frame->size - frame_fixed_size(JITDUMP_MOVE) < PADDING_LIMIT;
    case JITDUMP_DEBUG_INFO: {
        uint32_t room = frame->size - frame_fixed_size(JITDUMP_DEBUG_INFO);
        return bytes_u64(raw + 16, swapped) &&
               bytes_u64(raw + 24, swapped) <= room / DEBUG_ENTRY_SIZE;
    }
    case JITDUMP_UNWINDING_INFO: {
        uint64_t size = bytes_u64(raw + 16, swapped);
        uint32_t room = frame->size - frame_fixed_size(JITDUMP_UNWINDING_INFO);
        return size <= room && room - size < PADDING_LIMIT && bytes_u64(raw + 24, swapped) <= size;
    }
    case JITDUMP_CLOSE:
        return frame->size - FRAME_SIZE < PADDING_LIMIT;
    default:
        return false;
    }
}

static bool record_is_plausible(struct window *window, uint64_t offset,
                                const struct resync_times *times)
{
    struct frame frame;
    uint8_t raw[64]; /* the longest fixed part, that of MOVE */

    if (!frame_read(window, offset, &frame) || !frame_is_known(&frame) ||
        frame.size > window->size - offset || !time_is_plausible(times, frame.time))
        return false;
    return window_peek(window, offset, raw, frame_fixed_size(frame.id)) &&
           fields_are_plausible(&frame, raw, window->swapped) &&
           frame_follows(window, offset + frame.size);
}

uint64_t resync_find(struct window *window, uint64_t from, const struct resync_times *times)
{
    size_t have;
    const uint8_t *bytes;

    /* NULL once fewer bytes are left than a record has. */
    while ((bytes = window_at(window, from, FRAME_SIZE, &have)) != NULL) {
        for (size_t i = 0; i + FRAME_SIZE <= have; i++) {
            /* Few bytes pass the first test, so the others may cost more. */
            if (bytes_u32(bytes + i, window->swapped) <= JITDUMP_UNWINDING_INFO &&
                record_is_plausible(window, from + i, times))
                return from + i;
        }
        from += have - FRAME_SIZE + 1;
    }
    return window->size;
}
