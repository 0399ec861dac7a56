/* SPDX-License-Identifier: MIT */
/* Line number programs (DWARF 5, 6.2). */
#ifndef JITINJECT_LINES_PROGRAM_H
#define JITINJECT_LINES_PROGRAM_H

#include "buffer.h"
#include "rows.h"

/* A program in the making. */
struct lines_program {
    struct lines_buffer code;
    uint8_t address_size;
};

/* Parameters of the programs, as the header of a unit tells them. */
void lines_program_describe(struct lines_buffer *header);

/* Adds the sequence of a piece of `size` bytes at `address`. Returns how many of its rows tell a
 * line. */
size_t lines_program_add(struct lines_program *program, uint64_t address, uint64_t size,
                         const struct lines_rows *rows);

#endif /* JITINJECT_LINES_PROGRAM_H */
