/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include "jitinject/bytes.h"

#include <stdlib.h>

void lines_buffer_free(struct lines_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct lines_buffer){0};
}

void lines_put(struct lines_buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *at = size ? lines_room(buffer, size) : NULL;

    if (!at)
        return;
    memcpy(at, bytes, size);
    buffer->size += size;
}

void lines_put_u8(struct lines_buffer *buffer, uint8_t value)
{
    lines_put(buffer, &value, sizeof(value));
}

void lines_put_u16(struct lines_buffer *buffer, uint16_t value)
{
    uint8_t bytes[2];

    bytes_put_u16(bytes, value, buffer->swapped);
    lines_put(buffer, bytes, sizeof(bytes));
}

void lines_put_u32(struct lines_buffer *buffer, uint32_t value)
{
    uint8_t bytes[4];

    bytes_put_u32(bytes, value, buffer->swapped);
    lines_put(buffer, bytes, sizeof(bytes));
}

void lines_put_u64(struct lines_buffer *buffer, uint64_t value)
{
    uint8_t bytes[8];

    bytes_put_u64(bytes, value, buffer->swapped);
    lines_put(buffer, bytes, sizeof(bytes));
}

void lines_put_uleb(struct lines_buffer *buffer, uint64_t value)
{
    uint8_t *at = lines_room(buffer, LEB_MAX);

    if (at)
        lines_filled(buffer, leb_write_unsigned(at, value));
}

void lines_put_addr(struct lines_buffer *buffer, uint64_t value, uint8_t size)
{
    uint8_t *at = lines_room(buffer, size);

    if (at)
        lines_filled(buffer, lines_write_addr(at, value, size, buffer->swapped));
}

size_t lines_begin_length(struct lines_buffer *buffer)
{
    const size_t at = buffer->size;

    lines_put_u32(buffer, 0);
    return at;
}

void lines_end_length(struct lines_buffer *buffer, size_t at, size_t more)
{
    const size_t size = buffer->size - at - sizeof(uint32_t) + more;

    if (!buffer->failed)
        bytes_put_u32(buffer->bytes + at, (uint32_t)size, buffer->swapped);
}
