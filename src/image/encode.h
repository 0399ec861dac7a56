/* SPDX-License-Identifier: MIT */
/*
 * The structures of an ELF file in the class and byte order of the target. Callers fill the 64-bit
 * structure of this machine; a value that a 32-bit file cannot hold is ruled out before
 * (image_add_section).
 */
#ifndef JITINJECT_IMAGE_ENCODE_H
#define JITINJECT_IMAGE_ENCODE_H

#include "jitinject/image.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the target's bytes are in the order that this machine does not use. */
bool image_target_swapped(const struct image_target *target);

/* Sizes in the file. */
size_t image_header_size(const struct image_target *target);
size_t image_segment_size(const struct image_target *target);
size_t image_section_header_size(const struct image_target *target);
size_t image_symbol_size(const struct image_target *target);
size_t image_compression_size(const struct image_target *target);

/* Write one structure of that size to `at`, which is aligned for it. */
void image_encode_header(const struct image_target *target, const Elf64_Ehdr *header, void *at);
void image_encode_segment(const struct image_target *target, const Elf64_Phdr *segment, void *at);
void image_encode_section_header(const struct image_target *target, const Elf64_Shdr *section,
                                 void *at);
void image_encode_compression(const struct image_target *target, const Elf64_Chdr *header,
                              void *at);

/* The same of symbols, of which there are many: up to so many. They are not changed. */
#define IMAGE_SYMBOLS_AT_ONCE 64
void image_encode_symbols(const struct image_target *target, Elf64_Sym *symbols, size_t count,
                          void *at);

#endif /* JITINJECT_IMAGE_ENCODE_H */
