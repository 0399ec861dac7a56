/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "../encode.h"
#include "dwarf.h"
#include "jitinject/bytes.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* A unit ends with the function that reaches one of these. */
#define UNIT_FUNCTIONS 128
#define UNIT_PROGRAM   (64u << 10)

#define DWARF_VERSION   5
#define ARANGES_VERSION 2
#define PRODUCER        "jitinject"
/* Of the 32-bit format. */
#define OFFSET_MAX 0xfffffff0u

/* Bytes of a function's entry in .debug_info at most. */
#define FUNCTION_MAX (1 + 4 + 8 + LEB_MAX)

/* All units look alike, and so do all functions. */
#define ABBREVIATION_UNIT     1
#define ABBREVIATION_FUNCTION 2
static const uint8_t abbreviations[] = {
    ABBREVIATION_UNIT,
    DW_TAG_compile_unit,
    DW_CHILDREN_yes,
    DW_AT_producer,
    DW_FORM_line_strp,
    DW_AT_name,
    DW_FORM_line_strp,
    DW_AT_comp_dir,
    DW_FORM_line_strp,
    DW_AT_stmt_list,
    DW_FORM_sec_offset,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_udata,
    0,
    0,
    ABBREVIATION_FUNCTION,
    DW_TAG_subprogram,
    DW_CHILDREN_no,
    DW_AT_linkage_name,
    DW_FORM_strp,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_udata,
    0,
    0,
    0,
};

int lines_units_open(struct lines_units *units, struct image *image)
{
    const bool swapped = image_target_swapped(image->target);
    const struct image_section table = {.name = ".debug_line"};

    *units = (struct lines_units){
        .image = image,
        .info.swapped = swapped,
        .ranges.swapped = swapped,
        .header.swapped = swapped,
        .functions.swapped = swapped,
        .program.code.swapped = swapped,
        .program.address_size = image->target->is_64bit ? 8 : 4,
    };
    lines_files_init(&units->files, &units->strings);
    return lines_section_open(&units->table, image, &table, image->options->compress_debug);
}

void lines_units_close(struct lines_units *units)
{
    lines_section_close(&units->table);
    lines_strings_free(&units->strings);
    lines_buffer_free(&units->info);
    lines_buffer_free(&units->ranges);
    lines_buffer_free(&units->header);
    lines_buffer_free(&units->functions);
    lines_buffer_free(&units->program.code);
    lines_files_free(&units->files);
}

/* The unit's part of .debug_line: header (DWARF 5, 6.2.4) and program. False: it is one too many.
 */
static bool put_table(struct lines_units *units)
{
    struct lines_buffer *header = &units->header;
    const struct lines_files *files = &units->files;
    const struct lines_buffer *code = &units->program.code;

    header->size = 0;
    const size_t unit_length = lines_begin_length(header);
    lines_put_u16(header, DWARF_VERSION);
    lines_put_u8(header, units->program.address_size);
    lines_put_u8(header, 0); /* bytes of a segment selector */
    const size_t header_length = lines_begin_length(header);
    lines_program_describe(header);

    lines_put_u8(header, 1);
    lines_put_uleb(header, DW_LNCT_path);
    lines_put_uleb(header, DW_FORM_line_strp);
    lines_put_uleb(header, files->directory_count);
    for (size_t i = 0; i < files->directory_count; i++)
        lines_put_u32(header, files->directories[i]);

    lines_put_u8(header, 2);
    lines_put_uleb(header, DW_LNCT_path);
    lines_put_uleb(header, DW_FORM_line_strp);
    lines_put_uleb(header, DW_LNCT_directory_index);
    lines_put_uleb(header, DW_FORM_udata);
    lines_put_uleb(header, files->file_count);
    for (size_t i = 0; i < files->file_count; i++) {
        lines_put_u32(header, files->files[i].name);
        lines_put_uleb(header, files->files[i].directory);
    }
    lines_end_length(header, header_length, 0);
    lines_end_length(header, unit_length, code->size);
    if (header->size + code->size > OFFSET_MAX - units->table.size)
        return false;
    lines_section_put(&units->table, header->bytes, header->size);
    lines_section_put(&units->table, code->bytes, code->size);
    return true;
}

