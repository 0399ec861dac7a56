/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include "eh_frame.h"
#include "encode.h"
#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_BUFFER (256u << 10)

#define HEADER_SIZE     12
#define ROW_SIZE        8
#define TERMINATOR_SIZE 4

/* Length, id, version, "zRSB", augmentation data, and the padding. */
#define CIE_SIZE_MAX (4 + 4 + 1 + 5 + CFI_CIE_PARAMETERS_MAX + 2 + CFI_CIE_INSTRUCTIONS_MAX + 3)

/* Both relative to the span, which is nearer than 2 GiB to all code that has a row. */
struct frames_row {
    int32_t pc, fde;
};

int frames_open(struct frames *frames, struct image *image, struct image_output *output,
                uint64_t offset, uint64_t size)
{
    *frames = (struct frames){.image = image,
                              .offset = offset,
                              .size = size,
                              .swapped = image_target_swapped(image->target)};
    return image_stream_open(&frames->stream, output, offset, NULL, FRAMES_BUFFER);
}

void frames_close(struct frames *frames)
{
    image_stream_close(&frames->stream);
    free(frames->rows);
}

/* Whether `more` bytes of frames and one more row fit, with all that has to follow. */
static bool has_room(const struct frames *frames, uint64_t more)
{
    const uint64_t used = image_stream_position(&frames->stream) - frames->offset;
    const uint64_t rows = HEADER_SIZE + ((uint64_t)frames->row_count + 1) * ROW_SIZE;

    return used + more + TERMINATOR_SIZE + rows <= frames->size;
}

/* Whether all of the span can reach `pc` with 32 signed bits. */
static bool in_reach(const struct frames *frames, uint64_t pc)
{
    const uint64_t end = frames->offset + frames->size;

    return pc < frames->offset ? end - pc <= INT32_MAX : pc - frames->offset <= INT32_MAX;
}

static uint64_t cie_size(const struct cfi_cie *cie)
{
    const size_t letters = 2u + cie->signal_frame + cie->b_key + 1u;

    return bytes_align_up(4 + 4 + 1 + letters + cie->parameters_size + 2 + cie->instructions_size,
                          4);
}

static uint64_t fde_size(const struct cfi_fde *fde)
{
    return bytes_align_up(4 + 4 + 4 + 4 + 1 + fde->instructions_size, 4);
}

/* The CIE in its one form: "zR" with 4-byte pc-relative pointers. */
static void build_cie(const struct frames *frames, const struct cfi_cie *cie, uint64_t size,
                      uint8_t *at)
{
    memset(at, 0, size); /* the padding is DW_CFA_nop */
    bytes_put_u32(at, (uint32_t)(size - 4), frames->swapped);
    at += 8;
    *at++ = cie->version;
    *at++ = 'z';
    *at++ = 'R';
    if (cie->signal_frame)
        *at++ = 'S';
    if (cie->b_key)
        *at++ = 'B';
    at++;
    memcpy(at, cie->parameters, cie->parameters_size);
    at += cie->parameters_size;
    *at++ = 1; /* bytes of augmentation data */
    *at++ = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
    memcpy(at, cie->instructions, cie->instructions_size);
}

static const struct frames_cie *find_cie(const struct frames *frames, XXH128_hash_t content)
{
    const size_t known = frames->cie_count < FRAMES_CIES ? frames->cie_count : FRAMES_CIES;

    for (size_t i = 0; i < known; i++)
        if (XXH128_isEqual(frames->cies[i].content, content))
            return &frames->cies[i];
    return NULL;
}

/* Where in the file the CIE is, for an FDE of so many bytes to follow; written if there is none
 * like it. False: there is no room. */
static bool share_cie(struct frames *frames, const struct cfi_cie *cie, uint64_t fde_bytes,
                      uint64_t *offset)
{
    const uint64_t size = cie_size(cie);
    uint8_t bytes[CIE_SIZE_MAX];

    build_cie(frames, cie, size, bytes);
    const XXH128_hash_t content = XXH3_128bits(bytes, size);
    const struct frames_cie *known = find_cie(frames, content);
    if (!has_room(frames, fde_bytes + (known ? 0 : size)))
        return false;
    if (known) {
        *offset = known->offset;
        return true;
    }
    *offset = image_stream_position(&frames->stream);
    frames->cies[frames->cie_count++ % FRAMES_CIES] =
        (struct frames_cie){.offset = *offset, .content = content};
    image_stream_put(&frames->stream, bytes, size);
    return true;
}

