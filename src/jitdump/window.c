/* SPDX-License-Identifier: MIT */
#include "window.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>

/* Large enough that a read costs as much as its bytes, small enough for a cache. */
#define WINDOW_SIZE ((size_t)256 << 10)

void window_init(struct window *window, const struct jitdump *dump)
{
    *window = (struct window){
        .fd = dump->file.fd,
        .swapped = dump->header.swapped,
        .size = dump->file.size,
    };
}

void window_release(struct window *window)
{
    free(window->bytes);
    window->bytes = NULL;
    window->filled = window->capacity = 0;
}

static bool within(const struct window *window, uint64_t offset, uint64_t size)
{
    return !window->error && offset <= window->size && size <= window->size - offset;
}

static bool read_exactly(struct window *window, uint64_t offset, void *buffer, size_t size)
{
    ssize_t got = io_pread(window->fd, buffer, size, offset);

    if (got < 0)
        window->error = (int)got;
    else if ((size_t)got < size)
        window->error = -EIO; /* the file has become shorter since it was opened */
    return !window->error;
}

static bool grow(struct window *window, size_t size)
{
    size_t capacity = window->size < WINDOW_SIZE ? (size_t)window->size : WINDOW_SIZE;

    if (capacity < size)
        capacity = size;
    if (window->capacity >= size && window->bytes)
        return true;
    window_release(window);
    window->bytes = array_new(capacity, 1);
    if (!window->bytes) {
        window->error = -ENOMEM;
        return false;
    }
    window->capacity = capacity;
    return true;
}

const uint8_t *window_at_far(struct window *window, uint64_t offset, size_t size, size_t *have)
{
    if (!within(window, offset, size) || !grow(window, size))
        return NULL;
    const uint64_t left = window->size - offset;
    const size_t fill = left < window->capacity ? (size_t)left : window->capacity;
    window->start = offset;
    window->filled = 0;
    if (!read_exactly(window, offset, window->bytes, fill))
        return NULL;
    window->filled = fill;
    if (have)
        *have = fill;
    return window->bytes;
}

bool window_peek_far(struct window *window, uint64_t offset, void *buffer, size_t size)
{
    return within(window, offset, size) && read_exactly(window, offset, buffer, size);
}

uint64_t window_find(struct window *window, uint64_t from, uint64_t to, bool zero)
{
    uint8_t chunk[4096];

    while (from < to) {
        size_t size = to - from < sizeof(chunk) ? (size_t)(to - from) : sizeof(chunk);
        if (!window_peek(window, from, chunk, size))
            break;
        for (size_t i = 0; i < size; i++) {
            if ((chunk[i] == 0) == zero)
                return from + i;
        }
        from += size;
    }
    return to;
}
