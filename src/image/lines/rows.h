/* SPDX-License-Identifier: MIT */
/* The lines of one piece of code, in order. */
#ifndef JITINJECT_LINES_ROWS_H
#define JITINJECT_LINES_ROWS_H

#include "files.h"
#include "jitinject/code.h"
#include "jitinject/jitdump.h"

struct lines_row {
    uint32_t offset; /* in the piece */
    uint32_t line, column;
    uint32_t file; /* index in the unit */
    uint32_t order;
};

struct lines_rows {
    struct lines_row *rows;
    size_t count, capacity;
};

void lines_rows_free(struct lines_rows *rows);

/*
 * Makes `rows` those of the piece that `lines` stands at: sorted, within it, one for each offset,
 * and the first one at 0. 0 or -ENOMEM.
 */
int lines_rows_read(struct lines_rows *rows, struct jitdump_lines *lines, const struct code *code,
                    struct lines_files *files);

#endif /* JITINJECT_LINES_ROWS_H */
