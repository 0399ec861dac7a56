/* SPDX-License-Identifier: MIT */
/*
 * The start of a file in either form: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 *
 * Attrs and ids may lie before the data (as perf record writes them) or behind it (as perf inject
 * does for an input in pipe form).
 */
#include "internal.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int read_exactly(struct perfdata *data, void *buffer, size_t size, uint64_t offset,
                        const char *what)
{
    ssize_t got = io_pread(data->fd, buffer, size, offset);

    if (got < 0)
        return perfdata_fail(data, (int)got, offset, "cannot read %s: %s", what,
                             strerror(-(int)got));
    if ((size_t)got < size)
        return perfdata_fail(data, -EBADMSG, offset, "the file ends within %s; record again", what);
    return 0;
}

/* Bytes of an attr with `available` bytes of room, 0 if it cannot be one. */
static size_t attr_size(const uint8_t *bytes, uint64_t available, bool swapped)
{
    if (available < ATTR_SIZE_MIN)
        return 0;
    uint32_t size = bytes_u32(bytes + 4, swapped);
    if (size == 0)
        size = ATTR_SIZE_MIN;
    return size < ATTR_SIZE_MIN || size > available ? 0 : size;
}

int header_add_attr(struct perfdata *data, const uint8_t *bytes, size_t size, const uint8_t *ids,
                    size_t id_count, uint64_t offset)
{
    const int err =
        attrs_add(&data->attrs, bytes, size, ids, id_count, data->swapped, data->big_endian);

    if (err != -EINVAL)
        return err;
    return perfdata_fail(data, -EBADMSG, offset,
                         "the events keep their ids at different places in a record, so nobody can "
                         "tell whose a record is; record them separately");
}

/* One entry of the attr section: the attr and the section of its ids. */
static int read_attr(struct perfdata *data, const uint8_t *entry, size_t size, uint64_t offset,
                     uint64_t *ids_left)
{
    struct attr_ids place = {offset + size, section_at(entry + size, data->swapped)};
    const struct section *ids = &place.ids;

    if (!section_within(ids, data->file_size) || ids->size % sizeof(uint64_t))
        return perfdata_fail(data, -EBADMSG, place.reference,
                             "the ids of an event are not in the file; it is cut or damaged");
    /* No file has an id twice; a damaged one must not take more memory than it has bytes. */
    if (ids->size > *ids_left)
        return perfdata_fail(data, -EBADMSG, place.reference,
                             "the events claim more ids than the file can hold; it is damaged");
    *ids_left -= ids->size;
    if (!array_reserve(&data->header.attr_ids, &data->header.attr_ids_capacity,
                       data->attrs.count + 1))
        return -ENOMEM;
    data->header.attr_ids[data->attrs.count] = place;

    uint8_t *raw = section_memory(ids);
    if (!raw)
        return -ENOMEM;
    int err = read_exactly(data, raw, ids->size, ids->offset, "the ids of an event");
    if (!err)
        err = header_add_attr(data, entry, size, raw, (size_t)ids->size / sizeof(uint64_t), offset);
    free(raw);
    return err;
}

/* Entries follow each other at the distance their attr says; the header's attr_size only counts. */
static int read_attrs(struct perfdata *data, uint64_t entry_size)
{
    const struct section *section = &data->header.attrs;
    uint64_t count = section->size / entry_size, at = 0, ids_left = data->file_size;
    uint8_t *bytes = section_memory(section);
    int err;

    if (!bytes)
        return -ENOMEM;
    err = read_exactly(data, bytes, section->size, section->offset, "the list of events");
    for (uint64_t i = 0; !err && i < count; i++) {
        size_t size = attr_size(bytes + at, section->size - at, data->swapped);
        if (!size || section->size - at - size < SECTION_SIZE) {
            err = perfdata_fail(data, -EBADMSG, section->offset + at,
                                "event %" PRIu64 " does not fit the list of events; the file is "
                                "damaged",
                                i);
            break;
        }
        err = read_attr(data, bytes + at, size, section->offset + at, &ids_left);
        at += size + SECTION_SIZE;
    }
    free(bytes);
    return err;
}

