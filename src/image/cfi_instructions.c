/* SPDX-License-Identifier: MIT */
/* Call frame instructions: DWARF 5, 6.4.2 and 7.24. Unwinders run them as they are. */
#include "cfi.h"

#include "cursor.h"

/* Operands of an instruction; those of 2 and 4 bytes need no byte order, they are only passed. */
enum operand {
    NONE,
    LEB,
    BLOCK, /* a DWARF expression behind its length */
    BYTES_1,
    BYTES_2,
    BYTES_4,
};

static const struct {
    uint8_t known;
    uint8_t operands[2];
} instructions_by_opcode[0x40] = {
    [0x00] = {1, {NONE, NONE}},    /* nop */
                                   /* 0x01, set_loc, has an address of the encoding of the CIE */
    [0x02] = {1, {BYTES_1, NONE}}, /* advance_loc1 */
    [0x03] = {1, {BYTES_2, NONE}}, /* advance_loc2 */
    [0x04] = {1, {BYTES_4, NONE}}, /* advance_loc4 */
    [0x05] = {1, {LEB, LEB}},      /* offset_extended */
    [0x06] = {1, {LEB, NONE}},     /* restore_extended */
    [0x07] = {1, {LEB, NONE}},     /* undefined */
    [0x08] = {1, {LEB, NONE}},     /* same_value */
    [0x09] = {1, {LEB, LEB}},      /* register */
    [0x0a] = {1, {NONE, NONE}},    /* remember_state */
    [0x0b] = {1, {NONE, NONE}},    /* restore_state */
    [0x0c] = {1, {LEB, LEB}},      /* def_cfa */
    [0x0d] = {1, {LEB, NONE}},     /* def_cfa_register */
    [0x0e] = {1, {LEB, NONE}},     /* def_cfa_offset */
    [0x0f] = {1, {BLOCK, NONE}},   /* def_cfa_expression */
    [0x10] = {1, {LEB, BLOCK}},    /* expression */
    [0x11] = {1, {LEB, LEB}},      /* offset_extended_sf */
    [0x12] = {1, {LEB, LEB}},      /* def_cfa_sf */
    [0x13] = {1, {LEB, NONE}},     /* def_cfa_offset_sf */
    [0x14] = {1, {LEB, LEB}},      /* val_offset */
    [0x15] = {1, {LEB, LEB}},      /* val_offset_sf */
    [0x16] = {1, {LEB, BLOCK}},    /* val_expression */
    [0x2d] = {1, {NONE, NONE}},    /* GNU_window_save, AARCH64_negate_ra_state */
    [0x2e] = {1, {LEB, NONE}},     /* GNU_args_size */
    [0x2f] = {1, {LEB, LEB}},      /* GNU_negative_offset_extended */
};

static void pass_operand(struct cursor *cursor, enum operand operand)
{
    switch (operand) {
    case NONE:
        break;
    case LEB:
        cursor_skip_leb(cursor);
        break;
    case BLOCK:
        cursor_take(cursor, cursor_uleb(cursor));
        break;
    case BYTES_1:
        cursor_take(cursor, 1);
        break;
    case BYTES_2:
        cursor_take(cursor, 2);
        break;
    case BYTES_4:
        cursor_take(cursor, 4);
        break;
    }
}

bool cfi_check_instructions(const uint8_t *instructions, size_t *size)
{
    struct cursor cursor = {.at = instructions, .end = instructions + *size};
    const uint8_t *last = instructions;

    while (cursor_left(&cursor)) {
        const uint8_t opcode = cursor_u8(&cursor);
        const uint8_t primary = opcode >> 6;
        if (primary == 2) { /* offset; 1 and 3, advance_loc and restore, have no operand */
            cursor_skip_leb(&cursor);
        } else if (primary == 0) {
            if (!instructions_by_opcode[opcode].known)
                return false;
            pass_operand(&cursor, instructions_by_opcode[opcode].operands[0]);
            pass_operand(&cursor, instructions_by_opcode[opcode].operands[1]);
        }
        if (opcode != 0)
            last = cursor.at;
    }
    *size = (size_t)(last - instructions);
    return !cursor.bad;
}
