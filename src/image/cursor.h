/* SPDX-License-Identifier: MIT */
/*
 * Reading untrusted bytes front to back. What is not there reads as 0 and makes the cursor bad, so
 * that a parser can read on and look once at the end.
 */
#ifndef JITINJECT_IMAGE_CURSOR_H
#define JITINJECT_IMAGE_CURSOR_H

#include "leb.h"

#include "jitinject/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const uint8_t *at, *end;
    bool swapped; /* as in bytes.h */
    bool bad;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* The next `size` bytes, or NULL. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
    const uint8_t *at = cursor->at;

    if (size > cursor_left(cursor)) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return NULL;
    }
    cursor->at += size;
    return at;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 1);

    return at ? *at : 0;
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 2);

    return at ? bytes_u16(at, cursor->swapped) : 0;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 4);

    return at ? bytes_u32(at, cursor->swapped) : 0;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 8);

    return at ? bytes_u64(at, cursor->swapped) : 0;
}

/* An unsigned LEB128 of at most 64 bits. */
static inline uint64_t cursor_uleb(struct cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 7 * LEB_MAX; shift += 7) {
        const uint8_t byte = cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cursor->bad = true;
    return 0;
}

/* The same of a signed one. */
static inline int64_t cursor_sleb(struct cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 7 * LEB_MAX; shift += 7) {
        const uint8_t byte = cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (byte & 0x40 && shift + 7 < 64)
                value |= UINT64_MAX << (shift + 7);
            return (int64_t)value;
        }
    }
    cursor->bad = true;
    return 0;
}

/* A LEB128 of either kind whose value is of no interest. */
static inline void cursor_skip_leb(struct cursor *cursor)
{
    for (unsigned size = 0; cursor->at < cursor->end && size < LEB_MAX; size++)
        if (!(*cursor->at++ & 0x80))
            return;
    cursor->bad = true;
}

#endif /* JITINJECT_IMAGE_CURSOR_H */
