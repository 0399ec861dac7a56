/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries may begin before the code, Erlang's by up to 55 bytes; what is farther away is damaged.
 */
#define BEFORE_MAX 256
/* Elfutils and LLVM have 16 bits for a column, and elfutils refuses a whole table with a larger
 * one. */
#define COLUMN_MAX UINT16_MAX

void lines_rows_free(struct lines_rows *rows)
{
    free(rows->rows);
    *rows = (struct lines_rows){0};
}

static int compare_rows(const void *left, const void *right)
{
    const struct lines_row *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sorts; of several rows for one offset the last counts, as it does for readers. */
static void put_in_order(struct lines_rows *rows, bool sorted)
{
    size_t count = 0;

    if (!sorted)
        qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_rows);
    for (size_t i = 0; i < rows->count; i++) {
        if (count && rows->rows[count - 1].offset == rows->rows[i].offset)
            count--;
        rows->rows[count++] = rows->rows[i];
    }
    rows->count = count;
}

/* The row for the code from the piece's start to the first row, given what was said before it. */
static int add_start(struct lines_rows *rows, const struct lines_row *before,
                     struct lines_files *files)
{
    struct lines_row start = *before;

    if (rows->count && rows->rows[0].offset == 0)
        return 0;
    if (before->order == 0)
        start.file = rows->count ? rows->rows[0].file : lines_files_add(files, NULL, 0);
    if (!array_reserve(&rows->rows, &rows->capacity, rows->count + 1))
        return -ENOMEM;
    if (rows->count)
        memmove(rows->rows + 1, rows->rows, rows->count * sizeof(*rows->rows));
    rows->rows[0] = start;
    rows->count++;
    return 0;
}

int lines_rows_read(struct lines_rows *rows, struct jitdump_lines *lines, const struct code *code,
                    struct lines_files *files)
{
    struct lines_row before = {0}; /* the nearest one before the piece, order 0: none */
    int64_t before_at = -BEFORE_MAX;
    struct jitdump_line line;
    uint32_t order = 0;
    bool sorted = true;

    rows->count = 0;
    while (jitdump_lines_next(lines, &line)) {
        if (line.offset < -BEFORE_MAX || line.offset >= (int64_t)code->size)
            continue;
        const struct lines_row row = {
            .offset = line.offset < 0 ? 0 : (uint32_t)line.offset,
            .line = line.line,
            .column = line.column <= COLUMN_MAX ? line.column : 0,
            .file = lines_files_add(files, line.file, line.file_size),
            .order = ++order,
        };
        if (line.offset < 0) {
            if (line.offset >= before_at) {
                before = row;
                before_at = line.offset;
            }
            continue;
        }
        if (!array_reserve(&rows->rows, &rows->capacity, rows->count + 1))
            return -ENOMEM;
        sorted = sorted && (!rows->count || rows->rows[rows->count - 1].offset <= row.offset);
        rows->rows[rows->count++] = row;
    }
    put_in_order(rows, sorted);
    return add_start(rows, &before, files);
}
