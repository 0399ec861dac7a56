/* SPDX-License-Identifier: MIT */
/*
 * Compile units: some functions side by side, with one line table. A reader finds the unit of an
 * address in .debug_aranges and need not decode the others.
 */
#ifndef JITINJECT_LINES_UNIT_H
#define JITINJECT_LINES_UNIT_H

#include "files.h"
#include "program.h"
#include "rows.h"
#include "section.h"

struct lines_units {
    struct image *image;
    struct lines_strings strings; /* .debug_line_str */
    struct lines_section table;   /* .debug_line */
    struct lines_buffer info;     /* .debug_info */
    struct lines_buffer ranges;   /* .debug_aranges */
    struct lines_buffer header;   /* of the table of a unit */

    /* of the unit in the making */
    struct lines_files files;
    struct lines_program program;
    struct lines_buffer functions; /* their entries in .debug_info */
    uint64_t low, high;
    size_t function_count;
    bool is_full; /* a unit had no room in .debug_line and is left out */
};

/* 0 or -ENOMEM; lines_units_close is safe after either. */
int lines_units_open(struct lines_units *units, struct image *image);
void lines_units_close(struct lines_units *units);

/* Adds a function, behind the last one in the file; `name` is its place in .strtab. 0 or a negative
 * errno. */
int lines_units_add(struct lines_units *units, uint64_t offset, uint64_t size, uint32_t name,
                    const struct lines_rows *rows);

/* Writes the last unit and all sections. 0 or a negative errno. */
int lines_units_finish(struct lines_units *units);

#endif /* JITINJECT_LINES_UNIT_H */
