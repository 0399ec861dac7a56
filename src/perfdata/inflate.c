/* SPDX-License-Identifier: MIT */
#include "inflate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Room for an unfinished record (64 KiB at most) and a block of zstd (128 KiB at most) behind it.
 */
#define BUFFER_SIZE (256u << 10)

struct inflate {
    const struct buffer_watch *watch;
    ZSTD_DCtx *zstd;
    uint8_t *buffer;
    size_t begin, filled; /* buffer[begin .. filled) is unpacked and not taken */
    uint64_t offset;      /* of the compressed record */
    uint64_t left;        /* zstd bytes of it still to be read */
    uint64_t padding;     /* bytes behind these */
    bool held_back;       /* the buffer was full: zstd may have more without further input */
};

int inflate_new(const struct buffer_watch *watch, struct inflate **out)
{
    struct inflate *inflate = calloc(1, sizeof(*inflate));

    *out = NULL;
    if (!inflate)
        return -ENOMEM;
    inflate->watch = watch;
    inflate->zstd = ZSTD_createDCtx();
    inflate->buffer = malloc(BUFFER_SIZE);
    if (!inflate->zstd || !inflate->buffer) {
        inflate_free(inflate);
        return -ENOMEM;
    }
    *out = inflate;
    return 0;
}

void inflate_free(struct inflate *inflate)
{
    if (!inflate)
        return;
    ZSTD_freeDCtx(inflate->zstd);
    free(inflate->buffer);
    free(inflate);
}

void inflate_reset(struct inflate *inflate)
{
    buffer_watch_notify(inflate->watch, inflate->buffer, BUFFER_SIZE);
    ZSTD_DCtx_reset(inflate->zstd, ZSTD_reset_session_only);
    inflate->begin = inflate->filled = 0;
    inflate->left = inflate->padding = 0;
    inflate->held_back = false;
}

void inflate_begin(struct inflate *inflate, uint64_t offset, uint64_t size, uint64_t padding)
{
    inflate->offset = offset;
    inflate->left = size;
    inflate->padding = padding;
}

/* Brings what is not taken to the front of the buffer. */
static void make_room(struct inflate *inflate)
{
    buffer_watch_notify(inflate->watch, inflate->buffer, BUFFER_SIZE);
    memmove(inflate->buffer, inflate->buffer + inflate->begin, inflate->filled - inflate->begin);
    inflate->filled -= inflate->begin;
    inflate->begin = 0;
}

int inflate_pull(struct inflate *inflate, struct source *source, const char **reason)
{
    if (!inflate->left && !inflate->held_back) {
        source_skip(source, inflate->padding);
        inflate->padding = 0;
        return 0;
    }
    int err = inflate->left ? source_need(source, 1) : 0;
    if (err)
        return err;
    make_room(inflate);

    size_t available = source_available(source);
    ZSTD_inBuffer in = {source_bytes(source), inflate->left < available ? inflate->left : available,
                        0};
    ZSTD_outBuffer out = {inflate->buffer, BUFFER_SIZE, inflate->filled};
    size_t result;
    do {
        result = ZSTD_decompressStream(inflate->zstd, &out, &in);
    } while (!ZSTD_isError(result) && in.pos < in.size && out.pos < out.size);
    if (ZSTD_isError(result)) {
        *reason = ZSTD_getErrorName(result);
        return -EBADMSG;
    }
    inflate->held_back = out.pos == out.size;
    inflate->filled = out.pos;
    inflate->left -= in.pos;
    source_skip(source, in.pos);
    return 1;
}

const uint8_t *inflate_bytes(const struct inflate *inflate, size_t *size)
{
    *size = inflate->filled - inflate->begin;
    return inflate->buffer + inflate->begin;
}

void inflate_take(struct inflate *inflate, size_t size)
{
    inflate->begin += size;
}

uint64_t inflate_offset(const struct inflate *inflate)
{
    return inflate->offset;
}
