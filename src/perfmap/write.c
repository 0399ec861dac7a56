/* SPDX-License-Identifier: MIT */
#include "jitinject/perfmap.h"

#include "jitinject/array.h"
#include "jitinject/io.h"
#include "jitinject/rangemap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Lines are written together up to this, or one that is longer alone. */
#define BUFFER_SIZE ((size_t)256 << 10)
/* "ffffffffffffffff ffffffffffffffff " and a newline. */
#define NUMBERS_MAX 36

struct writer {
    struct code *const *codes;
    int names, fd;
    uint64_t names_size;
    char *buffer;
    size_t used, capacity;
    struct perfmap_written *written;
};

static int flush(struct writer *writer)
{
    const int err = io_write(writer->fd, writer->buffer, writer->used);

    writer->used = 0;
    return err;
}

static int put_name(struct writer *writer, const struct code *code)
{
    char *name = writer->buffer + writer->used;

    if (code->name > writer->names_size || code->name_size > writer->names_size - code->name)
        return -ENODATA;
    const ssize_t got = io_pread(writer->names, name, code->name_size, code->name);
    if (got < 0)
        return (int)got;
    if ((size_t)got < code->name_size)
        return -ENODATA;
    /* Readers end an entry at a newline and a name at a NUL. */
    for (size_t i = 0; i < code->name_size; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            name[i] = ' ';
    writer->used += code->name_size;
    return 0;
}

static int put_line(struct writer *writer, const struct range *range)
{
    const struct code *code = writer->codes[range->value];
    const size_t most = NUMBERS_MAX + (size_t)code->name_size;
    int err = 0;

    if (writer->used && most > writer->capacity - writer->used)
        err = flush(writer);
    if (!err && !array_reserve(&writer->buffer, &writer->capacity, most))
        err = -ENOMEM;
    if (err)
        return err;
    writer->used += (size_t)sprintf(writer->buffer + writer->used, "%" PRIx64 " %" PRIx64 " ",
                                    range->start, range->end - range->start);
    err = put_name(writer, code);
    if (!err)
        writer->buffer[writer->used++] = '\n';
    return err;
}

/* The numbers of the pieces that are the last ones at their addresses. */
static int find_visible(struct code *const *codes, size_t count, struct rangemap *visible)
{
    int err = count > UINT32_MAX ? -EOVERFLOW : 0;

    for (size_t i = 0; i < count && !err; i++)
        err =
            rangemap_set(visible, codes[i]->addr, codes[i]->addr + codes[i]->size, (uint32_t)i, 0);
    return err;
}

static int put_lines(struct writer *writer, const struct rangemap *visible, bool *seen)
{
    struct rangemap_at at = rangemap_find(visible, 0);
    int err = 0;

    for (const struct range *range; !err && (range = rangemap_get(visible, at));
         rangemap_next(visible, &at)) {
        seen[range->value] = true;
        if (writer->codes[range->value]->name_size == 0)
            continue;
        err = put_line(writer, range);
        writer->written->entries += !err;
    }
    return err ? err : flush(writer);
}

static void count_left_out(struct writer *writer, size_t count, const bool *seen)
{
    for (size_t i = 0; i < count; i++) {
        writer->written->replaced += writer->codes[i]->size && !seen[i];
        writer->written->nameless += seen[i] && !writer->codes[i]->name_size;
    }
}

int perfmap_write(struct code *const *codes, size_t count, int names, uint64_t names_size, int fd,
                  struct perfmap_written *written)
{
    struct writer writer = {
        .codes = codes, .names = names, .names_size = names_size, .fd = fd, .written = written};
    struct rangemap visible = {0};
    bool *seen = calloc(count + 1, sizeof(*seen));
    int err = seen ? 0 : -ENOMEM;

    *written = (struct perfmap_written){0};
    if (!err && !array_reserve(&writer.buffer, &writer.capacity, BUFFER_SIZE))
        err = -ENOMEM;
    err = err ? err : find_visible(codes, count, &visible);
    err = err ? err : put_lines(&writer, &visible, seen);
    if (!err)
        count_left_out(&writer, count, seen);
    rangemap_clear(&visible);
    free(writer.buffer);
    free(seen);
    return err;
}
