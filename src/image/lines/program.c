/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "dwarf.h"

#include <string.h>

/* Special opcodes go forward by up to 16 bytes with a line from 5 before to 8 behind. */
#define LINE_BASE   (-5)
#define LINE_RANGE  14
#define OPCODE_BASE 13

/* Bytes of a row at most: four opcodes with a number each, and the special one. */
#define ROW_MAX (4 * (1 + LEB_MAX) + 1)
/* The same of what comes before the rows of a sequence, and behind them. */
#define BEGIN_MAX (3 + 8)
#define END_MAX   (1 + LEB_MAX + 3)

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

/* The registers of the machine that will run the program. */
struct registers {
    uint64_t address;
    uint32_t line, column, file;
};

static void begin(struct lines_program *program, uint64_t address)
{
    struct lines_buffer *code = &program->code;
    uint8_t *at = lines_room(code, BEGIN_MAX);

    if (!at)
        return;
    *at++ = 0;
    at = leb_write_unsigned(at, 1u + program->address_size);
    *at++ = DW_LNE_set_address;
    lines_filled(code, lines_write_addr(at, address, program->address_size, code->swapped));
}

static uint8_t *write_advance(uint8_t *at, uint64_t by)
{
    *at++ = DW_LNS_advance_pc;
    return leb_write_unsigned(at, by);
}

/* Writes what makes registers of `now` those of `next`, and a row of these. */
static uint8_t *write_row(uint8_t *at, const struct registers *now, const struct registers *next)
{
    int64_t step = (int64_t)next->line - now->line;
    uint64_t by = next->address - now->address;

    if (next->file != now->file) {
        *at++ = DW_LNS_set_file;
        at = leb_write_unsigned(at, next->file);
    }
    if (next->column != now->column) {
        *at++ = DW_LNS_set_column;
        at = leb_write_unsigned(at, next->column);
    }
    if (step < LINE_BASE || step >= LINE_BASE + LINE_RANGE) {
        *at++ = DW_LNS_advance_line;
        at = leb_write_signed(at, step);
        step = 0;
    }
    const uint64_t first = (uint64_t)(step - LINE_BASE) + OPCODE_BASE;
    if (by > (UINT8_MAX - first) / LINE_RANGE) {
        at = write_advance(at, by);
        by = 0;
    }
    *at++ = (uint8_t)(first + by * LINE_RANGE);
    return at;
}

static void end(struct lines_program *program, uint64_t by)
{
    static const uint8_t end_sequence[] = {0, 1, DW_LNE_end_sequence};
    uint8_t *at = lines_room(&program->code, END_MAX);

    if (!at)
        return;
    at = write_advance(at, by);
    memcpy(at, end_sequence, sizeof(end_sequence));
    lines_filled(&program->code, at + sizeof(end_sequence));
}

size_t lines_program_add(struct lines_program *program, uint64_t address, uint64_t size,
                         const struct lines_rows *rows)
{
    /* The file is 1 to begin with, but binutils 2.40 begins with 0: no row has this one. */
    struct registers now = {.address = address, .line = 1, .file = UINT32_MAX};
    size_t lines = 0;

    begin(program, address);
    for (size_t i = 0; i < rows->count; i++) {
        const struct lines_row *row = &rows->rows[i];
        const struct registers next = {.address = address + row->offset,
                                       .line = row->line,
                                       .column = row->column,
                                       .file = row->file};
        uint8_t *at = lines_room(&program->code, ROW_MAX);
        if (at)
            lines_filled(&program->code, write_row(at, &now, &next));
        lines += next.line != 0;
        now = next;
    }
    end(program, address + size - now.address);
    return lines;
}
