/* SPDX-License-Identifier: MIT */
/* The sections whose places are known before anything is written. */
#include "internal.h"

#include "encode.h"
#include "jitinject/array.h"
#include "jitinject/bytes.h"
#include "symbols.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>

/*
 * An extent is a section, up to this many: binutils walks all sections for each address that it
 * looks up. With more extents a section spans the smaller gaps between them, which stay holes; the
 * readers take a section's bytes whole, so that one section over everything would be no better.
 */
#define TEXT_SECTIONS_MAX 1024
#define TEXT_ALIGN_MAX    64

int image_add_section(struct image *image, const struct image_section *section)
{
    const uint64_t end = section->offset + section->size;

    if (!image->target->is_64bit && end > UINT32_MAX) {
        diag_report(image->diag, DIAG_ERROR, NULL, DIAG_NO_OFFSET,
                    "the code of process %u needs an image of %llu bytes, and a 32-bit ELF file "
                    "ends at 4 GiB",
                    image->file->pid, (unsigned long long)end);
        return -EFBIG;
    }
    if (!array_reserve(&image->sections, &image->section_capacity, image->section_count + 1))
        return -ENOMEM;
    image->sections[image->section_count++] = *section;
    if (image->end < end)
        image->end = end;
    return 0;
}

/* The file is a mirror of memory, so an address is as aligned as its offset. */
static uint64_t text_align(uint64_t offset)
{
    const uint64_t lowest_bit = offset & -offset;

    return lowest_bit < TEXT_ALIGN_MAX ? lowest_bit : TEXT_ALIGN_MAX;
}

/* The first extent behind a section that begins at `first` and spans gaps of less than `gap`. */
static size_t section_end(const struct place_file *file, size_t first, uint64_t gap)
{
    const struct place_extent *extents = file->extents;
    size_t i = first + 1;

    while (i < file->extent_count &&
           extents[i].offset - (extents[i - 1].offset + extents[i - 1].size) < gap)
        i++;
    return i;
}

static size_t count_sections(const struct place_file *file, uint64_t gap)
{
    size_t count = 0;

    for (size_t i = 0; i < file->extent_count; i = section_end(file, i, gap))
        count++;
    return count;
}

/*
 * The last section is a byte longer than the code, where its page has that byte: the last of the
 * symbols that close the table stands behind it.
 */
static uint64_t text_end(const struct place_file *file, const struct place_extent *last)
{
    const uint64_t end = last->offset + last->size;
    const bool is_last = last == &file->extents[file->extent_count - 1];

    return is_last && end % IMAGE_PAGE && end < file->end ? end + 1 : end;
}

static int add_text(struct image *image)
{
    const struct place_file *file = image->file;
    uint64_t gap = 0;
    int err = 0;

    while (count_sections(file, gap) > TEXT_SECTIONS_MAX)
        gap = gap ? 2 * gap : 4096;
    for (size_t i = 0, next; i < file->extent_count && !err; i = next) {
        next = section_end(file, i, gap);
        const struct place_extent *first = &file->extents[i], *last = &file->extents[next - 1];
        const struct image_section text = {
            .name = ".text",
            .type = SHT_PROGBITS,
            .flags = SHF_ALLOC | SHF_EXECINSTR,
            .offset = first->offset,
            .size = text_end(file, last) - first->offset,
            .align = text_align(first->offset),
        };
        assert(first->offset >= IMAGE_PAGE && last->offset + last->size <= file->end);
        err = image_add_section(image, &text);
    }
    return err;
}

int image_layout(struct image *image)
{
    const struct image_section null = {.name = "", .type = SHT_NULL};
    const struct image_section note = {
        .name = ".note.gnu.build-id",
        .type = SHT_NOTE,
        .flags = SHF_ALLOC,
        .offset = image_note_offset(image->target),
        .size = IMAGE_NOTE_SIZE,
        .align = 4,
    };
    int err = image_add_section(image, &null);

    err = err ?: image_add_section(image, &note);
    assert(err || image->section_count == IMAGE_FIRST_TEXT);
    err = err ?: add_text(image);
    /* What is mapped is one span of the file, whatever is in it. */
    if (image->end < image->file->end)
        image->end = image->file->end;
    image_symbols_lay_out(image);
    return err;
}
