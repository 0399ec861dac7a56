/* SPDX-License-Identifier: MIT */
/*
 * Writing records that were read. Kept records are written straight from the reader's buffer, as
 * many as lie there side by side at once.
 */
#include "writer.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>

/* Runs below this are gathered: a system call costs as much as copying about that much. */
#define RUN_SIZE_DIRECT (16u << 10)
#define STAGED_SIZE     (64u << 10)
#define COPY_SIZE       (1u << 20)

/* Writes bytes that stay where they are, perhaps later. */
static void write_behind(struct perfdata_writer *writer, const uint8_t *bytes, size_t size)
{
    if (!writer->err)
        writer->err = writer->behind
                          ? behind_write(writer->behind, writer->fd, bytes, size, writer->written)
                          : io_write(writer->fd, bytes, size);
    writer->written += size;
}

static void wait_for(const struct perfdata_writer *writer, const uint8_t *bytes, size_t size)
{
    if (writer->behind)
        behind_wait(writer->behind, bytes, size);
}

static void write_staged(struct perfdata_writer *writer)
{
    if (!writer->staged_size)
        return;
    write_behind(writer, writer->staged, writer->staged_size);
    writer->turn ^= 1;
    writer->staged = writer->staging[writer->turn];
    writer->staged_size = 0;
    wait_for(writer, writer->staged, STAGED_SIZE);
}

/* Writes or stages bytes that writer->offset counts already. */
static void put(struct perfdata_writer *writer, const uint8_t *bytes, size_t size)
{
    if (writer->staged_size + size > STAGED_SIZE || size >= RUN_SIZE_DIRECT)
        write_staged(writer);
    if (size >= RUN_SIZE_DIRECT) {
        write_behind(writer, bytes, size);
    } else if (size) {
        memcpy(writer->staged + writer->staged_size, bytes, size);
        writer->staged_size += size;
    }
}

static void end_run(struct perfdata_writer *writer)
{
    put(writer, writer->run, writer->run_size);
    writer->run = NULL;
    writer->run_size = 0;
}

static void before_reuse(void *context, const uint8_t *buffer, size_t size)
{
    struct perfdata_writer *writer = context;

    end_run(writer);
    wait_for(writer, buffer, size);
}

/* Hands all that is held back on. */
static void push_out(struct perfdata_writer *writer)
{
    end_run(writer);
    write_staged(writer);
}

void writer_flush(struct perfdata_writer *writer)
{
    push_out(writer);
    if (!writer->behind)
        return;
    const int err = behind_finish(writer->behind);
    writer->err = writer->err ? writer->err : err;
}

void writer_append(struct perfdata_writer *writer, const void *bytes, size_t size)
{
    end_run(writer);
    put(writer, bytes, size);
    if (size >= RUN_SIZE_DIRECT)
        wait_for(writer, bytes, size);
    writer->offset += size;
}

void writer_append_input(struct perfdata_writer *writer, const struct section *section)
{
    writer_append_file(writer, writer->data->fd, section);
}

void writer_append_file(struct perfdata_writer *writer, int fd, const struct section *section)
{
    uint64_t at = section->offset, left = section->size;

    if (writer->err || !left)
        return;
    uint8_t *buffer = malloc(left < COPY_SIZE ? left : COPY_SIZE);
    if (!buffer)
        writer->err = -ENOMEM;
    while (!writer->err && left) {
        size_t size = left < COPY_SIZE ? left : COPY_SIZE;
        ssize_t got = io_pread(fd, buffer, size, at);
        if (got < 0)
            writer->err = (int)got;
        else if ((size_t)got < size) /* it was there when the input was opened */
            writer->err = perfdata_fail(writer->data, -EBADMSG, at + (uint64_t)got,
                                        "the file ends here; was it cut since it was opened?");
        else
            writer_append(writer, buffer, size);
        at += size;
        left -= size;
    }
    free(buffer);
}

/* What follows goes to the file of that part. Only the one with the header is come back to. */
static void enter_part(struct perfdata_writer *writer, size_t part)
{
    push_out(writer);
    if (writer->part == 0)
        writer->main_offset = writer->offset;
    else
        writer->further_size += writer->offset;
    writer->part = part;
    writer->fd = part ? writer->part_fds[part - 1] : writer->main_fd;
    writer->offset = writer->written = part ? 0 : writer->main_offset;
}

void perfdata_writer_split(struct perfdata_writer *writer, const int *fds)
{
    writer->part_fds = fds;
}

