/* SPDX-License-Identifier: MIT */
#include "cfi_write.h"

#include "jitinject/bytes.h"
#include "lines/buffer.h"

#include <string.h>

/* DWARF 5, 7.24 and 7.7.1. */
enum {
    DW_CFA_ADVANCE_LOC4 = 0x04,
    DW_CFA_RESTORE_EXTENDED = 0x06,
    DW_CFA_UNDEFINED = 0x07,
    DW_CFA_SAME_VALUE = 0x08,
    DW_CFA_REGISTER = 0x09,
    DW_CFA_DEF_CFA_EXPRESSION = 0x0f,
    DW_CFA_EXPRESSION = 0x10,
    DW_CFA_OFFSET_EXTENDED_SF = 0x11,
    DW_CFA_DEF_CFA_SF = 0x12,
    DW_CFA_VAL_OFFSET_SF = 0x15,
    DW_CFA_VAL_EXPRESSION = 0x16,

    DW_OP_DEREF = 0x06,
    DW_OP_CONST4U = 0x0c,
    DW_OP_CONST8U = 0x0e,
    DW_OP_CONSTS = 0x11,
    DW_OP_DUP = 0x12,
    DW_OP_DROP = 0x13,
    DW_OP_PLUS = 0x22,
    DW_OP_BRA = 0x28,
    DW_OP_EQ = 0x29,
    DW_OP_SKIP = 0x2f,
    DW_OP_LIT0 = 0x30,
    DW_OP_BREGX = 0x92,
    DW_OP_DEREF_SIZE = 0x94,
    DW_OP_NOP = 0x96,
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
    writer->size = (size_t)(lines_write_uleb(writer->bytes + writer->size, value) - writer->bytes);
}

static void put_sleb(struct cfi_writer *writer, int64_t value)
{
    writer->size = (size_t)(lines_write_sleb(writer->bytes + writer->size, value) - writer->bytes);
}

static void put_word(struct cfi_writer *writer, uint64_t value)
{
    put_u8(writer, writer->is_64bit ? DW_OP_CONST8U : DW_OP_CONST4U);
    if (writer->is_64bit)
        bytes_put_u64(writer->bytes + writer->size, value, writer->swapped);
    else
        bytes_put_u32(writer->bytes + writer->size, (uint32_t)value, writer->swapped);
    writer->size += writer->is_64bit ? 8 : 4;
}

static void put_deref(struct cfi_writer *writer)
{
    put_u8(writer, writer->is_64bit ? DW_OP_DEREF : DW_OP_DEREF_SIZE);
    if (!writer->is_64bit)
        put_u8(writer, 4);
}

void cfi_put_advance(struct cfi_writer *writer, uint32_t delta)
{
    put_u8(writer, DW_CFA_ADVANCE_LOC4);
    bytes_put_u32(writer->bytes + writer->size, delta, writer->swapped);
    writer->size += 4;
}

void cfi_put_rule(struct cfi_writer *writer, const struct cfi_rule *rule, enum cfi_purpose purpose)
{
    static const uint8_t opcodes[] = {
        [CFI_UNSPECIFIED] = DW_CFA_RESTORE_EXTENDED,
        [CFI_UNDEFINED] = DW_CFA_UNDEFINED,
        [CFI_SAME] = DW_CFA_SAME_VALUE,
        [CFI_OFFSET] = DW_CFA_OFFSET_EXTENDED_SF,
        [CFI_VAL_OFFSET] = DW_CFA_VAL_OFFSET_SF,
        [CFI_REGISTER] = DW_CFA_REGISTER,
        [CFI_EXPRESSION] = DW_CFA_EXPRESSION,
        [CFI_VAL_EXPRESSION] = DW_CFA_VAL_EXPRESSION,
    };

    if (purpose == CFI_OF_CFA)
        put_u8(writer, rule->block ? DW_CFA_DEF_CFA_EXPRESSION : DW_CFA_DEF_CFA_SF);
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
    static const uint8_t opcodes[] = {[CFI_OF_CFA] = DW_CFA_DEF_CFA_EXPRESSION,
                                      [CFI_OF_PLACE] = DW_CFA_EXPRESSION,
                                      [CFI_OF_VALUE] = DW_CFA_VAL_EXPRESSION};

    put_u8(writer, opcodes[purpose]);
    if (purpose != CFI_OF_CFA)
        put_uleb(writer, reg);
    put_uleb(writer, expression->size);
    put_bytes(writer, expression->bytes, expression->size);
}

static void put_register(struct cfi_writer *writer, uint64_t reg, int64_t offset)
{
    put_u8(writer, DW_OP_BREGX);
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
    put_u8(writer, DW_OP_DUP);
    put_word(writer, word);
    put_u8(writer, DW_OP_EQ);
    return put_branch(writer, DW_OP_BRA);
}

size_t cfi_put_skip(struct cfi_writer *writer)
{
    return put_branch(writer, DW_OP_SKIP);
}

void cfi_land_branch(struct cfi_writer *writer, size_t branch)
{
    bytes_put_u16(writer->bytes + branch, (uint16_t)(writer->size - (branch + 2)), writer->swapped);
}

/* Above the CFA, if there is one, the stack holds a word to drop. */
void cfi_put_alternative(struct cfi_writer *writer, const struct cfi_rule *rule,
                         enum cfi_purpose purpose)
{
    put_u8(writer, DW_OP_DROP);
    switch (rule->kind) {
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        put_register(writer, rule->reg, 0);
        break;
    case CFI_REGISTER:
        put_register(writer, (uint64_t)rule->value, 0);
        break;
    case CFI_UNDEFINED: /* nothing can be read there, so readers go no further */
        put_u8(writer, DW_OP_LIT0);
        break;
    case CFI_OFFSET:
    case CFI_VAL_OFFSET:
        if (purpose == CFI_OF_CFA) {
            put_register(writer, rule->reg, rule->value);
        } else {
            put_u8(writer, DW_OP_CONSTS);
            put_sleb(writer, rule->value);
            put_u8(writer, DW_OP_PLUS);
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
    put_u8(writer, DW_OP_NOP);
}