/* The same. Mostly it is the one that was used last. */
static bool use_cie(struct frames *frames, const struct cfi_cie *cie, uint64_t fde_bytes,
                    uint64_t *offset)
{
    *offset = frames->last_offset;
    if (cie->number && cie->number == frames->last_number)
        return has_room(frames, fde_bytes);
    if (!share_cie(frames, cie, fde_bytes, offset))
        return false;
    frames->last_number = cie->number;
    frames->last_offset = *offset;
    return true;
}

int frames_add(struct frames *frames, const struct cfi_cie *cie, const struct cfi_fde *fde,
               uint64_t pc, uint64_t size)
{
    const uint64_t bytes = fde_size(fde);
    uint64_t cie_offset;

    if (!in_reach(frames, pc) || size > UINT32_MAX)
        return 0;
    if (!array_reserve(&frames->rows, &frames->row_capacity, frames->row_count + 1))
        return -ENOMEM;
    if (!use_cie(frames, cie, bytes, &cie_offset))
        return 0;

    static const uint8_t padding[4];
    const uint64_t at = image_stream_position(&frames->stream);
    uint8_t fixed[17] = {0}; /* the last one: no augmentation data */
    bytes_put_u32(fixed, (uint32_t)(bytes - 4), frames->swapped);
    bytes_put_u32(fixed + 4, (uint32_t)(at + 4 - cie_offset), frames->swapped);
    bytes_put_u32(fixed + 8, (uint32_t)(pc - (at + 8)), frames->swapped);
    bytes_put_u32(fixed + 12, (uint32_t)size, frames->swapped);
    image_stream_put(&frames->stream, fixed, sizeof(fixed));
    image_stream_put(&frames->stream, fde->instructions, fde->instructions_size);
    image_stream_put(&frames->stream, padding, bytes - sizeof(fixed) - fde->instructions_size);
    frames->rows[frames->row_count++] = (struct frames_row){.pc = (int32_t)(pc - frames->offset),
                                                            .fde = (int32_t)(at - frames->offset)};
    return 1;
}

static int compare_rows(const void *left, const void *right)
{
    const struct frames_row *a = left, *b = right;

    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    return (a->fde > b->fde) - (a->fde < b->fde);
}

/* Sorts the rows; of several for one address the first that was written stays. */
static void sort_rows(struct frames *frames)
{
    size_t count = 0;

    array_sort(frames->rows, frames->row_count, sizeof(*frames->rows), compare_rows);
    for (size_t i = 0; i < frames->row_count; i++)
        if (count == 0 || frames->rows[i].pc != frames->rows[count - 1].pc)
            frames->rows[count++] = frames->rows[i];
    frames->row_count = count;
}

/* .eh_frame_hdr: version, three encodings, where .eh_frame is, the number of rows, the rows. */
static void put_header(struct frames *frames)
{
    const uint32_t delta = (uint32_t)(image_stream_position(&frames->stream) - frames->offset);
    uint8_t header[HEADER_SIZE] = {EH_FRAME_HDR_VERSION, DW_EH_PE_pcrel | DW_EH_PE_sdata4,
                                   DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4};

    bytes_put_u32(header + EH_FRAME_HDR_PTR, 0 - (delta + EH_FRAME_HDR_PTR), frames->swapped);
    bytes_put_u32(header + 8, (uint32_t)frames->row_count, frames->swapped);
    image_stream_put(&frames->stream, header, sizeof(header));
    for (size_t i = 0; i < frames->row_count; i++) {
        uint8_t row[ROW_SIZE];
        bytes_put_u32(row, (uint32_t)frames->rows[i].pc - delta, frames->swapped);
        bytes_put_u32(row + 4, (uint32_t)frames->rows[i].fde - delta, frames->swapped);
        image_stream_put(&frames->stream, row, sizeof(row));
    }
}

int frames_finish(struct frames *frames)
{
    static const uint8_t terminator[TERMINATOR_SIZE];
    struct image_section table = {
        .name = ".eh_frame_hdr", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .align = 4};
    struct image_section section = {.name = ".eh_frame",
                                    .type = SHT_PROGBITS,
                                    .flags = SHF_ALLOC,
                                    .offset = frames->offset,
                                    .align = 4};

    image_stream_put(&frames->stream, terminator, sizeof(terminator));
    table.offset = image_stream_position(&frames->stream);
    section.size = table.offset - section.offset;
    sort_rows(frames);
    put_header(frames);
    table.size = image_stream_position(&frames->stream) - table.offset;

    int err = image_stream_flush(&frames->stream);
    err = err ?: image_add_section(frames->image, &table);
    err = err ?: image_add_section(frames->image, &section);
    return err;
}