static bool overlap(const struct section *a, const struct section *b)
{
    return a->size && b->size && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static int check_sections(struct perfdata *data, uint64_t entry_size)
{
    const struct section *attrs = &data->header.attrs, *records = &data->header.records;

    if (data->header.size != HEADER_SIZE && data->header.size != HEADER_SIZE_OLD)
        return perfdata_fail(data, -EBADMSG, 8,
                             "a header of %" PRIu64 " bytes is not known; the file is damaged or "
                             "of a newer perf",
                             data->header.size);
    if (entry_size < ATTR_SIZE_MIN + SECTION_SIZE)
        return perfdata_fail(data, -EBADMSG, 16,
                             "%" PRIu64 " bytes are too few for an event; the file is damaged",
                             entry_size);
    if (attrs->offset < data->header.size || !section_within(attrs, data->file_size))
        return perfdata_fail(data, -EBADMSG, HEADER_ATTRS,
                             "the list of events is not in the file; it is cut or damaged");
    if (records->size == 0)
        return perfdata_fail(data, -EBADMSG, HEADER_DATA + 8,
                             "the file says that it has no data: perf record was not ended "
                             "properly; record again");
    if (records->offset < data->header.size || !section_within(records, data->file_size))
        return perfdata_fail(data, -EBADMSG, HEADER_DATA,
                             "the data (%" PRIu64 " bytes from %" PRIu64
                             " on) are not all in the file, "
                             "which has %" PRIu64 " bytes; it is cut, copy or record it again",
                             records->size, records->offset, data->file_size);
    if (overlap(attrs, records))
        return perfdata_fail(data, -EBADMSG, HEADER_ATTRS,
                             "the list of events lies within the data; the file is damaged");
    return 0;
}

/* Ids within the data could not be told from records that may move. */
static int check_ids(struct perfdata *data)
{
    for (size_t i = 0; i < data->attrs.count; i++)
        if (overlap(&data->header.attr_ids[i].ids, &data->header.records))
            return perfdata_fail(data, -EBADMSG, data->header.attr_ids[i].reference,
                                 "the ids of an event lie within the data; the file is damaged");
    return 0;
}

/* perf record writes the size of the data at its end. Without it they reach as far as the file. */
static void take_unclosed(struct perfdata *data)
{
    struct section *records = &data->header.records;

    data->unclosed = records->size == 0 && records->offset < data->file_size;
    if (!data->unclosed)
        return;
    records->size = data->file_size - records->offset;
    diag_report(data->diag, DIAG_WARNING, data->path, HEADER_DATA + 8,
                "perf record was not ended properly: what is whole of its data is used, the "
                "features (machine, build-ids, ...) are missing");
}

static int read_file_form(struct perfdata *data)
{
    int err = read_exactly(data, data->header.bytes, HEADER_SIZE_OLD, 0, "its header");
    if (err)
        return err;

    uint64_t entry_size = bytes_u64(data->header.bytes + 16, data->swapped);
    data->header.attrs = section_at(data->header.bytes + HEADER_ATTRS, data->swapped);
    data->header.records = section_at(data->header.bytes + HEADER_DATA, data->swapped);
    take_unclosed(data);
    err = check_sections(data, entry_size);
    if (!err && data->header.size == HEADER_SIZE)
        err = read_exactly(data, data->header.bytes, HEADER_SIZE, 0, "its header");
    if (!err)
        err = read_attrs(data, entry_size);
    if (!err)
        err = check_ids(data);
    if (!err && data->header.size == HEADER_SIZE && !data->unclosed)
        err = features_read(data);
    return err;
}

/* The magic is a number: its bytes are in the order of the machine that recorded. */
static bool is_little(const uint8_t magic[HEADER_MAGIC])
{
    return memcmp(magic, "PERFILE2", HEADER_MAGIC) == 0;
}

static bool is_big(const uint8_t magic[HEADER_MAGIC])
{
    return memcmp(magic, "2ELIFREP", HEADER_MAGIC) == 0;
}

bool header_has_magic(const uint8_t magic[HEADER_MAGIC])
{
    return is_little(magic) || is_big(magic);
}

int header_read(struct perfdata *data)
{
    ssize_t got = io_pread(data->fd, data->header.bytes, HEADER_SIZE_PIPE, 0);
    if (got < 0)
        return perfdata_fail(data, (int)got, 0, "cannot read it: %s", strerror(-(int)got));
    if (got == 0)
        return perfdata_fail(data, -EBADMSG, 0, "is empty; perf record wrote nothing");
    if (got >= HEADER_MAGIC && memcmp(data->header.bytes, "PERFFILE", HEADER_MAGIC) == 0)
        return perfdata_fail(data, -EBADMSG, 0,
                             "is in the format of perf before Linux 2.6.36, which is not read");

    if (got < HEADER_SIZE_PIPE || !header_has_magic(data->header.bytes))
        return perfdata_fail(data, -EBADMSG, 0,
                             "is not a perf.data file; give one that perf record wrote");
    data->big_endian = is_big(data->header.bytes);
    data->swapped = data->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    data->header.size = bytes_u64(data->header.bytes + 8, data->swapped);
    data->pipe = data->header.size == HEADER_SIZE_PIPE;
    if (!data->pipe)
        return read_file_form(data);
    data->header.records = (struct section){HEADER_SIZE_PIPE, data->file_size - HEADER_SIZE_PIPE};
    return 0;
}
