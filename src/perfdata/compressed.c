/* SPDX-License-Identifier: MIT */
/*
 * The frames of compressed data: COMPRESSED is a header and zstd data up to its size, COMPRESSED2
 * says how long the data are and is padded to 8 bytes.
 *
 * perf up to 7.1 writes what it compressed at once as one COMPRESSED2 record even if that is more
 * than 64 KiB, and has cut it into records before: the 16-bit size has overflowed then, and its
 * data is made of the first record's data, as much as fits, and further records with their headers.
 * https://git.kernel.org/torvalds/c/ad40a000ea59 ends that.
 */
#include "internal.h"

#include <errno.h>

#define DATA_SIZE  8 /* u64 */
#define HEAD2_SIZE 16
/* tools/perf/builtin-record.c, zstd_compress(): what such a first record holds. */
#define PIECE_MAX (65536 - HEAD2_SIZE - 1)

/* A COMPRESSED2 record that is within the data of another. */
static int begin_piece(struct perfdata *data)
{
    struct source *source = &data->source;
    uint64_t left = data->pieces_end - source->offset, size = 0;
    int err = source_need(source, HEAD2_SIZE);

    if (err)
        return err;
    if (bytes_u32(source_bytes(source), data->swapped) == PERFDATA_COMPRESSED2)
        size = bytes_u16(source_bytes(source) + 6, data->swapped);
    if (size <= HEAD2_SIZE || size > left)
        return -ENODATA;
    uint64_t offset = source->offset;
    source_skip(source, HEAD2_SIZE);
    inflate_begin(data->inflate, offset, size - HEAD2_SIZE,
                  size == left ? data->pieces_padding : 0);
    return 0;
}

/* Whether the record at the position, of `content` bytes of data, is made of several. */
static int has_pieces(struct perfdata *data, uint64_t content, bool *pieces)
{
    struct source *source = &data->source;

    *pieces = false;
    if (content <= PIECE_MAX + HEAD2_SIZE)
        return 0;
    int err = source_need(source, HEAD2_SIZE + PIECE_MAX + HEAD2_SIZE);
    if (!err)
        *pieces = bytes_u32(source_bytes(source) + HEAD2_SIZE + PIECE_MAX, data->swapped) ==
                  PERFDATA_COMPRESSED2;
    return err;
}

static int begin_compressed2(struct perfdata *data, uint16_t size)
{
    struct source *source = &data->source;
    uint64_t offset = source->offset, left = source_left(source), padding;
    bool pieces;
    int err = source_need(source, HEAD2_SIZE);

    if (err)
        return err;
    uint64_t content = bytes_u64(source_bytes(source) + DATA_SIZE, data->swapped);
    if (content > left - HEAD2_SIZE)
        return -ENODATA;
    left -= HEAD2_SIZE + content;
    padding = size >= HEAD2_SIZE + content ? size - HEAD2_SIZE - content : -content % 8;
    if (padding > left) {
        if (size >= HEAD2_SIZE + content)
            return -ENODATA;
        padding = left; /* that perf has ended here, before the padding */
    }
    err = has_pieces(data, content, &pieces);
    if (err)
        return err;
    source_skip(source, HEAD2_SIZE);
    if (pieces) {
        data->pieces_end = source->offset + content;
        data->pieces_padding = padding;
        content = PIECE_MAX;
        padding = 0;
    }
    inflate_begin(data->inflate, offset, content, padding);
    return 0;
}

int compressed_begin(struct perfdata *data, uint32_t type, uint16_t size)
{
    struct source *source = &data->source;
    uint64_t offset = source->offset;
    int err = data->inflate ? 0 : inflate_new(&data->watch, &data->inflate);

    if (err)
        return err;
    if (offset < data->pieces_end)
        return begin_piece(data);
    if (type == PERFDATA_COMPRESSED2)
        return begin_compressed2(data, size);
    if (size < RECORD_HEADER || size > source_left(source))
        return -ENODATA;
    source_skip(source, RECORD_HEADER);
    inflate_begin(data->inflate, offset, size - RECORD_HEADER, 0);
    return 0;
}