/* The unit's parts of .debug_info and .debug_aranges. */
static void put_unit(struct lines_units *units, uint64_t table)
{
    struct lines_buffer *info = &units->info, *ranges = &units->ranges;
    const uint8_t address_size = units->program.address_size;
    const size_t unit = info->size;

    size_t length = lines_begin_length(info);
    lines_put_u16(info, DWARF_VERSION);
    lines_put_u8(info, DW_UT_compile);
    lines_put_u8(info, address_size);
    lines_put_u32(info, 0); /* .debug_abbrev */
    lines_put_uleb(info, ABBREVIATION_UNIT);
    lines_put_u32(info, lines_strings_add(&units->strings, PRODUCER, strlen(PRODUCER)));
    lines_put_u32(info, units->files.first_path);
    lines_put_u32(info, units->files.directories[0]);
    lines_put_u32(info, (uint32_t)table);
    lines_put_addr(info, units->low, address_size);
    lines_put_uleb(info, units->high - units->low);
    lines_put(info, units->functions.bytes, units->functions.size);
    lines_put_uleb(info, 0);
    lines_end_length(info, length, 0);

    length = lines_begin_length(ranges);
    lines_put_u16(ranges, ARANGES_VERSION);
    lines_put_u32(ranges, (uint32_t)unit);
    lines_put_u8(ranges, address_size);
    lines_put_u8(ranges, 0);  /* bytes of a segment selector */
    lines_put_u32(ranges, 0); /* pairs are aligned to their size */
    lines_put_addr(ranges, units->low, address_size);
    lines_put_addr(ranges, units->high - units->low, address_size);
    lines_put_addr(ranges, 0, address_size);
    lines_put_addr(ranges, 0, address_size);
    lines_end_length(ranges, length, 0);
}

static bool has_failed(const struct lines_units *units)
{
    return units->program.code.failed || units->header.failed || units->info.failed ||
           units->functions.failed || units->ranges.failed || units->strings.text.failed ||
           units->files.failed;
}

/*
 * The function's own entry. A symbol would do, if binutils did not go through all symbols for each
 * address without one.
 */
static void put_function(struct lines_units *units, uint64_t offset, uint64_t size, uint32_t name)
{
    struct lines_buffer *functions = &units->functions;
    uint8_t *at = lines_room(functions, FUNCTION_MAX);

    if (!at)
        return;
    *at++ = ABBREVIATION_FUNCTION;
    bytes_put_u32(at, name, functions->swapped);
    at = lines_write_addr(at + sizeof(name), offset, units->program.address_size,
                          functions->swapped);
    lines_filled(functions, leb_write_unsigned(at, size));
}

/* Ends the unit in the making. 0 or a negative errno. */
static int end_unit(struct lines_units *units)
{
    const uint64_t table = units->table.size;

    if (units->function_count && !has_failed(units)) {
        if (put_table(units))
            put_unit(units, table);
        else
            units->is_full = true;
    }
    units->function_count = 0;
    units->program.code.size = 0;
    units->functions.size = 0;
    lines_files_clear(&units->files);
    return has_failed(units) ? -ENOMEM : units->table.stream.err;
}

int lines_units_add(struct lines_units *units, uint64_t offset, uint64_t size, uint32_t name,
                    const struct lines_rows *rows)
{
    struct lines_program *program = &units->program;

    if (units->function_count++ == 0)
        units->low = offset;
    units->high = offset + size;
    put_function(units, offset, size, name);
    units->image->stats->line_rows += lines_program_add(program, offset, size, rows);
    return units->function_count == UNIT_FUNCTIONS || program->code.size >= UNIT_PROGRAM
               ? end_unit(units)
               : 0;
}

/* .debug_str: the names are those of the symbols, and their bytes are there already. */
static int add_names(struct lines_units *units)
{
    struct image_section names = units->image->names;

    names.name = ".debug_str";
    names.type = SHT_PROGBITS;
    names.flags = SHF_MERGE | SHF_STRINGS;
    names.entry_size = 1;
    return image_add_section(units->image, &names);
}

static int write_section(struct lines_units *units, const struct image_section *header,
                         const void *bytes, size_t size)
{
    struct lines_section section;
    int err = lines_section_open(&section, units->image, header, units->table.compress);

    if (!err) {
        lines_section_put(&section, bytes, size);
        err = lines_section_finish(&section);
    }
    lines_section_close(&section);
    return err;
}

int lines_units_finish(struct lines_units *units)
{
    const struct image_section info = {.name = ".debug_info"};
    const struct image_section abbreviation = {.name = ".debug_abbrev"};
    const struct image_section ranges = {.name = ".debug_aranges"};
    const struct image_section strings = {
        .name = ".debug_line_str", .flags = SHF_MERGE | SHF_STRINGS, .entry_size = 1};
    int err = end_unit(units);

    err = err ?: lines_section_finish(&units->table);
    err = err ?: write_section(units, &info, units->info.bytes, units->info.size);
    err = err ?: write_section(units, &abbreviation, abbreviations, sizeof(abbreviations));
    err = err ?: add_names(units);
    err = err ?: write_section(units, &ranges, units->ranges.bytes, units->ranges.size);
    err =
        err ?: write_section(units, &strings, units->strings.text.bytes, units->strings.text.size);
    return err;
}
