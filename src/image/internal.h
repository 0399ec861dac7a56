/* SPDX-License-Identifier: MIT */
/*
 * An image in the making. Each module writes its bytes, gives them a place behind image->end (or
 * where place has reserved it) and adds its sections; the headers come last.
 *
 *   layout    note, code, symbols and names: their places are known from the start
 *   text      code, symbols and names, in one walk over the pieces
 *   unwind    unwind tables, where place has left room for them
 *   lines     line tables, which another thread writes
 *   headers   section headers, program headers, ELF header
 *   note      the build-id
 */
#ifndef JITINJECT_IMAGE_INTERNAL_H
#define JITINJECT_IMAGE_INTERNAL_H

#include "jitinject/image.h"
#include "output.h"

#include <stddef.h>
#include <stdint.h>

struct image_section {
    const char *name; /* a constant */
    uint32_t type;    /* SHT_* */
    uint64_t flags;   /* SHF_*; with SHF_ALLOC its address is its offset */
    uint64_t offset, size, align, entry_size;
    uint32_t link, info;
};

struct image {
    const struct place_file *file;
    const struct image_source *sources;
    const struct image_target *target;
    const struct image_options *options;
    const struct diag *diag;
    struct image_stats *stats;
    struct image_output output;
    struct image_section *sections; /* [0] is the null section, as in the file */
    size_t section_count, section_capacity;
    struct image_section symbols, names; /* .symtab and .strtab, as they will be added */
    uint64_t end;                        /* of what has a place so far */
};

/*
 * Adds a section and moves image->end behind it. 0, -ENOMEM, or -EFBIG if a 32-bit file cannot hold
 * it, reported.
 */
int image_add_section(struct image *image, const struct image_section *section);

/* What is mapped is mapped in such pages. */
#define IMAGE_PAGE 0x1000

/* Index of the first .text section; there is at least one. */
#define IMAGE_FIRST_TEXT 2

/* Adds the note and the .text sections, and gives the symbols their place. 0 or a negative errno,
 * reported. */
int image_layout(struct image *image);
/* Writes code, symbols and names; `unwind` gets what is read on the way. 0 or a negative errno. */
struct unwind;
int image_write_text(struct image *image, struct unwind *unwind);
/* Adds the sections of symbols and names. */
int image_add_symbols(struct image *image);
/* Whether it has line tables; if so, writes them and adds their sections. 0 or a negative errno. */
bool image_has_lines(const struct image *image);
int image_write_lines(struct image *image);
/* e_flags. */
uint32_t image_machine_flags(const struct image_target *target);
/* Writes all headers. */
int image_write_headers(struct image *image);

/* The build-id note: its place, its size, and its bytes. */
uint64_t image_note_offset(const struct image_target *target);
#define IMAGE_NOTE_SIZE (12 + 4 + IMAGE_BUILD_ID_SIZE)
int image_write_note(struct image *image, const uint8_t build_id[IMAGE_BUILD_ID_SIZE]);

/* Room for the program headers: PT_LOAD, PT_NOTE, PT_GNU_EH_FRAME. */
#define IMAGE_SEGMENTS 3

#endif /* JITINJECT_IMAGE_INTERNAL_H */
