/* SPDX-License-Identifier: MIT */
/* .shstrtab, the section headers, the program headers and the ELF header. */
#include "internal.h"

#include "encode.h"
#include "jitinject/bytes.h"
#include "stream.h"

#include <assert.h>
#include <elf.h>
#include <string.h>

#define SECTION_NAMES  ".shstrtab"
#define HEADERS_BUFFER (64u << 10)

/* Sections of one name stand together and share it. */
static bool has_name_of_its_own(const struct image *image, size_t index)
{
    return index && strcmp(image->sections[index].name, image->sections[index - 1].name) != 0;
}

/* Adds .shstrtab and writes it. */
static int write_section_names(struct image *image)
{
    struct image_section names = {
        .name = SECTION_NAMES,
        .type = SHT_STRTAB,
        .offset = image->end,
        .size = 1 + sizeof(SECTION_NAMES),
        .align = 1,
    };
    struct image_stream stream = {0};

    for (size_t i = 1; i < image->section_count; i++)
        if (has_name_of_its_own(image, i))
            names.size += strlen(image->sections[i].name) + 1;

    int err = image_add_section(image, &names);
    err = err ?: image_stream_open(&stream, &image->output, names.offset, NULL, HEADERS_BUFFER);
    if (err)
        return err;
    image_stream_put(&stream, "", 1);
    for (size_t i = 1; i < image->section_count; i++)
        if (has_name_of_its_own(image, i))
            image_stream_put(&stream, image->sections[i].name, strlen(image->sections[i].name) + 1);
    err = image_stream_flush(&stream);
    image_stream_close(&stream);
    return err;
}

static int write_section_headers(struct image *image, uint64_t offset)
{
    const struct image_target *target = image->target;
    struct image_stream stream;
    uint32_t name = 0, next_name = 1;
    int err = image_stream_open(&stream, &image->output, offset, NULL, HEADERS_BUFFER);

    if (err)
        return err;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if (has_name_of_its_own(image, i)) {
            name = next_name;
            next_name += (uint32_t)strlen(section->name) + 1;
        }
        const Elf64_Shdr header = {
            .sh_name = name,
            .sh_type = section->type,
            .sh_flags = section->flags,
            .sh_addr = section->flags & SHF_ALLOC ? section->offset : 0,
            .sh_offset = section->offset,
            .sh_size = section->size,
            .sh_link = section->link,
            .sh_info = section->info,
            .sh_addralign = section->align,
            .sh_entsize = section->entry_size,
        };
        image_encode_section_header(target, &header,
                                    image_stream_take(&stream, image_section_header_size(target)));
    }
    err = image_stream_flush(&stream);
    image_stream_close(&stream);
    return err;
}

static const struct image_section *find_section(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (strcmp(image->sections[i].name, name) == 0)
            return &image->sections[i];
    return NULL;
}

static Elf64_Phdr segment_of(uint32_t type, const struct image_section *section)
{
    return (Elf64_Phdr){
        .p_type = type,
        .p_flags = PF_R,
        .p_offset = section->offset,
        .p_vaddr = section->offset,
        .p_paddr = section->offset,
        .p_filesz = section->size,
        .p_memsz = section->size,
        .p_align = section->align,
    };
}

/*
 * The ELF header and, behind it, the program headers. One PT_LOAD from offset and address 0, page
 * aligned: libdwfl puts the base of the module at its address rounded down to its alignment.
 */
static int write_file_header(struct image *image, uint64_t section_headers)
{
    const struct image_target *target = image->target;
    const size_t header_size = image_header_size(target);
    const size_t segment_size = image_segment_size(target);
    const struct image_section *note = find_section(image, ".note.gnu.build-id");
    const struct image_section *unwind = find_section(image, ".eh_frame_hdr");
    Elf64_Phdr segments[IMAGE_SEGMENTS] = {{
        .p_type = PT_LOAD,
        .p_flags = PF_R | PF_X,
        .p_filesz = image->file->end,
        .p_memsz = image->file->end,
        .p_align = IMAGE_PAGE,
    }};
    uint16_t count = 1;
    union {
        Elf64_Ehdr align;
        uint8_t bytes[sizeof(Elf64_Ehdr) + IMAGE_SEGMENTS * sizeof(Elf64_Phdr)];
    } buffer;

    segments[count++] = segment_of(PT_NOTE, note);
    if (unwind)
        segments[count++] = segment_of(PT_GNU_EH_FRAME, unwind);

    assert(image->section_count < SHN_LORESERVE);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, target->is_64bit ? ELFCLASS64 : ELFCLASS32,
                    target->is_big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = target->machine,
        .e_version = EV_CURRENT,
        .e_phoff = header_size,
        .e_shoff = section_headers,
        .e_flags = image_machine_flags(target),
        .e_ehsize = (uint16_t)header_size,
        .e_phentsize = (uint16_t)segment_size,
        .e_phnum = count,
        .e_shentsize = (uint16_t)image_section_header_size(target),
        .e_shnum = (uint16_t)image->section_count,
        .e_shstrndx = (uint16_t)(image->section_count - 1),
    };
    image_encode_header(target, &header, buffer.bytes);
    for (size_t i = 0; i < count; i++)
        image_encode_segment(target, &segments[i], buffer.bytes + header_size + i * segment_size);
    return image_output_write(&image->output, buffer.bytes, header_size + count * segment_size, 0);
}

int image_write_headers(struct image *image)
{
    int err = write_section_names(image);
    const uint64_t offset = bytes_align_up(image->end, 8);

    err = err ?: write_section_headers(image, offset);
    err = err ?: write_file_header(image, offset);
    image->stats->file_size =
        offset + image->section_count * image_section_header_size(image->target);
    return err;
}
