/* SPDX-License-Identifier: MIT */
/* Call frame instructions: DWARF 5, 6.4.2 and 7.24. Unwinders run them as they are. */
#include "cfi.h"

#include "cursor.h"

/* Operands of an instruction, in this order; those of 2 and 4 bytes need no byte order, they are
 * only passed. */
struct operands {
    bool known;
    uint8_t bytes;   /* plain ones */
    uint8_t numbers; /* LEB128 */
    bool block;      /* a DWARF expression behind its length */
};

static const struct operands operands_of[UINT8_MAX + 1] = {
    [0x00] = {.known = true}, /* nop */
    /* 0x01, set_loc, has an address of the encoding of the CIE */
    [0x02] = {.known = true, .bytes = 1},                  /* advance_loc1 */
    [0x03] = {.known = true, .bytes = 2},                  /* advance_loc2 */
    [0x04] = {.known = true, .bytes = 4},                  /* advance_loc4 */
    [0x05] = {.known = true, .numbers = 2},                /* offset_extended */
    [0x06] = {.known = true, .numbers = 1},                /* restore_extended */
    [0x07] = {.known = true, .numbers = 1},                /* undefined */
    [0x08] = {.known = true, .numbers = 1},                /* same_value */
    [0x09] = {.known = true, .numbers = 2},                /* register */
    [0x0a] = {.known = true},                              /* remember_state */
    [0x0b] = {.known = true},                              /* restore_state */
    [0x0c] = {.known = true, .numbers = 2},                /* def_cfa */
    [0x0d] = {.known = true, .numbers = 1},                /* def_cfa_register */
    [0x0e] = {.known = true, .numbers = 1},                /* def_cfa_offset */
    [0x0f] = {.known = true, .block = true},               /* def_cfa_expression */
    [0x10] = {.known = true, .numbers = 1, .block = true}, /* expression */
    [0x11] = {.known = true, .numbers = 2},                /* offset_extended_sf */
    [0x12] = {.known = true, .numbers = 2},                /* def_cfa_sf */
    [0x13] = {.known = true, .numbers = 1},                /* def_cfa_offset_sf */
    [0x14] = {.known = true, .numbers = 2},                /* val_offset */
    [0x15] = {.known = true, .numbers = 2},                /* val_offset_sf */
    [0x16] = {.known = true, .numbers = 1, .block = true}, /* val_expression */
    [0x2d] = {.known = true},                        /* GNU_window_save, AARCH64_negate_ra_state */
    [0x2e] = {.known = true, .numbers = 1},          /* GNU_args_size */
    [0x2f] = {.known = true, .numbers = 2},          /* GNU_negative_offset_extended */
    [0x40 ... 0x7f] = {.known = true},               /* advance_loc */
    [0x80 ... 0xbf] = {.known = true, .numbers = 1}, /* offset */
    [0xc0 ... 0xff] = {.known = true},               /* restore */
};

static void pass_operands(struct cursor *cursor, const struct operands *operands)
{
    cursor_take(cursor, operands->bytes);
    for (unsigned i = 0; i < operands->numbers; i++)
        cursor_skip_leb(cursor);
    if (operands->block)
        cursor_take(cursor, cursor_uleb(cursor));
}

bool cfi_check_instructions(const uint8_t *instructions, size_t *size)
{
    struct cursor cursor = {.at = instructions, .end = instructions + *size};
    const uint8_t *last = instructions;

    while (cursor_left(&cursor)) {
        const uint8_t opcode = cursor_u8(&cursor);
        if (!operands_of[opcode].known)
            return false;
        pass_operands(&cursor, &operands_of[opcode]);
        if (opcode != 0)
            last = cursor.at;
    }
    *size = (size_t)(last - instructions);
    return !cursor.bad;
}
