/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "dwarf.h"

/* Special opcodes go forward by up to 16 bytes with a line from 5 before to 8 behind. */
#define LINE_BASE   (-5)
#define LINE_RANGE  14
#define OPCODE_BASE 13

/* Bytes of a row at most: four opcodes with a number each, and the special one. */
#define ROW_MAX (4 * (1 + LINES_LEB_MAX) + 1)

#define MIN_INSTRUCTION 1
#define MAX_OPERATIONS  1
#define DEFAULT_IS_STMT 1

void lines_program_describe(struct lines_buffer *header)
{
    /* Operands of the standard opcodes, from DW_LNS_copy on. */
    static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

    lines_put_u8(header, MIN_INSTRUCTION);
    lines_put_u8(header, MAX_OPERATIONS);
    lines_put_u8(header, DEFAULT_IS_STMT);
    lines_put_u8(header, (uint8_t)LINE_BASE);
    lines_put_u8(header, LINE_RANGE);
    lines_put_u8(header, OPCODE_BASE);
    lines_put(header, operands, sizeof(operands));
}

void lines_program_begin(struct lines_program *program, uint64_t address)
{
    struct lines_buffer *code = &program->code;

    program->address = address;
    program->line = 1;
    program->column = 0;
    program->has_file = false;
    lines_put_u8(code, 0);
    lines_put_uleb(code, 1u + program->address_size);
    lines_put_u8(code, DW_LNE_set_address);
    lines_put_addr(code, address, program->address_size);
}

static uint8_t *advance(struct lines_program *program, uint8_t *at, uint64_t address)
{
    *at++ = DW_LNS_advance_pc;
    at = lines_write_uleb(at, address - program->address);
    program->address = address;
    return at;
}

void lines_program_row(struct lines_program *program, uint64_t address, uint32_t line,
                       uint32_t column, uint32_t file)
{
    uint8_t *at = lines_room(&program->code, ROW_MAX);
    int64_t step = (int64_t)line - program->line;

    if (!at)
        return;
    /* It is 1 to begin with, but binutils 2.40 begins with 0. */
    if (file != program->file || !program->has_file) {
        *at++ = DW_LNS_set_file;
        at = lines_write_uleb(at, file);
    }
    if (column != program->column) {
        *at++ = DW_LNS_set_column;
        at = lines_write_uleb(at, column);
    }
    if (step < LINE_BASE || step >= LINE_BASE + LINE_RANGE) {
        *at++ = DW_LNS_advance_line;
        at = lines_write_sleb(at, step);
        step = 0;
    }
    const uint64_t first = (uint64_t)(step - LINE_BASE) + OPCODE_BASE;
    if (address - program->address > (UINT8_MAX - first) / LINE_RANGE)
        at = advance(program, at, address);
    *at++ = (uint8_t)(first + (address - program->address) * LINE_RANGE);
    lines_filled(&program->code, at);
    program->address = address;
    program->line = line;
    program->column = column;
    program->file = file;
    program->has_file = true;
}

void lines_program_end(struct lines_program *program, uint64_t address)
{
    static const uint8_t end[] = {0, 1, DW_LNE_end_sequence};
    uint8_t *at = lines_room(&program->code, ROW_MAX);

    if (at)
        lines_filled(&program->code, advance(program, at, address));
    lines_put(&program->code, end, sizeof(end));
}
