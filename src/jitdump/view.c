/* SPDX-License-Identifier: MIT */
#include "dump.h"
#include "format.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"
#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read where the last bytes were near, so that the next ones are likely to be so too ... */
#define AHEAD_NEAR ((size_t)256 << 10)
/* ... and where they were far, so that most records come with one read. */
#define AHEAD_FAR ((size_t)4 << 10)

void jitdump_view_release(struct jitdump_view *view)
{
    free(view->buffer);
    *view = (struct jitdump_view){0};
}

static bool is_near(const struct jitdump_span *last, const struct jitdump *dump, uint64_t offset)
{
    return last->dump == dump && offset >= last->offset &&
           offset - last->offset <= last->size + AHEAD_NEAR / 4;
}

int jitdump_view_at(struct jitdump_view *view, const struct jitdump *dump, uint64_t offset,
                    uint64_t size, const uint8_t **bytes)
{
    *bytes = jitdump_span_at(&view->span, dump, offset, size);
    if (*bytes || offset > dump->file.size || size > dump->file.size - offset)
        return 0;
    const size_t ahead = is_near(&view->span, dump, offset) ? AHEAD_NEAR : AHEAD_FAR;
    const size_t want = size > ahead ? (size_t)size : ahead;
    view->span = (struct jitdump_span){0};
    if (!array_reserve(&view->buffer, &view->capacity, want))
        return -ENOMEM;
    const ssize_t got = io_pread(dump->file.fd, view->buffer, want, offset);
    if (got < 0)
        return (int)got;
    if ((size_t)got < size)
        return 0;
    view->span = (struct jitdump_span){dump, view->buffer, (size_t)got, offset};
    *bytes = view->buffer;
    return 0;
}

int jitdump_view_copy(const struct jitdump_view *view, const struct jitdump *dump, uint64_t offset,
                      size_t size, void *to)
{
    const uint8_t *held = jitdump_span_at(&view->span, dump, offset, size);

    if (held) {
        memcpy(to, held, size);
        return 0;
    }
    const ssize_t got = io_pread(dump->file.fd, to, size, offset);
    if (got < 0)
        return (int)got;
    return (size_t)got == size ? 0 : -EIO;
}

int jitdump_loaded_addr(const struct jitdump_view *view, const struct jitdump *dump,
                        const struct code *code, uint64_t *addr)
{
    uint8_t bytes[sizeof(*addr)];

    *addr = code->addr;
    if (!(code->flags & CODE_MOVED))
        return 0;
    const int err = jitdump_view_copy(view, dump, code->name - LOAD_NAME + LOAD_CODE_ADDR,
                                      sizeof(bytes), bytes);
    if (!err)
        *addr = bytes_u64(bytes, dump->header.swapped);
    return err;
}
