/* SPDX-License-Identifier: MIT */
#include "cfi_write.h"

#include "eh_frame.h"
#include "jitinject/bytes.h"
#include "leb.h"

#include <string.h>

/* Operations of expressions: DWARF 5, 7.7.1. */
enum {
    DW_OP_deref = 0x06,
    DW_OP_const4u = 0x0c,
    DW_OP_const8u = 0x0e,
    DW_OP_consts = 0x11,
    DW_OP_dup = 0x12,
    DW_OP_drop = 0x13,
    DW_OP_plus = 0x22,
    DW_OP_bra = 0x28,
    DW_OP_eq = 0x29,
    DW_OP_skip = 0x2f,
    DW_OP_lit0 = 0x30,
    DW_OP_bregx = 0x92,
    DW_OP_deref_size = 0x94,
    DW_OP_nop = 0x96,
};

static void put_u8(struct cfi_writer *writer, uint8_t value)
{
    writer->bytes[writer->size++] = value;
}

static void put_bytes(struct cfi_writer *writer, const void *bytes, size_t size)
{
    if (size)
        memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_uleb(struct cfi_writer *writer, uint64_t value)
{
    writer->size =
        (size_t)(leb_write_unsigned(writer->bytes + writer->size, value) - writer->bytes);
}

static void put_sleb(struct cfi_writer *writer, int64_t value)
{
    writer->size = (size_t)(leb_write_signed(writer->bytes + writer->size, value) - writer->bytes);
}

static void put_word(struct cfi_writer *writer, uint64_t value)
{
    put_u8(writer, writer->is_64bit ? DW_OP_const8u : DW_OP_const4u);
    if (writer->is_64bit)
        bytes_put_u64(writer->bytes + writer->size, value, writer->swapped);
    else
        bytes_put_u32(writer->bytes + writer->size, (uint32_t)value, writer->swapped);
    writer->size += writer->is_64bit ? 8 : 4;
}

static void put_deref(struct cfi_writer *writer)
{
    put_u8(writer, writer->is_64bit ? DW_OP_deref : DW_OP_deref_size);
    if (!writer->is_64bit)
        put_u8(writer, 4);
}

void cfi_put_advance(struct cfi_writer *writer, uint32_t delta)
{
    put_u8(writer, DW_CFA_advance_loc4);
    bytes_put_u32(writer->bytes + writer->size, delta, writer->swapped);
    writer->size += 4;
}

void cfi_put_rule(struct cfi_writer *writer, const struct cfi_rule *rule, enum cfi_purpose purpose)
{
    static const uint8_t opcodes[] = {
        [CFI_UNSPECIFIED] = DW_CFA_restore_extended,
        [CFI_UNDEFINED] = DW_CFA_undefined,
        [CFI_SAME] = DW_CFA_same_value,
        [CFI_OFFSET] = DW_CFA_offset_extended_sf,
        [CFI_VAL_OFFSET] = DW_CFA_val_offset_sf,
        [CFI_REGISTER] = DW_CFA_register,
        [CFI_EXPRESSION] = DW_CFA_expression,
        [CFI_VAL_EXPRESSION] = DW_CFA_val_expression,
    };

    if (purpose == CFI_OF_CFA)
        put_u8(writer, rule->block ? DW_CFA_def_cfa_expression : DW_CFA_def_cfa_sf);
    else
        put_u8(writer, opcodes[rule->kind]);
    if (purpose != CFI_OF_CFA || !rule->block)
        put_uleb(writer, rule->reg);
    if (rule->block) {
        put_uleb(writer, rule->block_size);
        put_bytes(writer, rule->block, rule->block_size);
    } else if (rule->kind == CFI_REGISTER) {
        put_uleb(writer, (uint64_t)rule->value);
    } else if (rule->kind == CFI_OFFSET || rule->kind == CFI_VAL_OFFSET) {
        put_sleb(writer, rule->value);
    }
}

void cfi_put_expression(struct cfi_writer *writer, uint32_t reg, enum cfi_purpose purpose,
                        const struct cfi_writer *expression)
{
    static const uint8_t opcodes[] = {[CFI_OF_CFA] = DW_CFA_def_cfa_expression,
                                      [CFI_OF_PLACE] = DW_CFA_expression,
                                      [CFI_OF_VALUE] = DW_CFA_val_expression};

    put_u8(writer, opcodes[purpose]);
    if (purpose != CFI_OF_CFA)
        put_uleb(writer, reg);
    put_uleb(writer, expression->size);
    put_bytes(writer, expression->bytes, expression->size);
}

static void put_register(struct cfi_writer *writer, uint64_t reg, int64_t offset)
{
    put_u8(writer, DW_OP_bregx);
    put_uleb(writer, reg);
    put_sleb(writer, offset);
}

void cfi_put_read_word(struct cfi_writer *writer, uint64_t addr)
{
    put_word(writer, addr);
    put_deref(writer);
}

/* A branch whose target is not known yet; returns where to tell it. */
static size_t put_branch(struct cfi_writer *writer, uint8_t opcode)
{
    put_u8(writer, opcode);
    writer->size += 2;
    return writer->size - 2;
}

size_t cfi_put_branch_if_equal(struct cfi_writer *writer, uint64_t word)
{
    put_u8(writer, DW_OP_dup);
    put_word(writer, word);
    put_u8(writer, DW_OP_eq);
    return put_branch(writer, DW_OP_bra);
}

size_t cfi_put_skip(struct cfi_writer *writer)
{
    return put_branch(writer, DW_OP_skip);
}

void cfi_land_branch(struct cfi_writer *writer, size_t branch)
{
    bytes_put_u16(writer->bytes + branch, (uint16_t)(writer->size - (branch + 2)), writer->swapped);
}

/* Above the CFA, if there is one, the stack holds a word to drop. */
void cfi_put_alternative(struct cfi_writer *writer, const struct cfi_rule *rule,
                         enum cfi_purpose purpose)
{
    put_u8(writer, DW_OP_drop);
    switch (rule->kind) {
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        put_register(writer, rule->reg, 0);
        break;
    case CFI_REGISTER:
        put_register(writer, (uint64_t)rule->value, 0);
        break;
    case CFI_UNDEFINED: /* nothing can be read there, so readers go no further */
        put_u8(writer, DW_OP_lit0);
        break;
    case CFI_OFFSET:
    case CFI_VAL_OFFSET:
        if (purpose == CFI_OF_CFA) {
            put_register(writer, rule->reg, rule->value);
        } else {
            put_u8(writer, DW_OP_consts);
            put_sleb(writer, rule->value);
            put_u8(writer, DW_OP_plus);
        }
        break;
    case CFI_EXPRESSION:
    case CFI_VAL_EXPRESSION:
        put_bytes(writer, rule->block, rule->block_size);
        break;
    }
    if (purpose == CFI_OF_VALUE &&
        (rule->kind == CFI_OFFSET || rule->kind == CFI_EXPRESSION || rule->kind == CFI_UNDEFINED))
        put_deref(writer);
}

void cfi_put_end(struct cfi_writer *writer)
{
    put_u8(writer, DW_OP_nop);
}
