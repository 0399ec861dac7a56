/* SPDX-License-Identifier: MIT */
#include "debug.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read where the last bytes were near, so that the next ones are likely to be so too ... */
#define AHEAD_NEAR ((size_t)256 << 10)
/* ... and where they were far, so that most records come with one read. */
#define AHEAD_FAR ((size_t)4 << 10)

void debug_view_release(struct debug_view *view)
{
    free(view->bytes);
    *view = (struct debug_view){0};
}

static bool holds(const struct debug_view *view, const struct jitdump *dump, uint64_t offset,
                  size_t size)
{
    return view->dump == dump && offset >= view->offset && offset - view->offset <= view->size &&
           size <= view->size - (size_t)(offset - view->offset);
}

static bool is_near(const struct debug_view *view, const struct jitdump *dump, uint64_t offset)
{
    return view->dump == dump && offset >= view->offset &&
           offset - view->offset <= view->size + AHEAD_NEAR / 4;
}

int debug_view_at(struct debug_view *view, const struct jitdump *dump, uint64_t offset, size_t size,
                  const uint8_t **bytes)
{
    *bytes = NULL;
    if (offset > dump->file.size || size > dump->file.size - offset)
        return 0;
    if (!holds(view, dump, offset, size)) {
        const size_t ahead = is_near(view, dump, offset) ? AHEAD_NEAR : AHEAD_FAR;
        const size_t want = size > ahead ? size : ahead;
        view->dump = NULL;
        if (!array_reserve(&view->bytes, &view->capacity, want))
            return -ENOMEM;
        const ssize_t got = io_pread(dump->file.fd, view->bytes, want, offset);
        if (got < 0)
            return (int)got;
        if ((size_t)got < size)
            return 0;
        view->dump = dump;
        view->offset = offset;
        view->size = (size_t)got;
    }
    *bytes = view->bytes + (offset - view->offset);
    return 0;
}

int debug_view_copy(const struct debug_view *view, const struct jitdump *dump, uint64_t offset,
                    size_t size, void *to)
{
    if (holds(view, dump, offset, size)) {
        memcpy(to, view->bytes + (offset - view->offset), size);
        return 0;
    }
    const ssize_t got = io_pread(dump->file.fd, to, size, offset);
    if (got < 0)
        return (int)got;
    return (size_t)got == size ? 0 : -EIO;
}
