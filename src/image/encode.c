/* SPDX-License-Identifier: MIT */
#include "encode.h"

#include <libelf.h>
#include <string.h>

static unsigned int data_encoding(const struct image_target *target)
{
    return target->is_big_endian ? ELFDATA2MSB : ELFDATA2LSB;
}

bool image_target_swapped(const struct image_target *target)
{
    return target->is_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static size_t file_size(const struct image_target *target, Elf_Type type)
{
    return target->is_64bit ? elf64_fsize(type, 1, EV_CURRENT) : elf32_fsize(type, 1, EV_CURRENT);
}

size_t image_header_size(const struct image_target *target)
{
    return file_size(target, ELF_T_EHDR);
}

size_t image_segment_size(const struct image_target *target)
{
    return file_size(target, ELF_T_PHDR);
}

size_t image_section_header_size(const struct image_target *target)
{
    return file_size(target, ELF_T_SHDR);
}

size_t image_symbol_size(const struct image_target *target)
{
    return file_size(target, ELF_T_SYM);
}

size_t image_compression_size(const struct image_target *target)
{
    return file_size(target, ELF_T_CHDR);
}

/* Turns structures, already of the target's class, into the target's byte order at `at`. */
static void translate_all(const struct image_target *target, Elf_Type type, void *structures,
                          size_t count, void *at)
{
    const size_t size = count * file_size(target, type);
    const Elf_Data from = {
        .d_buf = structures, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    Elf_Data to = {.d_buf = at, .d_type = type, .d_version = EV_CURRENT, .d_size = size};

    /* Fails for sizes and versions that do not fit, and these do. */
    if (target->is_64bit)
        elf64_xlatetof(&to, &from, data_encoding(target));
    else
        elf32_xlatetof(&to, &from, data_encoding(target));
}

static void translate(const struct image_target *target, Elf_Type type, void *structure, void *at)
{
    translate_all(target, type, structure, 1, at);
}

void image_encode_header(const struct image_target *target, const Elf64_Ehdr *header, void *at)
{
    Elf64_Ehdr wide = *header;

    if (target->is_64bit) {
        translate(target, ELF_T_EHDR, &wide, at);
        return;
    }
    Elf32_Ehdr narrow = {
        .e_type = header->e_type,
        .e_machine = header->e_machine,
        .e_version = header->e_version,
        .e_entry = (Elf32_Addr)header->e_entry,
        .e_phoff = (Elf32_Off)header->e_phoff,
        .e_shoff = (Elf32_Off)header->e_shoff,
        .e_flags = header->e_flags,
        .e_ehsize = header->e_ehsize,
        .e_phentsize = header->e_phentsize,
        .e_phnum = header->e_phnum,
        .e_shentsize = header->e_shentsize,
        .e_shnum = header->e_shnum,
        .e_shstrndx = header->e_shstrndx,
    };
    memcpy(narrow.e_ident, header->e_ident, EI_NIDENT);
    translate(target, ELF_T_EHDR, &narrow, at);
}

void image_encode_segment(const struct image_target *target, const Elf64_Phdr *segment, void *at)
{
    Elf64_Phdr wide = *segment;

    if (target->is_64bit) {
        translate(target, ELF_T_PHDR, &wide, at);
        return;
    }
    Elf32_Phdr narrow = {
        .p_type = segment->p_type,
        .p_offset = (Elf32_Off)segment->p_offset,
        .p_vaddr = (Elf32_Addr)segment->p_vaddr,
        .p_paddr = (Elf32_Addr)segment->p_paddr,
        .p_filesz = (Elf32_Word)segment->p_filesz,
        .p_memsz = (Elf32_Word)segment->p_memsz,
        .p_flags = segment->p_flags,
        .p_align = (Elf32_Word)segment->p_align,
    };
    translate(target, ELF_T_PHDR, &narrow, at);
}

void image_encode_section_header(const struct image_target *target, const Elf64_Shdr *section,
                                 void *at)
{
    Elf64_Shdr wide = *section;

    if (target->is_64bit) {
        translate(target, ELF_T_SHDR, &wide, at);
        return;
    }
    Elf32_Shdr narrow = {
        .sh_name = section->sh_name,
        .sh_type = section->sh_type,
        .sh_flags = (Elf32_Word)section->sh_flags,
        .sh_addr = (Elf32_Addr)section->sh_addr,
        .sh_offset = (Elf32_Off)section->sh_offset,
        .sh_size = (Elf32_Word)section->sh_size,
        .sh_link = section->sh_link,
        .sh_info = section->sh_info,
        .sh_addralign = (Elf32_Word)section->sh_addralign,
        .sh_entsize = (Elf32_Word)section->sh_entsize,
    };
    translate(target, ELF_T_SHDR, &narrow, at);
}

void image_encode_symbols(const struct image_target *target, Elf64_Sym *symbols, size_t count,
                          void *at)
{
    Elf32_Sym narrow[IMAGE_SYMBOLS_AT_ONCE];

    if (target->is_64bit) {
        translate_all(target, ELF_T_SYM, symbols, count, at);
        return;
    }
    for (size_t i = 0; i < count; i++)
        narrow[i] = (Elf32_Sym){
            .st_name = symbols[i].st_name,
            .st_value = (Elf32_Addr)symbols[i].st_value,
            .st_size = (Elf32_Word)symbols[i].st_size,
            .st_info = symbols[i].st_info,
            .st_other = symbols[i].st_other,
            .st_shndx = symbols[i].st_shndx,
        };
    translate_all(target, ELF_T_SYM, narrow, count, at);
}

void image_encode_compression(const struct image_target *target, const Elf64_Chdr *header, void *at)
{
    Elf64_Chdr wide = *header;

    if (target->is_64bit) {
        translate(target, ELF_T_CHDR, &wide, at);
        return;
    }
    Elf32_Chdr narrow = {
        .ch_type = header->ch_type,
        .ch_size = (Elf32_Word)header->ch_size,
        .ch_addralign = (Elf32_Word)header->ch_addralign,
    };
    translate(target, ELF_T_CHDR, &narrow, at);
}
