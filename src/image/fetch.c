/* SPDX-License-Identifier: MIT */
#include "fetch.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FETCH_COPIES 8192
/* Bytes that nobody asked for are read along up to here: a call costs about as much. */
#define FETCH_GAP 8192
/* From here on the way through the buffer costs more than a call of its own. */
#define FETCH_DIRECT (32u << 10)

struct copy {
    uint64_t offset;
    uint8_t *to;
    size_t size;
    uint16_t source;
};

struct image_fetch {
    const struct image_source *sources;
    const struct diag *diag;
    struct image_fetch_listener listener;
    struct copy *copies;
    uint8_t *buffer;
    size_t count;
};

int image_fetch_new(const struct image_source *sources, const struct diag *diag,
                    const struct image_fetch_listener *listener, uint8_t *buffer,
                    struct image_fetch **out)
{
    struct image_fetch *fetch = calloc(1, sizeof(*fetch));

    *out = NULL;
    if (!fetch)
        return -ENOMEM;
    fetch->sources = sources;
    fetch->diag = diag;
    fetch->listener = *listener;
    fetch->copies = malloc(FETCH_COPIES * sizeof(*fetch->copies));
    fetch->buffer = buffer;
    if (!fetch->copies) {
        image_fetch_free(fetch);
        return -ENOMEM;
    }
    *out = fetch;
    return 0;
}

void image_fetch_free(struct image_fetch *fetch)
{
    if (!fetch)
        return;
    free(fetch->copies);
    free(fetch);
}

bool image_fetch_is_full(const struct image_fetch *fetch)
{
    return fetch->count == FETCH_COPIES;
}

static int compare_copies(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int report_short(const struct image_fetch *fetch, uint16_t source, uint64_t offset)
{
    diag_report(fetch->diag, DIAG_ERROR, fetch->sources[source].path, offset,
                "the file ends before the name or the code that it announces here; was it "
                "changed or cut since it was opened?");
    return -EIO;
}

int image_fetch_add(struct image_fetch *fetch, uint16_t source, uint64_t offset, size_t size,
                    uint8_t *to)
{
    const uint64_t end = fetch->sources[source].size;
    const struct copy copy = {.offset = offset, .to = to, .size = size, .source = source};

    if (offset > end || size > end - offset)
        return report_short(fetch, source, offset);
    fetch->copies[fetch->count++] = copy;
    return 0;
}

/* Reads [offset, offset + size) to `to`: 0, or what went wrong, reported. */
static int read_source(const struct image_fetch *fetch, uint16_t source, uint64_t offset,
                       size_t size, uint8_t *to)
{
    const struct image_source *from = &fetch->sources[source];
    const ssize_t got = io_pread(from->fd, to, size, offset);

    if (got < 0) {
        diag_report(fetch->diag, DIAG_ERROR, from->path, offset, "the file cannot be read: %s",
                    strerror((int)-got));
        return (int)got;
    }
    return (size_t)got == size ? 0 : report_short(fetch, source, offset + (uint64_t)got);
}

/* Reads the bytes up to `end` that `count` copies are of, through the buffer. */
static int read_group(const struct image_fetch *fetch, const struct copy *copies, size_t count,
                      uint64_t end)
{
    const struct image_fetch_listener *listener = &fetch->listener;
    const uint16_t source = copies->source;
    const uint64_t start = copies->offset;
    const size_t size = (size_t)(end - start);
    int err = read_source(fetch, source, start, size, fetch->buffer);

    for (size_t i = 0; i < count && !err; i++)
        memcpy(copies[i].to, fetch->buffer + (copies[i].offset - start), copies[i].size);
    return err ?: listener->heard(listener->context, source, start, fetch->buffer, size);
}

/* Number of copies from `first` on that one read into the buffer serves; *end is where it ends. */
static size_t group(const struct copy *first, size_t count, uint64_t *end)
{
    size_t n = 1;

    *end = first->offset + first->size;
    for (; n < count; n++) {
        const struct copy *next = &first[n];
        const uint64_t next_end = next->offset + next->size;
        if (next->source != first->source || next->size >= FETCH_DIRECT ||
            next->offset > *end + FETCH_GAP || next_end > first->offset + IMAGE_FETCH_BUFFER)
            break;
        if (next_end > *end)
            *end = next_end;
    }
    return n;
}

int image_fetch_run(struct image_fetch *fetch)
{
    const struct copy *copy = fetch->copies;
    const struct copy *const last = copy + fetch->count;
    int err = 0;

    array_sort(fetch->copies, fetch->count, sizeof(*fetch->copies), compare_copies);
    while (copy < last && !err) {
        if (copy->size >= FETCH_DIRECT) {
            err = read_source(fetch, copy->source, copy->offset, copy->size, copy->to);
            copy++;
            continue;
        }
        uint64_t end;
        const size_t count = group(copy, (size_t)(last - copy), &end);
        err = read_group(fetch, copy, count, end);
        copy += count;
    }
    fetch->count = 0;
    return err;
}
