/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries may begin before the code, Erlang's by up to 55 bytes; what is farther away is damaged.
 */
#define BEFORE_MAX      256
#define ENTRIES_AT_ONCE 32
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

/* Appends a row; of several for one offset the last counts, as it does for readers. There is room.
 */
static void append(struct lines_rows *rows, const struct lines_row *row)
{
    if (rows->count && rows->rows[rows->count - 1].offset == row->offset)
        rows->count--;
    rows->rows[rows->count++] = *row;
}

static void sort(struct lines_rows *rows)
{
    const size_t count = rows->count;

    qsort(rows->rows, count, sizeof(*rows->rows), compare_rows);
    rows->count = 0;
    for (size_t i = 0; i < count; i++)
        append(rows, &rows->rows[i]);
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

/* Rows in the making. */
struct reading {
    struct lines_rows *rows;
    struct lines_files *files;
    int64_t size;            /* of the piece */
    struct lines_row before; /* the nearest one before the piece, order 0: none */
    int64_t before_at;
    uint32_t order;
    uint32_t last; /* offset of the last row */
    bool sorted;
};

/* There is room for a row. */
static void take_entry(struct reading *reading, const struct jitdump_line *entry)
{
    if (entry->offset < -BEFORE_MAX || entry->offset >= reading->size)
        return;
    const struct lines_row row = {
        .offset = entry->offset < 0 ? 0 : (uint32_t)entry->offset,
        .line = entry->line,
        .column = entry->column <= COLUMN_MAX ? entry->column : 0,
        .file = lines_files_add(reading->files, entry->file, entry->file_size),
        .order = ++reading->order,
    };
    if (entry->offset >= 0) {
        reading->sorted &= row.offset >= reading->last;
        reading->last = row.offset;
        append(reading->rows, &row);
    } else if (entry->offset >= reading->before_at) {
        reading->before = row;
        reading->before_at = entry->offset;
    }
}

int lines_rows_read(struct lines_rows *rows, struct jitdump_lines *lines, const struct code *code,
                    struct lines_files *files)
{
    struct reading reading = {
        .rows = rows, .files = files, .size = code->size, .before_at = -BEFORE_MAX, .sorted = true};
    struct jitdump_line entries[ENTRIES_AT_ONCE];
    size_t count;

    rows->count = 0;
    while ((count = jitdump_lines_next(lines, entries, ENTRIES_AT_ONCE)) > 0) {
        if (!array_reserve(&rows->rows, &rows->capacity, rows->count + count))
            return -ENOMEM;
        for (size_t i = 0; i < count; i++)
            take_entry(&reading, &entries[i]);
    }
    if (!reading.sorted)
        sort(rows);
    return add_start(rows, &reading.before, files);
}
