/* SPDX-License-Identifier: MIT */
/* The records in their order: those in the file, and those inside of compressed ones. */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>

enum {
    AUXTRACE_SIZE = 8,     /* u64: bytes of trace behind the record */
    TRACING_DATA_SIZE = 8, /* u32: bytes of tracing data behind it, padding included */
};

/* What the inner functions say: */
enum {
    NOTHING = 0, /* there is no (more) record here */
    RECORD = 1,  /* the record is set */
    AGAIN = 2,   /* a compressed record was begun: look into it */
};

void perfdata_rewind(struct perfdata *data)
{
    parts_enter(data, 0);
    data->number = 0;
}

/*
 * perf record writes its closing words to standard error; with "-o - > file 2>&1" they end up
 * behind the records, and perf reads such a file.
 */
static bool is_closing_words(const struct perfdata *data)
{
    static const char words[] = "[ perf record: ";

    return data->pipe && source_available(&data->source) >= sizeof(words) - 1 &&
           memcmp(source_bytes(&data->source), words, sizeof(words) - 1) == 0;
}

/* The record at the position does not end within the data. */
static int cut_record(struct perfdata *data)
{
    const struct source *source = &data->source;

    if (data->unclosed) {
        if (!data->ended)
            diag_report(data->diag, DIAG_WARNING, data->path, source->offset,
                        "the data end within a record; %" PRIu64 " bytes are left out",
                        source_left(source));
        return NOTHING;
    }
    if (is_closing_words(data)) {
        if (!data->ended)
            diag_report(data->diag, DIAG_WARNING, data->path, source->offset,
                        "what perf record said at its end is in the file, behind the records; it "
                        "is left out");
        return NOTHING;
    }
    return perfdata_fail(data, -EBADMSG, source->offset,
                         "the last record is cut, or is none: %" PRIu64 " bytes are left; the file "
                         "is cut or damaged, copy or record it again",
                         source_left(source));
}

/* What source_need() and its like returned is reported. */
static int failed(struct perfdata *data, int err)
{
    if (err == -ENODATA)
        return cut_record(data);
    return perfdata_fail(data, err, data->source.offset, "cannot read it: %s", strerror(-err));
}

/* Bytes that follow the record at the position, outside of its size. RECORD, or what it is instead.
 */
static int find_payload(struct perfdata *data, const struct perfdata_record *record)
{
    uint64_t payload = 0;

    if (record->type == PERFDATA_AUXTRACE && record->size >= AUXTRACE_SIZE + 8)
        payload = bytes_u64(record->bytes + AUXTRACE_SIZE, data->swapped);
    else if (record->type == PERFDATA_TRACING_DATA && record->size >= TRACING_DATA_SIZE + 4)
        payload = bytes_u32(record->bytes + TRACING_DATA_SIZE, data->swapped);
    if (payload > source_left(&data->source) - record->size)
        return data->unclosed
                   ? cut_record(data)
                   : perfdata_fail(data, -EBADMSG, record->offset,
                                   "%" PRIu64
                                   " bytes are to follow the record, the data end before; "
                                   "the file is cut or damaged, copy or record it again",
                                   payload);
    data->payload = payload;
    return RECORD;
}

static int next_in_file(struct perfdata *data, struct perfdata_record *record)
{
    struct source *source = &data->source;

    source_skip(source, data->payload);
    data->payload = 0;
    if (source_left(source) == 0)
        return NOTHING;
    int err = source_need(source, RECORD_HEADER);
    if (err)
        return failed(data, err);

    const uint8_t *bytes = source_bytes(source);
    uint32_t type = bytes_u32(bytes, data->swapped);
    uint16_t size = bytes_u16(bytes + 6, data->swapped);
    if (type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2 ||
        source->offset < data->pieces_end) {
        err = compressed_begin(data, type, size);
        return err ? failed(data, err) : AGAIN;
    }
    if (size < RECORD_HEADER && data->unclosed)
        return cut_record(data);
    if (size < RECORD_HEADER)
        return perfdata_fail(data, -EBADMSG, source->offset,
                             "a record of %u bytes cannot be; the file is damaged", size);
    err = source_need(source, size);
    if (err)
        return failed(data, err);

    record->offset = source->offset;
    record->type = type;
    record->misc = bytes_u16(source_bytes(source) + 4, data->swapped);
    record->size = size;
    record->bytes = source_bytes(source);
    int got = type < PERFDATA_HEADER_ATTR ? RECORD : find_payload(data, record);
    if (got != RECORD)
        return got;
    record->payload = data->payload;
    source_skip(source, size);
    return RECORD;
}

