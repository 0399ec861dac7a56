/* SPDX-License-Identifier: MIT */
/* DEBUG_INFO records for tests, and the lines that are read from them as text. */
#ifndef TEST_LINES_TABLE_H
#define TEST_LINES_TABLE_H

#include "../jitdump/builder.h"

struct entry {
    uint64_t addr;
    int line, column;
    const char *file;
};

/*
 * Adds a DEBUG_INFO for code at `addr` with these entries, and `padding` zeros. The record says
 * that it has `said` entries. Returns its offset.
 */
size_t put_table(struct builder *builder, uint64_t addr, const struct entry *entries, size_t count,
                 uint64_t said, size_t padding);
#define put_lines(builder, addr, entries)                                                          \
    put_table(builder, addr, entries, sizeof(entries) / sizeof(*(entries)),                        \
              sizeof(entries) / sizeof(*(entries)), 0)

/* The source that open_index gives to pieces. */
#define SOURCE 5

/*
 * The lines of a piece, one after the other: "<offset> <file>:<line>:<column>\n". Static, valid
 * until the next call.
 */
const char *lines_of(const struct opened *opened, const struct code *code, uint64_t bias);

#endif /* TEST_LINES_TABLE_H */