/* What comes before the records. */
static int begin(struct perfdata_writer *writer)
{
    const struct perfdata *data = writer->data;
    const struct section prefix = {0, data->header.records.offset};

    if (writer->pipe && !data->pipe)
        return writer_begin_pipe(writer);
    /* All before the data stays where it is; the header gets its new numbers at the end. */
    writer_append_input(writer, &prefix);
    return writer->err;
}

int perfdata_writer_new(struct perfdata *data, enum perfdata_form form, int fd,
                        struct perfdata_writer **out)
{
    struct perfdata_writer *writer = calloc(1, sizeof(*writer));

    *out = NULL;
    if (!writer)
        return -ENOMEM;
    writer->data = data;
    writer->mapping_attr = attrs_mapping_attr(&data->attrs);
    writer->pipe = data->pipe || form == PERFDATA_FORM_PIPE;
    writer->fd = writer->main_fd = fd;
    writer->staging[0] = malloc(STAGED_SIZE);
    writer->staging[1] = malloc(STAGED_SIZE);
    writer->staged = writer->staging[0];
    int err = writer->staging[0] && writer->staging[1] ? 0 : -ENOMEM;
    if (!err && form != PERFDATA_FORM_PIPE)
        err = behind_new(&writer->behind);
    if (!err)
        err = begin(writer);
    if (err) {
        perfdata_writer_free(writer);
        return err;
    }
    data->watch = (struct buffer_watch){before_reuse, writer};
    *out = writer;
    return 0;
}

void perfdata_writer_free(struct perfdata_writer *writer)
{
    if (!writer)
        return;
    if (writer->data->watch.context == writer)
        writer->data->watch = (struct buffer_watch){0};
    behind_free(writer->behind);
    free(writer->staging[0]);
    free(writer->staging[1]);
    free(writer->moved);
    free(writer->build_ids);
    free(writer);
}

/* The record is kept. */
static int note_moved(struct perfdata_writer *writer, const struct perfdata_record *record)
{
    if (!array_reserve(&writer->moved, &writer->moved_capacity, writer->moved_count + 1))
        return -ENOMEM;
    writer->moved[writer->moved_count++] =
        (struct moved){record->offset, writer->offset - record->size};
    return 0;
}

/* A feature record of the pipe form that says what the output is not. */
static bool is_obsolete(const struct perfdata_writer *writer, const struct perfdata_record *record)
{
    if (record->type != PERFDATA_HEADER_FEATURE || record->size < RECORD_HEADER + 8)
        return false;
    return writer_leaves_out(writer,
                             bytes_u64(record->bytes + RECORD_HEADER, writer->data->swapped));
}

/* Bytes in the reader's buffer: those that lie side by side are written at once. */
static void keep_bytes(struct perfdata_writer *writer, const uint8_t *bytes, size_t size)
{
    if (writer->part_fds && writer->part != writer->data->files.part)
        enter_part(writer, writer->data->files.part);
    if (!writer->run || bytes != writer->run + writer->run_size) {
        end_run(writer);
        writer->run = bytes;
    }
    writer->run_size += size;
    writer->offset += size;
}

int perfdata_keep(struct perfdata_writer *writer, const struct perfdata_record *record)
{
    if (record->type >= PERFDATA_HEADER_ATTR && is_obsolete(writer, record))
        return writer->err;
    keep_bytes(writer, record->bytes, record->size);
    /* The index is for the file with the header. */
    if (record->type == PERFDATA_AUXTRACE && !writer->pipe && writer->data->files.part == 0 &&
        !writer->err)
        writer->err = note_moved(writer, record);
    if (record->payload) {
        const struct section payload = {record->offset + record->size, record->payload};
        writer_append_file(writer, writer->data->source.fd, &payload);
    }
    return writer->err;
}

int perfdata_keep_samples(struct perfdata_writer *writer, const struct perfdata_samples *samples)
{
    keep_bytes(writer, samples->bytes, samples->size);
    return writer->err;
}

int perfdata_writer_wait(struct perfdata_writer *writer)
{
    if (!writer->err && writer->behind)
        writer->err = behind_wait_all(writer->behind);
    return writer->err;
}

int perfdata_writer_finish(struct perfdata_writer *writer)
{
    if (writer->part != 0)
        enter_part(writer, 0);
    if (!writer->pipe)
        writer_finish_file_form(writer);
    writer_flush(writer);
    return writer->err;
}

bool perfdata_writer_is_pipe(const struct perfdata_writer *writer)
{
    return writer->pipe;
}

uint64_t perfdata_writer_cpu(const struct perfdata_writer *writer)
{
    return writer->behind ? behind_cpu(writer->behind) : 0;
}

uint64_t perfdata_writer_size(const struct perfdata_writer *writer)
{
    return writer->offset + writer->further_size;
}
