/* SPDX-License-Identifier: MIT */
#include "resync.h"

#include "jitinject/bytes.h"

/* So many doubtful records in a row need not lead to a certain one to be believed. */
#define CHAIN 4

/* Nothing, or less than a record starts with: the dump ends or is cut here. */
static bool is_end(const struct window *window, uint64_t offset)
{
    return window->size - offset < FRAME_SIZE;
}

bool resync_begins(struct window *window, uint64_t offset, const struct trust_times *times,
                   struct frame *certain)
{
    struct frame frame;

    if (certain)
        certain->size = 0;
    if (!frame_read(window, offset, &frame) || !frame_is_whole(window, &frame))
        return false;
    enum trust trust = trust_of(window, &frame, times);
    if (certain && trust == TRUST_CERTAIN)
        *certain = frame;
    for (unsigned hops = 0; trust == TRUST_DOUBTFUL && hops < CHAIN; hops++) {
        offset += frame.size;
        if (is_end(window, offset))
            return true;
        if (!frame_read(window, offset, &frame))
            return false;
        trust = trust_of(window, &frame, times);
        if (trust == TRUST_DOUBTFUL && !frame_is_whole(window, &frame))
            return false;
    }
    return trust != TRUST_NONE;
}

bool resync_is_cut(struct window *window, uint64_t offset, const struct trust_times *times)
{
    struct frame frame;

    if (is_end(window, offset))
        return offset < window->size;
    return frame_read(window, offset, &frame) && !frame_is_whole(window, &frame) &&
           trust_of(window, &frame, times) == TRUST_CERTAIN;
}

/* Whether records go on at `offset`. */
static bool goes_on(struct window *window, uint64_t offset, const struct trust_times *times)
{
    struct frame frame;

    if (!frame_read(window, offset, &frame) || !frame_is_whole(window, &frame) ||
        trust_of(window, &frame, times) != TRUST_CERTAIN)
        return false;
    uint64_t end = offset + frame.size;
    return end == window->size || resync_begins(window, end, times, NULL) ||
           resync_is_cut(window, end, times);
}

uint64_t resync_find(struct window *window, uint64_t from, uint64_t to,
                     const struct trust_times *times)
{
    size_t have;
    const uint8_t *bytes;

    /* NULL once fewer bytes are left than a record has. */
    while (from < to && (bytes = window_at(window, from, FRAME_SIZE, &have)) != NULL) {
        const size_t starts = have - FRAME_SIZE + 1;
        const size_t count = to - from < starts ? (size_t)(to - from) : starts;
        for (size_t i = 0; i < count; i++) {
            /* Few bytes pass the first tests, not even zeros do, so the last may cost more. */
            if (bytes_u32(bytes + i + FRAME_ID, window->swapped) <= JITDUMP_UNWINDING_INFO &&
                bytes_u32(bytes + i + FRAME_TOTAL_SIZE, window->swapped) >= FRAME_SIZE &&
                goes_on(window, from + i, times))
                return from + i;
        }
        from += count;
    }
    return window->size;
}
