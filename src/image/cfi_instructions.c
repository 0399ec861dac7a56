/* SPDX-License-Identifier: MIT */
/* Call frame instructions: DWARF 5, 6.4.2. Unwinders run them as they are. */
#include "cfi.h"

#include "cursor.h"
#include "eh_frame.h"

/* Operands of an instruction, in this order; those of 2 and 4 bytes need no byte order, they are
 * only passed. */
struct operands {
    bool known;
    uint8_t bytes;   /* plain ones */
    uint8_t numbers; /* LEB128 */
    bool block;      /* a DWARF expression behind its length */
};

static const struct operands operands_of[UINT8_MAX + 1] = {
    [DW_CFA_nop] = {.known = true},
    /* set_loc, 0x01, has an address of the encoding of the CIE */
    [DW_CFA_advance_loc1] = {.known = true, .bytes = 1},
    [DW_CFA_advance_loc2] = {.known = true, .bytes = 2},
    [DW_CFA_advance_loc4] = {.known = true, .bytes = 4},
    [DW_CFA_offset_extended] = {.known = true, .numbers = 2},
    [DW_CFA_restore_extended] = {.known = true, .numbers = 1},
    [DW_CFA_undefined] = {.known = true, .numbers = 1},
    [DW_CFA_same_value] = {.known = true, .numbers = 1},
    [DW_CFA_register] = {.known = true, .numbers = 2},
    [DW_CFA_remember_state] = {.known = true},
    [DW_CFA_restore_state] = {.known = true},
    [DW_CFA_def_cfa] = {.known = true, .numbers = 2},
    [DW_CFA_def_cfa_register] = {.known = true, .numbers = 1},
    [DW_CFA_def_cfa_offset] = {.known = true, .numbers = 1},
    [DW_CFA_def_cfa_expression] = {.known = true, .block = true},
    [DW_CFA_expression] = {.known = true, .numbers = 1, .block = true},
    [DW_CFA_offset_extended_sf] = {.known = true, .numbers = 2},
    [DW_CFA_def_cfa_sf] = {.known = true, .numbers = 2},
    [DW_CFA_def_cfa_offset_sf] = {.known = true, .numbers = 1},
    [DW_CFA_val_offset] = {.known = true, .numbers = 2},
    [DW_CFA_val_offset_sf] = {.known = true, .numbers = 2},
    [DW_CFA_val_expression] = {.known = true, .numbers = 1, .block = true},
    [DW_CFA_GNU_window_save] = {.known = true},
    [DW_CFA_GNU_args_size] = {.known = true, .numbers = 1},
    [DW_CFA_GNU_negative_offset_extended] = {.known = true, .numbers = 2},
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
        if (opcode != DW_CFA_nop)
            last = cursor.at;
    }
    *size = (size_t)(last - instructions);
    return !cursor.bad;
}
