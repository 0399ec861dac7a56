/* SPDX-License-Identifier: MIT */
/* Reading a stretch of a file front to back through one buffer. */
#ifndef JITINJECT_PERFDATA_SOURCE_H
#define JITINJECT_PERFDATA_SOURCE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who still has use for bytes in a buffer is told before these move or are overwritten: this lets
 * the writer hold on to kept records without copying them.
 */
struct buffer_watch {
    void (*before_reuse)(void *context, const uint8_t *buffer, size_t size);
    void *context;
};

static inline void buffer_watch_notify(const struct buffer_watch *watch, const uint8_t *buffer,
                                       size_t size)
{
    if (watch->before_reuse)
        watch->before_reuse(watch->context, buffer, size);
}

/* While somebody watches, so many are filled by turns: they can be written behind the reader. */
#define SOURCE_BUFFERS 16

struct source {
    int fd;
    const struct buffer_watch *watch;
    uint64_t offset;  /* in the file, of the next byte */
    uint64_t end;     /* in the file, of the stretch */
    uint8_t *buffers; /* side by side, `capacity` bytes each */
    size_t turn;
    uint8_t *buffer; /* whose turn it is */
    size_t capacity;
    size_t begin, filled; /* buffer[begin .. filled) are the next bytes */
};

/* For stretches of up to `largest` bytes. 0 or -ENOMEM; `watch` is borrowed, NULL: nobody ever
 * watches, and one buffer is enough. */
int source_init(struct source *source, uint64_t largest, const struct buffer_watch *watch);
void source_clear(struct source *source);

/* Goes to the begin of a stretch [offset, end) of a file. */
void source_move(struct source *source, int fd, uint64_t offset, uint64_t end);

/* Passes over bytes; the caller has made sure that the stretch has as many. */
void source_skip(struct source *source, uint64_t size);

static inline uint64_t source_left(const struct source *source)
{
    return source->end - source->offset;
}

static inline const uint8_t *source_bytes(const struct source *source)
{
    return source->buffer + source->begin;
}

static inline size_t source_available(const struct source *source)
{
    return source->filled - source->begin;
}

/*
 * Reads on until `size` bytes are available, or there are no more, and as many as that brings. 0 or
 * the errno of the disk.
 */
int source_fill(struct source *source, size_t size);

/*
 * Sees to it that at least `size` bytes (64 KiB at most) are available at source_bytes(). 0, the
 * errno of the disk, or -ENODATA where the file or the stretch ends before.
 */
static inline int source_need(struct source *source, size_t size)
{
    if (source_available(source) >= size)
        return 0;
    int err = source_fill(source, size);
    return err ? err : source_available(source) >= size ? 0 : -ENODATA;
}

#endif /* JITINJECT_PERFDATA_SOURCE_H */
