/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <stdlib.h>
#include <string.h>

/* A record is at most 64 KiB; more than that is for few and large reads. */
#define CAPACITY (256u << 10)

int source_init(struct source *source, uint64_t largest, const struct buffer_watch *watch)
{
    size_t capacity = largest < CAPACITY ? largest : CAPACITY;

    *source = (struct source){.fd = -1, .watch = watch, .capacity = capacity};
    source->buffer = source->buffers =
        array_new(capacity ? capacity : 1, watch ? SOURCE_BUFFERS : 1);
    return source->buffer ? 0 : -ENOMEM;
}

void source_clear(struct source *source)
{
    free(source->buffers);
    source->buffers = source->buffer = NULL;
}

void source_move(struct source *source, int fd, uint64_t offset, uint64_t end)
{
    source->fd = fd;
    source->offset = offset;
    source->end = end;
    source->begin = source->filled = 0;
}

void source_skip(struct source *source, uint64_t size)
{
    source->offset += size;
    if (size <= source_available(source))
        source->begin += size;
    else
        source->begin = source->filled;
}

/* The buffer to fill next. */
static uint8_t *next_buffer(struct source *source)
{
    if (!source->watch)
        return source->buffers;
    if (source->watch->before_reuse)
        source->turn = (source->turn + 1) % SOURCE_BUFFERS;
    uint8_t *buffer = source->buffers + source->turn * source->capacity;
    buffer_watch_notify(source->watch, buffer, source->capacity);
    return buffer;
}

/*
 * A place that cannot be read is met by whoever comes to it: which one, and what is said of it,
 * does not depend on where the buffer begins.
 */
int source_fill(struct source *source, size_t size)
{
    const size_t rest = source_available(source);

    uint8_t *buffer = next_buffer(source);
    memmove(buffer, source_bytes(source), rest);
    source->buffer = buffer;
    source->begin = 0;
    source->filled = rest;
    while (source->filled < size) {
        const uint64_t unread = source_left(source) - source->filled;
        const size_t room = source->capacity - source->filled;
        const ssize_t got =
            io_pread_some(source->fd, buffer + source->filled, unread < room ? unread : room,
                          source->offset + source->filled);
        if (got <= 0)
            return (int)got;
        source->filled += (size_t)got;
    }
    return 0;
}
