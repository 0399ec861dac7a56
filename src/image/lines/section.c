/* SPDX-License-Identifier: MIT */
#include "section.h"

#include "../encode.h"
#include "jitinject/bytes.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define SECTION_BUFFER (256u << 10)
#define DEFLATE_CHUNK  (16u << 10)

int lines_section_open(struct lines_section *section, struct image *image,
                       const struct image_section *header, bool compress)
{
    uint64_t offset = image->end;

    *section = (struct lines_section){.image = image, .header = *header, .compress = compress};
    section->header.type = SHT_PROGBITS;
    section->header.align = 1;
    if (compress) {
        section->header.align = image->target->is_64bit ? 8 : 4;
        section->header.flags |= SHF_COMPRESSED;
        offset = bytes_align_up(offset, section->header.align);
        section->deflating = deflateInit(&section->deflate, Z_DEFAULT_COMPRESSION) == Z_OK;
        if (!section->deflating)
            return -ENOMEM;
    }
    section->header.offset = offset;
    /* What is compressed comes behind its header, which is written at the end. */
    return image_stream_open(&section->stream, &image->output,
                             offset + (compress ? image_compression_size(image->target) : 0), NULL,
                             SECTION_BUFFER);
}

void lines_section_close(struct lines_section *section)
{
    if (section->deflating)
        deflateEnd(&section->deflate);
    section->deflating = false;
    image_stream_close(&section->stream);
}

static void put_compressed(struct lines_section *section, const void *bytes, size_t size, int flush)
{
    z_stream *stream = &section->deflate;
    uint8_t chunk[DEFLATE_CHUNK];

    memcpy(&stream->next_in, &bytes, sizeof(bytes)); /* zlib has it without const */
    stream->avail_in = (uInt)size;
    do {
        stream->next_out = chunk;
        stream->avail_out = sizeof(chunk);
        deflate(stream, flush);
        image_stream_put(&section->stream, chunk, sizeof(chunk) - stream->avail_out);
    } while (stream->avail_out == 0);
}

void lines_section_put(struct lines_section *section, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    section->size += size;
    if (!section->compress) {
        image_stream_put(&section->stream, from, size);
        return;
    }
    while (size) {
        const size_t part = size < UINT32_MAX ? size : UINT32_MAX;
        put_compressed(section, from, part, Z_NO_FLUSH);
        from += part;
        size -= part;
    }
}

static int write_compression_header(struct lines_section *section)
{
    const struct image *image = section->image;
    const Elf64_Chdr header = {
        .ch_type = ELFCOMPRESS_ZLIB, .ch_size = section->size, .ch_addralign = 1};
    Elf64_Chdr buffer;

    image_encode_compression(image->target, &header, &buffer);
    return image_output_write(&section->image->output, &buffer,
                              image_compression_size(image->target), section->header.offset);
}

int lines_section_finish(struct lines_section *section)
{
    int err = 0;

    if (section->compress) {
        put_compressed(section, NULL, 0, Z_FINISH);
        err = write_compression_header(section);
    }
    section->header.size = image_stream_position(&section->stream) - section->header.offset;
    err = err ?: image_stream_flush(&section->stream);
    return err ?: image_add_section(section->image, &section->header);
}
