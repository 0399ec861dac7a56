/* SPDX-License-Identifier: MIT */
/* Line number programs (DWARF 5, 6.2). */
#ifndef JITINJECT_LINES_PROGRAM_H
#define JITINJECT_LINES_PROGRAM_H

#include "buffer.h"

/* A program in the making, and the registers of the machine that will run it. */
struct lines_program {
    struct lines_buffer code;
    uint8_t address_size;
    uint64_t address;
    uint32_t line, column, file;
    bool has_file; /* the sequence has said which */
};

/* Parameters of the programs, as the header of a unit tells them. */
void lines_program_describe(struct lines_buffer *header);

/* A sequence: begin, rows by ascending address, end. */
void lines_program_begin(struct lines_program *program, uint64_t address);
void lines_program_row(struct lines_program *program, uint64_t address, uint32_t line,
                       uint32_t column, uint32_t file);
void lines_program_end(struct lines_program *program, uint64_t address);

#endif /* JITINJECT_LINES_PROGRAM_H */
