/* SPDX-License-Identifier: MIT */
/*
 * Bytes of DWARF that grow in memory. A failure sticks: later bytes are lost, and the owner looks
 * once at the end.
 */
#ifndef JITINJECT_LINES_BUFFER_H
#define JITINJECT_LINES_BUFFER_H

#include "../leb.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    bool swapped; /* as in bytes.h */
    bool failed;  /* memory was out */
};

void lines_buffer_free(struct lines_buffer *buffer);

/* Where the next bytes go, with room for `size` of them; NULL when memory is out. */
static inline uint8_t *lines_room(struct lines_buffer *buffer, size_t size)
{
    if (!array_reserve(&buffer->bytes, &buffer->capacity, buffer->size + size))
        buffer->failed = true;
    return buffer->failed ? NULL : buffer->bytes + buffer->size;
}

/* The bytes up to `end` have been put there. */
static inline void lines_filled(struct lines_buffer *buffer, const uint8_t *end)
{
    buffer->size = (size_t)(end - buffer->bytes);
}

/* Writes an address of the target, 4 or 8 bytes, to `at`, and returns what is behind it. */
static inline uint8_t *lines_write_addr(uint8_t *at, uint64_t value, uint8_t size, bool swapped)
{
    if (size == 8)
        bytes_put_u64(at, value, swapped);
    else
        bytes_put_u32(at, (uint32_t)value, swapped);
    return at + size;
}

void lines_put(struct lines_buffer *buffer, const void *bytes, size_t size);
void lines_put_u8(struct lines_buffer *buffer, uint8_t value);
void lines_put_u16(struct lines_buffer *buffer, uint16_t value);
void lines_put_u32(struct lines_buffer *buffer, uint32_t value);
void lines_put_u64(struct lines_buffer *buffer, uint64_t value);
void lines_put_uleb(struct lines_buffer *buffer, uint64_t value);
void lines_put_addr(struct lines_buffer *buffer, uint64_t value, uint8_t size);

/* Room for a length, and the length itself once what it counts is there: all that is behind it, and
 * `more` bytes that follow elsewhere. */
size_t lines_begin_length(struct lines_buffer *buffer);
void lines_end_length(struct lines_buffer *buffer, size_t at, size_t more);

#endif /* JITINJECT_LINES_BUFFER_H */
