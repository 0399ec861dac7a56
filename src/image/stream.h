/* SPDX-License-Identifier: MIT */
/* A part of the image that is written front to back, through a buffer. */
#ifndef JITINJECT_IMAGE_STREAM_H
#define JITINJECT_IMAGE_STREAM_H

#include "output.h"

#include <stddef.h>
#include <stdint.h>

struct image_stream {
    struct image_output *output;
    uint64_t offset;       /* in the file, of buffer[0] */
    uint8_t *buffer, *own; /* NULL: borrowed */
    size_t used, capacity;
    int err; /* the first failure: later writes do nothing, the flush returns it */
};

/*
 * With a buffer of its own, if `buffer` is NULL, or that one, which is borrowed. 0 or -ENOMEM;
 * image_stream_close is safe after either, and on a zeroed stream.
 */
int image_stream_open(struct image_stream *stream, struct image_output *output, uint64_t offset,
                      uint8_t *buffer, size_t capacity);
void image_stream_close(struct image_stream *stream);

void image_stream_put(struct image_stream *stream, const void *bytes, size_t size);
int image_stream_flush(struct image_stream *stream);

/* Where the next byte goes. */
static inline uint64_t image_stream_position(const struct image_stream *stream)
{
    return stream->offset + stream->used;
}

static inline size_t image_stream_room(const struct image_stream *stream)
{
    return stream->capacity - stream->used;
}

/*
 * The next `size` bytes of the stream, at most its capacity, for the caller to fill before the next
 * call. Never NULL.
 */
static inline uint8_t *image_stream_take(struct image_stream *stream, size_t size)
{
    if (image_stream_room(stream) < size)
        image_stream_flush(stream);
    uint8_t *at = stream->buffer + stream->used;
    stream->used += size;
    return at;
}

#endif /* JITINJECT_IMAGE_STREAM_H */
