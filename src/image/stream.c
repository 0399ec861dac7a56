/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int image_stream_open(struct image_stream *stream, struct image_output *output, uint64_t offset,
                      uint8_t *buffer, size_t capacity)
{
    *stream = (struct image_stream){
        .output = output, .offset = offset, .buffer = buffer, .capacity = capacity};
    if (!buffer)
        stream->buffer = stream->own = malloc(capacity);
    return stream->buffer ? 0 : -ENOMEM;
}

void image_stream_close(struct image_stream *stream)
{
    free(stream->own);
    stream->buffer = stream->own = NULL;
}

int image_stream_flush(struct image_stream *stream)
{
    if (!stream->err && stream->used)
        stream->err =
            image_output_write(stream->output, stream->buffer, stream->used, stream->offset);
    stream->offset += stream->used;
    stream->used = 0;
    return stream->err;
}

void image_stream_put(struct image_stream *stream, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    while (size) {
        if (!image_stream_room(stream))
            image_stream_flush(stream);
        const size_t room = image_stream_room(stream);
        const size_t part = size < room ? size : room;
        memcpy(stream->buffer + stream->used, from, part);
        stream->used += part;
        from += part;
        size -= part;
    }
}
