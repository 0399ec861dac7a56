/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t size)
{
    size_t end = buffer->size + size;
    if (end > buffer->capacity) {
        size_t capacity = end < 512 ? 1024 : end * 2;
        buffer->bytes = realloc(buffer->bytes, capacity);
        if (!buffer->bytes)
            err(1, "%zu bytes", capacity);
        buffer->capacity = capacity;
    }
    uint8_t *start = buffer->bytes + buffer->size;
    buffer->size = end;
    return start;
}

void buffer_put(struct buffer *buffer, const void *bytes, size_t size)
{
    memcpy(buffer_extend(buffer, size), bytes, size);
}

void buffer_put_u8(struct buffer *buffer, uint8_t value)
{
    buffer_put(buffer, &value, sizeof(value));
}

void buffer_put_u16(struct buffer *buffer, uint16_t value)
{
    buffer_put(buffer, &value, sizeof(value));
}

void buffer_put_u32(struct buffer *buffer, uint32_t value)
{
    buffer_put(buffer, &value, sizeof(value));
}

void buffer_put_u64(struct buffer *buffer, uint64_t value)
{
    buffer_put(buffer, &value, sizeof(value));
}

void buffer_put_zeros(struct buffer *buffer, size_t count)
{
    memset(buffer_extend(buffer, count), 0, count);
}

void buffer_put_text(struct buffer *buffer, const char *text, size_t align)
{
    size_t size = strlen(text) + 1;
    buffer_put(buffer, text, size);
    buffer_put_zeros(buffer, (align - size % align) % align);
}

void buffer_write(const struct buffer *buffer, FILE *to)
{
    if (buffer->size && fwrite(buffer->bytes, buffer->size, 1, to) != 1)
        err(1, "write");
}
