/* SPDX-License-Identifier: MIT */
/*
 * What the file form keeps outside of its data, as the records that the pipe form has for it.
 * tools/perf/Documentation/perf.data-file-format.txt of Linux, "pipe-mode data".
 */
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* A record has 16 bits for its size. */
#define RECORD_MAX   UINT16_MAX
#define FEATURE_HEAD 16 /* header and u64 feature */
#define TRACING_HEAD 12 /* header and u32 size of what follows the record */
#define ROW_MIN      36 /* a build-id up to its file name */

/*
 * perf report ends with an error at a feature that it does not know, other than in a file. This is
 * the last one of Linux 6.1; what came later nobody needs to find code.
 */
#define FEATURE_LAST 31

static void append_header(struct perfdata_writer *writer, uint32_t type, uint16_t misc, size_t size)
{
    uint8_t header[RECORD_HEADER];

    put_record_header(header, type, misc, size, writer->data->swapped);
    writer_append(writer, header, sizeof(header));
}

static void write_file_header(struct perfdata_writer *writer)
{
    uint8_t header[HEADER_SIZE_PIPE];

    memcpy(header, writer->data->header.bytes, HEADER_MAGIC);
    bytes_put_u64(header + HEADER_MAGIC, HEADER_SIZE_PIPE, writer->data->swapped);
    writer_append(writer, header, sizeof(header));
}

static int write_attr(struct perfdata_writer *writer, size_t number)
{
    const struct perfdata *data = writer->data;
    const struct attr_ids *place = &data->header.attr_ids[number];
    const uint32_t size = data->attrs.list[number].size;
    uint8_t head[8];

    if (size > RECORD_MAX - RECORD_HEADER || place->ids.size > RECORD_MAX - RECORD_HEADER - size)
        return perfdata_fail(data, -E2BIG, place->reference,
                             "event %zu, with %" PRIu64 " ids, is too large for the pipe form: "
                             "write to a file",
                             number, place->ids.size / sizeof(uint64_t));
    append_header(writer, PERFDATA_HEADER_ATTR, 0, RECORD_HEADER + size + place->ids.size);
    /* The size of an attr may be unsaid in the file, but here the ids begin where it says. */
    bytes_put_u32(head, data->attrs.list[number].type, data->swapped);
    bytes_put_u32(head + 4, size, data->swapped);
    writer_append(writer, head, sizeof(head));
    const struct section rest = {place->reference - size + sizeof(head), size - sizeof(head)};
    writer_append_input(writer, &rest);
    writer_append_input(writer, &place->ids);
    return writer->err;
}

static void write_tracing_data(struct perfdata_writer *writer, const struct section *payload)
{
    const size_t padding = -payload->size % 8;
    uint8_t size[4], zeros[8] = {0};

    bytes_put_u32(size, (uint32_t)(payload->size + padding), writer->data->swapped);
    append_header(writer, PERFDATA_TRACING_DATA, 0, TRACING_HEAD);
    writer_append(writer, size, sizeof(size));
    writer_append_input(writer, payload);
    writer_append(writer, zeros, padding);
}

/* A row of the build-id feature is such a record but for its type, which nobody sets there. */
static int write_build_id(struct perfdata_writer *writer, struct source *rows)
{
    const bool swapped = writer->data->swapped;
    int err = source_need(rows, ROW_MIN);

    if (err)
        return err;
    const size_t size = bytes_u16(source_bytes(rows) + 6, swapped);
    const size_t padding = -size % 8; /* perf 7.2 takes no other sizes */
    if (size < ROW_MIN || size > source_left(rows) || size + padding > RECORD_MAX)
        return -ENODATA;
    err = source_need(rows, size);
    if (err)
        return err;
    const uint8_t *row = source_bytes(rows), zeros[8] = {0};
    append_header(writer, PERFDATA_BUILD_ID, bytes_u16(row + 4, swapped), size + padding);
    writer_append(writer, row + RECORD_HEADER, size - RECORD_HEADER);
    writer_append(writer, zeros, padding);
    source_skip(rows, size);
    return writer->err;
}

static int write_build_ids(struct perfdata_writer *writer, const struct section *payload)
{
    const struct perfdata *data = writer->data;
    struct source rows;
    int err = source_init(&rows, payload->size, NULL);

    if (err)
        return err;
    source_move(&rows, data->fd, payload->offset, payload->offset + payload->size);
    while (!err && source_left(&rows))
        err = write_build_id(writer, &rows);
    if (err == -ENODATA) {
        diag_report(data->diag, DIAG_WARNING, data->path, rows.offset,
                    "the list of build-ids is damaged; the rest of it is left out");
        err = 0;
    } else if (err && !writer->err) {
        err = perfdata_fail(data, err, rows.offset, "cannot read it: %s", strerror(-err));
    }
    source_clear(&rows);
    return err;
}

static void write_feature(struct perfdata_writer *writer, const struct feature *feature)
{
    const struct perfdata *data = writer->data;
    uint8_t number[8];

    bytes_put_u64(number, feature->bit, data->swapped);
    append_header(writer, PERFDATA_HEADER_FEATURE, 0, FEATURE_HEAD + feature->payload.size);
    writer_append(writer, number, sizeof(number));
    writer_append_input(writer, &feature->payload);
}

/* Whether the pipe form has a record for the feature that can hold it. */
static bool has_place(const struct feature *feature)
{
    const uint64_t size = feature->payload.size;

    switch (feature->bit) {
    case PERFDATA_FEATURE_TRACING_DATA:
        return size <= UINT32_MAX - 7;
    case PERFDATA_FEATURE_BUILD_ID:
        return true;
    case PERFDATA_FEATURE_AUXTRACE: /* an index of places in the file */
        return false;
    default:
        return feature->bit <= FEATURE_LAST && size <= RECORD_MAX - FEATURE_HEAD;
    }
}

static int write_described(struct perfdata_writer *writer, const struct feature *feature)
{
    const struct perfdata *data = writer->data;

    if (writer_leaves_out(writer, feature->bit))
        return 0;
    if (!has_place(feature))
        diag_report(data->diag, DIAG_NOTE, data->path, feature->payload.offset,
                    "feature %u has no place in the pipe form: left out", feature->bit);
    else if (feature->bit == PERFDATA_FEATURE_TRACING_DATA)
        write_tracing_data(writer, &feature->payload);
    else if (feature->bit == PERFDATA_FEATURE_BUILD_ID)
        return write_build_ids(writer, &feature->payload);
    else
        write_feature(writer, feature);
    return writer->err;
}

int writer_begin_pipe(struct perfdata_writer *writer)
{
    const struct perfdata *data = writer->data;
    int err = 0;

    write_file_header(writer);
    for (size_t i = 0; i < data->attrs.count && !err; i++)
        err = write_attr(writer, i);
    for (size_t i = 0; i < data->header.feature_count && !err; i++)
        err = write_described(writer, &data->header.features[i]);
    return err ? err : writer->err;
}
