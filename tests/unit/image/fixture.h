/* SPDX-License-Identifier: MIT */
/* A dump and a layout made by hand, the image written from them, and that image read back. */
#ifndef JITINJECT_TEST_IMAGE_FIXTURE_H
#define JITINJECT_TEST_IMAGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jitinject/image.h"

#include <elf.h>
#include <gelf.h>
#include <stdio.h>

#define FIXTURE_DUMPS 2

struct fixture {
    char directory[64];
    char dump_paths[FIXTURE_DUMPS][128];
    FILE *dump_files[FIXTURE_DUMPS];
    struct jitdump *dumps[FIXTURE_DUMPS];
    struct image_source sources[FIXTURE_DUMPS];

    struct code **codes;
    struct place_extent *extents;
    size_t code_count, code_capacity, extent_count, extent_capacity;
    struct code **table_codes; /* those of the image, and of other files of its base */
    size_t table_code_count, table_code_capacity;
    uint64_t tables_offset; /* 0: behind the extents */
    uint64_t tables_size;
    struct image_options options;

    /* of the last image */
    char path[128];
    uint8_t build_id[IMAGE_BUILD_ID_SIZE];
    struct image_stats stats;
    int fd;
    Elf *elf;

    /* of the last report */
    unsigned reports;
    enum diag_severity severity;
    char report_path[128];
    char report_text[1024];
    uint64_t report_offset;
    struct diag diag;
};

extern const struct image_target fixture_x86_64;

/* For cmocka: *state is a struct fixture. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* A new extent; the pieces that are added from here on are in it. */
void fixture_add_extent(struct fixture *fixture, uint64_t addr, uint64_t size, uint64_t offset);
/* Adds a LOAD record to dump `source` without placing it. The caller frees. */
struct code *fixture_load(struct fixture *fixture, uint16_t source, uint64_t addr, const char *name,
                          const void *bytes, size_t size);
void fixture_place(struct fixture *fixture, struct code *code);
/* One of another file that has the same base. */
void fixture_place_elsewhere(struct fixture *fixture, struct code *code);
/* Load and place. */
struct code *fixture_add(struct fixture *fixture, uint64_t addr, const char *name,
                         const void *bytes, size_t size);
/* Adds any record: `fields` from offset 16 on. Returns its offset. */
uint64_t fixture_record(struct fixture *fixture, uint16_t source, uint32_t id, const void *fields,
                        size_t size);

/* Makes dump `source` one of the other byte order, as far as its header goes. */
void fixture_swap_dump(struct fixture *fixture, uint16_t source);

/* Writes the image and returns what image_write does; fixture->elf is open after 0. */
int fixture_write(struct fixture *fixture, const struct image_target *target);

/* Runs eu-elflint, also with --gnu-ld off, and readelf: none may have anything to say. */
void fixture_check(const struct fixture *fixture);
/* Output of a command in which %s is the image; skips the test if the tool is missing. The caller
 * frees. */
char *fixture_run(const struct fixture *fixture, const char *command);

/* Fails if the output of a tool has a warning or an error in it. */
void fixture_assert_calm(const char *text);

/* `size` bytes of the image at `offset`; the caller frees. */
uint8_t *fixture_bytes(const struct fixture *fixture, uint64_t offset, size_t size);
/* The n-th section (from 0) of that name. */
GElf_Shdr fixture_section(const struct fixture *fixture, const char *name, size_t n, size_t *index);
size_t fixture_count_sections(const struct fixture *fixture, const char *name);
/* Symbol `index` (0 is the null symbol), with its name. */
GElf_Sym fixture_symbol(const struct fixture *fixture, size_t index, const char **name);

#endif /* JITINJECT_TEST_IMAGE_FIXTURE_H */
