/* SPDX-License-Identifier: MIT */
/*
 * What lies behind the data of the file form: the features, whose offsets all change with the size
 * of the data, and in some files the attrs and their ids.
 */
#include "writer.h"

#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>

/* tools/perf/util/auxtrace.h: a number of entries {u64 offset of the record, u64 its size}. */
#define INDEX_HEAD  8
#define INDEX_ENTRY 16

/* A feature as it is to be written. */
struct output {
    unsigned bit;
    struct section input; /* copied ... */
    const uint8_t *bytes; /* ... and followed by these */
    size_t size;
};

static int by_origin(const void *key, const void *element)
{
    uint64_t from = *(const uint64_t *)key;
    const struct moved *moved = element;

    return from < moved->from ? -1 : from > moved->from;
}

/*
 * Sets the offsets of an AUXTRACE index right, in place; entries of records that were not kept go.
 * Returns the new size.
 */
static size_t relocate_index(const struct perfdata_writer *writer, uint8_t *index, size_t size)
{
    bool swapped = writer->data->swapped;
    uint64_t count = bytes_u64(index, swapped), kept = 0;

    if (count > (size - INDEX_HEAD) / INDEX_ENTRY)
        count = (size - INDEX_HEAD) / INDEX_ENTRY;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = index + INDEX_HEAD + i * INDEX_ENTRY;
        uint8_t *target = index + INDEX_HEAD + kept * INDEX_ENTRY;
        uint64_t from = bytes_u64(entry, swapped);
        const struct moved *moved = writer->moved_count
                                        ? bsearch(&from, writer->moved, writer->moved_count,
                                                  sizeof(*writer->moved), by_origin)
                                        : NULL;
        if (!moved)
            continue;
        bytes_put_u64(target + 8, bytes_u64(entry + 8, swapped), swapped);
        bytes_put_u64(target, moved->to, swapped);
        kept++;
    }
    bytes_put_u64(index, kept, swapped);
    return INDEX_HEAD + kept * INDEX_ENTRY;
}

/* The index of the input with new offsets; *index is the caller's to free. */
static int new_index(const struct perfdata_writer *writer, struct output *output, uint8_t **index)
{
    const size_t size = (size_t)output->input.size;

    if (output->input.size < INDEX_HEAD)
        return 0;
    *index = section_memory(&output->input);
    if (!*index)
        return -ENOMEM;
    ssize_t got = io_pread(writer->data->fd, *index, size, output->input.offset);
    if (got < 0)
        return (int)got;
    if ((size_t)got < size)
        return -EBADMSG;
    output->input.size = 0;
    output->bytes = *index;
    output->size = relocate_index(writer, *index, size);
    return 0;
}

/* All features in ascending order of their bits. Returns how many. */
static size_t list_features(const struct perfdata_writer *writer, struct output *list)
{
    const struct perfdata *data = writer->data;
    bool add = writer->build_ids_size > 0 && data->header.size == HEADER_SIZE;
    size_t count = 0;

    for (size_t i = 0; i < data->header.feature_count; i++) {
        const struct feature *feature = &data->header.features[i];
        if (writer_leaves_out(writer, feature->bit))
            continue;
        if (add && feature->bit > PERFDATA_FEATURE_BUILD_ID) {
            list[count++].bit = PERFDATA_FEATURE_BUILD_ID;
            add = false;
        }
        list[count++] = (struct output){.bit = feature->bit, .input = feature->payload};
        if (feature->bit == PERFDATA_FEATURE_BUILD_ID)
            add = false;
    }
    if (add)
        list[count++].bit = PERFDATA_FEATURE_BUILD_ID;
    for (size_t i = 0; i < count; i++) {
        if (list[i].bit == PERFDATA_FEATURE_BUILD_ID) {
            list[i].bytes = writer->build_ids;
            list[i].size = writer->build_ids_size;
        }
    }
    return count;
}

static void write_features(struct perfdata_writer *writer, uint8_t *header)
{
    struct output list[FEATURE_BITS + 1] = {0};
    bool swapped = writer->data->swapped;
    size_t count = list_features(writer, list);
    uint64_t at = writer->offset + count * SECTION_SIZE;
    uint8_t *index = NULL;

    if (writer->data->header.size == HEADER_SIZE)
        memset(header + HEADER_FEATURES, 0, FEATURE_BITS / 8);
    for (size_t i = 0; i < count && !writer->err; i++) {
        uint8_t entry[SECTION_SIZE];
        if (list[i].bit == PERFDATA_FEATURE_AUXTRACE)
            writer->err = new_index(writer, &list[i], &index);
        uint64_t size = list[i].input.size + list[i].size;
        bytes_put_u64(entry, at, swapped);
        bytes_put_u64(entry + 8, size, swapped);
        writer_append(writer, entry, sizeof(entry));
        header[features_byte(writer->data, list[i].bit)] |= (uint8_t)(1u << list[i].bit % 8);
        at += size;
    }
    for (size_t i = 0; i < count; i++) {
        writer_append_input(writer, &list[i].input);
        writer_append(writer, list[i].bytes, list[i].size);
    }
    free(index);
}

static void patch_u64(struct perfdata_writer *writer, uint64_t offset, uint64_t value)
{
    uint8_t bytes[8];

    bytes_put_u64(bytes, value, writer->data->swapped);
    if (!writer->err)
        writer->err = io_pwrite(writer->fd, bytes, sizeof(bytes), offset);
}

/* Attrs and ids that lie behind the data of the input come behind the features of the output. */
static void write_attrs(struct perfdata_writer *writer, uint8_t *header)
{
    const struct perfdata *data = writer->data;
    uint64_t data_end = data->header.records.offset + data->header.records.size;
    const struct section *attrs = &data->header.attrs;
    uint64_t attrs_at = attrs->offset;

    if (attrs->offset >= data_end) {
        attrs_at = writer->offset;
        writer_append_input(writer, attrs);
        bytes_put_u64(header + HEADER_ATTRS, attrs_at, data->swapped);
    }
    writer_flush(writer);
    for (size_t i = 0; i < data->attrs.count; i++) {
        const struct attr_ids *place = &data->header.attr_ids[i];
        if (place->ids.offset < data_end || !place->ids.size)
            continue;
        patch_u64(writer, place->reference - attrs->offset + attrs_at, writer->offset);
        writer_append_input(writer, &place->ids);
    }
}

void writer_finish_file_form(struct perfdata_writer *writer)
{
    const struct perfdata *data = writer->data;
    uint8_t header[HEADER_SIZE];
    const struct section types = section_at(data->header.bytes + HEADER_TYPES, data->swapped);

    memcpy(header, data->header.bytes, sizeof(header));
    bytes_put_u64(header + HEADER_DATA + 8, writer->offset - data->header.records.offset,
                  data->swapped);
    /* A list of names that no perf has read since Linux 3.4; it does not come along. */
    if (types.offset >= data->header.records.offset)
        memset(header + HEADER_TYPES, 0, SECTION_SIZE);
    write_features(writer, header);
    write_attrs(writer, header);
    writer_flush(writer);
    if (!writer->err)
        writer->err = io_pwrite(writer->fd, header, data->header.size, 0);
}
