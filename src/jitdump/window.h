/* SPDX-License-Identifier: MIT */
/*
 * A bounded buffer that slides over a dump. Errors stick: once a read has failed, nothing more is
 * delivered and `error` says why, so that callers need to look at it only at their end.
 */
#ifndef JITDUMP_WINDOW_H
#define JITDUMP_WINDOW_H

#include "dump.h"

#include <string.h>

struct window {
    int fd;
    bool swapped;   /* integers of the dump are not in this machine's byte order */
    uint64_t size;  /* of the dump */
    uint64_t start; /* offset of bytes[0] in the dump */
    size_t filled;
    size_t capacity;
    uint8_t *bytes;
    int error; /* 0 or a negative errno */
};

/* Nothing is allocated before window_at is called first. */
void window_init(struct window *window, const struct jitdump *dump);
void window_release(struct window *window);

static inline bool window_holds(const struct window *window, uint64_t offset, size_t size)
{
    return offset >= window->start && offset - window->start <= window->filled &&
           size <= window->filled - (size_t)(offset - window->start);
}

/* As window_at, for what the window does not hold. */
const uint8_t *window_at_far(struct window *window, uint64_t offset, size_t size, size_t *have);

/*
 * At least `size` bytes at `offset`, *have of them (have may be NULL), good until the next call.
 * The window grows where `size` is more than it holds. NULL where the dump has fewer, or on an
 * error.
 */
static inline const uint8_t *window_at(struct window *window, uint64_t offset, size_t size,
                                       size_t *have)
{
    if (!window_holds(window, offset, size))
        return window_at_far(window, offset, size, have);
    const size_t at = (size_t)(offset - window->start);
    if (have)
        *have = window->filled - at;
    return window->bytes + at;
}

/* As window_peek, for what the window does not hold. */
bool window_peek_far(struct window *window, uint64_t offset, void *buffer, size_t size);

/* Copies bytes without moving the window. False where the dump has fewer, or on an error. */
static inline bool window_peek(struct window *window, uint64_t offset, void *buffer, size_t size)
{
    if (!window_holds(window, offset, size))
        return window_peek_far(window, offset, buffer, size);
    memcpy(buffer, window->bytes + (offset - window->start), size);
    return true;
}

/* Offset of the first byte in [from, to) that is zero (or that is not), else `to`. The window does
 * not move. */
uint64_t window_find(struct window *window, uint64_t from, uint64_t to, bool zero);

#endif /* JITDUMP_WINDOW_H */