/* Types that cannot be within a compressed record: what belongs to them is in the file. */
static bool is_nested(uint32_t type)
{
    return type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2 ||
           type == PERFDATA_AUXTRACE || type == PERFDATA_TRACING_DATA;
}

/* Takes the next record off the unpacked bytes; NOTHING if they hold no whole one. */
static int take_inflated(struct perfdata *data, struct perfdata_record *record)
{
    size_t available;
    const uint8_t *bytes = inflate_bytes(data->inflate, &available);

    if (available < RECORD_HEADER)
        return NOTHING;
    uint64_t offset = inflate_offset(data->inflate);
    uint32_t type = bytes_u32(bytes, data->swapped);
    uint16_t size = bytes_u16(bytes + 6, data->swapped);
    if (size < RECORD_HEADER || is_nested(type))
        return perfdata_fail(data, -EBADMSG, offset,
                             "a record of type %u and %u bytes cannot be within a compressed one; "
                             "the file is damaged",
                             type, size);
    if (available < size)
        return NOTHING;
    record->offset = offset;
    record->type = type;
    record->misc = bytes_u16(bytes + 4, data->swapped);
    record->size = size;
    record->bytes = bytes;
    record->payload = 0;
    inflate_take(data->inflate, size);
    return RECORD;
}

static int next_inflated(struct perfdata *data, struct perfdata_record *record)
{
    const char *reason;

    for (;;) {
        int got = take_inflated(data, record);
        if (got != NOTHING)
            return got;
        got = inflate_pull(data->inflate, &data->source, &reason);
        if (got == -EBADMSG)
            return perfdata_fail(data, got, inflate_offset(data->inflate),
                                 "the compressed data cannot be unpacked (%s); the file is damaged",
                                 reason);
        if (got < 0)
            return failed(data, got);
        if (got == 0)
            return NOTHING;
    }
}

/* The recorder may have kept the end of its last record in the compressor; perf says nothing. */
static void report_unfinished(struct perfdata *data)
{
    size_t size = 0;

    if (data->inflate)
        inflate_bytes(data->inflate, &size);
    if (size && !data->ended)
        diag_report(data->diag, DIAG_WARNING, data->path, inflate_offset(data->inflate),
                    "the compressed data end within a record, of which %zu bytes are there; it is "
                    "left out",
                    size);
}

/* The next record of the part. */
static int next_in_part(struct perfdata *data, struct perfdata_record *record)
{
    int got;

    do {
        got = data->inflate ? next_inflated(data, record) : NOTHING;
        if (got == NOTHING)
            got = next_in_file(data, record);
    } while (got == AGAIN);
    if (got == NOTHING)
        report_unfinished(data);
    return got;
}

/*
 * What nearly all records are: whole in the buffer, and of a type that has nothing behind it.
 * False: nothing was done.
 */
static bool take_buffered(struct perfdata *data, struct perfdata_record *record)
{
    struct source *source = &data->source;
    const size_t available = source_available(source);
    const uint8_t *bytes = source_bytes(source);

    if (available < RECORD_HEADER || data->inflate || data->payload)
        return false;
    const uint32_t type = bytes_u32(bytes, data->swapped);
    const uint16_t size = bytes_u16(bytes + 6, data->swapped);
    if ((type >= PERFDATA_HEADER_ATTR && type != PERFDATA_FINISHED_ROUND) || size < RECORD_HEADER ||
        size > available)
        return false;
    record->number = data->number++;
    record->offset = source->offset;
    record->type = type;
    record->misc = bytes_u16(bytes + 4, data->swapped);
    record->size = size;
    record->bytes = bytes;
    record->payload = 0;
    source->offset += size;
    source->begin += size;
    return true;
}

bool perfdata_next_plain(struct perfdata *data, struct perfdata_record *record)
{
    struct source *source = &data->source;

    return take_buffered(data, record) ||
           (!data->inflate && !data->payload && source_need(source, RECORD_HEADER) == 0 &&
            source_need(source, bytes_u16(source_bytes(source) + 6, data->swapped)) == 0 &&
            take_buffered(data, record));
}

int perfdata_next(struct perfdata *data, struct perfdata_record *record)
{
    if (take_buffered(data, record))
        return RECORD;
    int got = next_in_part(data, record);

    while (got == NOTHING && data->files.part + 1 < data->files.part_count) {
        parts_enter(data, data->files.part + 1);
        got = next_in_part(data, record);
    }
    if (got == NOTHING)
        data->ended = true;
    if (got != RECORD)
        return got;

    record->number = data->number++;
    if (record->type >= PERFDATA_HEADER_ATTR && record->number >= data->learned) {
        data->learned = data->number;
        int err = learn_record(data, record);
        if (err)
            return err;
    }
    return RECORD;
}
