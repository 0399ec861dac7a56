/* SPDX-License-Identifier: MIT */
#include "cfi_walk.h"

#include "eh_frame.h"

#include <string.h>

/* Registers that no machine has make the cursor bad. */
static uint32_t take_register(struct cursor *cursor)
{
    const uint64_t reg = cursor_uleb(cursor);

    cursor->bad |= reg > UINT16_MAX;
    return (uint32_t)reg;
}

/* Where the rule for the register is, or would be. */
static size_t find_rule(const struct cfi_row *row, uint32_t reg)
{
    size_t at = 0;

    while (at < row->count && row->rules[at].reg < reg)
        at++;
    return at;
}

struct cfi_rule cfi_row_rule(const struct cfi_row *row, uint32_t reg)
{
    const size_t at = find_rule(row, reg);

    return at < row->count && row->rules[at].reg == reg
               ? row->rules[at]
               : (struct cfi_rule){.kind = CFI_UNSPECIFIED, .reg = reg};
}

bool cfi_rule_equal(const struct cfi_rule *a, const struct cfi_rule *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value &&
           a->block_size == b->block_size &&
           (a->block_size == 0 || memcmp(a->block, b->block, a->block_size) == 0);
}

static bool set_rule(struct cfi_row *row, struct cfi_rule rule)
{
    const size_t at = find_rule(row, rule.reg);
    const bool known = at < row->count && row->rules[at].reg == rule.reg;

    if (rule.block_size > CFI_BLOCK_MAX || (!known && row->count == CFI_RULES_MAX))
        return false;
    if (!known) {
        memmove(&row->rules[at + 1], &row->rules[at], (row->count - at) * sizeof(row->rules[0]));
        row->count++;
    }
    row->rules[at] = rule;
    return true;
}

static bool set_block(struct cfi_walk *walk, enum cfi_rule_kind kind, uint32_t reg)
{
    const uint64_t size = cursor_uleb(&walk->cursor);

    return set_rule(&walk->row, (struct cfi_rule){.kind = kind,
                                                  .reg = reg,
                                                  .block = cursor_take(&walk->cursor, size),
                                                  .block_size = (size_t)size});
}

/* An offset as the table has it, in units of the data alignment. */
static bool set_factored(struct cfi_walk *walk, enum cfi_rule_kind kind, uint32_t reg,
                         int64_t factored)
{
    struct cfi_rule rule = {.kind = kind, .reg = reg};

    return !__builtin_mul_overflow(factored, walk->data_align, &rule.value) &&
           set_rule(&walk->row, rule);
}

static bool set_cfa(struct cfi_walk *walk, uint32_t reg, int64_t offset)
{
    walk->row.cfa = (struct cfi_rule){.kind = CFI_OFFSET, .reg = reg, .value = offset};
    return true;
}

static bool set_cfa_factored(struct cfi_walk *walk, uint32_t reg, int64_t factored)
{
    int64_t offset;

    return !__builtin_mul_overflow(factored, walk->data_align, &offset) &&
           set_cfa(walk, reg, offset);
}

static bool restore(struct cfi_walk *walk, uint32_t reg)
{
    return set_rule(&walk->row, cfi_row_rule(&walk->initial, reg));
}

/* Sets walk->next. */
static bool advance(struct cfi_walk *walk, uint64_t pc, uint64_t units)
{
    uint64_t bytes;

    return !__builtin_mul_overflow(units, walk->code_align, &bytes) &&
           !__builtin_add_overflow(pc, bytes, &walk->next) && walk->next != UINT64_MAX;
}

/* An instruction that needs more than its first byte to be known; `pc`: of the row. */
static bool run_extended(struct cfi_walk *walk, uint8_t opcode, uint64_t pc)
{
    struct cursor *cursor = &walk->cursor;
    const struct cfi_rule *cfa = &walk->row.cfa;
    uint32_t reg;
    uint64_t size;

    switch (opcode) {
    case DW_CFA_nop:
        return true;
    case DW_CFA_advance_loc1:
        return advance(walk, pc, cursor_u8(cursor));
    case DW_CFA_advance_loc2:
        return advance(walk, pc, cursor_u16(cursor));
    case DW_CFA_advance_loc4:
        return advance(walk, pc, cursor_u32(cursor));
    case DW_CFA_offset_extended:
        reg = take_register(cursor);
        return set_factored(walk, CFI_OFFSET, reg, (int64_t)cursor_uleb(cursor));
    case DW_CFA_restore_extended:
        return restore(walk, take_register(cursor));
    case DW_CFA_undefined:
        return set_rule(&walk->row,
                        (struct cfi_rule){CFI_UNDEFINED, take_register(cursor), .block = NULL});
    case DW_CFA_same_value:
        return set_rule(&walk->row,
                        (struct cfi_rule){CFI_SAME, take_register(cursor), .block = NULL});
    case DW_CFA_register:
        reg = take_register(cursor);
        return set_rule(&walk->row,
                        (struct cfi_rule){CFI_REGISTER, reg, take_register(cursor), .block = NULL});
    case DW_CFA_remember_state:
        if (walk->depth == CFI_STATES_MAX)
            return false;
        walk->states[walk->depth++] = walk->row;
        return true;
    case DW_CFA_restore_state:
        if (walk->depth == 0)
            return false;
        walk->row = walk->states[--walk->depth];
        return true;
    case DW_CFA_def_cfa:
        reg = take_register(cursor);
        return set_cfa(walk, reg, (int64_t)cursor_uleb(cursor));
    case DW_CFA_def_cfa_register:
        return cfa->kind == CFI_OFFSET && set_cfa(walk, take_register(cursor), cfa->value);
    case DW_CFA_def_cfa_offset:
        return cfa->kind == CFI_OFFSET && set_cfa(walk, cfa->reg, (int64_t)cursor_uleb(cursor));
    case DW_CFA_def_cfa_expression:
        size = cursor_uleb(cursor);
        walk->row.cfa = (struct cfi_rule){
            .kind = CFI_EXPRESSION, .block = cursor_take(cursor, size), .block_size = (size_t)size};
        return size <= CFI_BLOCK_MAX;
    case DW_CFA_expression:
        return set_block(walk, CFI_EXPRESSION, take_register(cursor));
    case DW_CFA_offset_extended_sf:
        reg = take_register(cursor);
        return set_factored(walk, CFI_OFFSET, reg, cursor_sleb(cursor));
    case DW_CFA_def_cfa_sf:
        reg = take_register(cursor);
        return set_cfa_factored(walk, reg, cursor_sleb(cursor));
    case DW_CFA_def_cfa_offset_sf:
        return cfa->kind == CFI_OFFSET && set_cfa_factored(walk, cfa->reg, cursor_sleb(cursor));
    case DW_CFA_val_offset:
        reg = take_register(cursor);
        return set_factored(walk, CFI_VAL_OFFSET, reg, (int64_t)cursor_uleb(cursor));
    case DW_CFA_val_offset_sf:
        reg = take_register(cursor);
        return set_factored(walk, CFI_VAL_OFFSET, reg, cursor_sleb(cursor));
    case DW_CFA_val_expression:
        return set_block(walk, CFI_VAL_EXPRESSION, take_register(cursor));
    case DW_CFA_GNU_args_size: /* for throwing exceptions only */
        cursor_skip_leb(cursor);
        return true;
    default: /* signed return addresses and register windows are no rules of registers */
        return false;
    }
}

/* Runs what belongs to the row of `pc`. What fails has no further rows. */
static bool run_row(struct cfi_walk *walk, uint64_t pc)
{
    struct cursor *cursor = &walk->cursor;
    bool good;

    walk->next = UINT64_MAX;
    while (!cursor->bad && cursor_left(cursor)) {
        const uint8_t opcode = cursor_u8(cursor), low = opcode & 0x3f;
        switch (opcode & 0xc0) {
        case DW_CFA_advance_loc:
            good = advance(walk, pc, low);
            break;
        case DW_CFA_offset:
            good = set_factored(walk, CFI_OFFSET, low, (int64_t)cursor_uleb(cursor));
            break;
        case DW_CFA_restore:
            good = restore(walk, low);
            break;
        default:
            good = run_extended(walk, opcode, pc);
        }
        cursor->bad |= !good;
        if (walk->next == pc)
            walk->next = UINT64_MAX;
        if (walk->next != UINT64_MAX)
            break;
    }
    if (cursor->bad)
        walk->next = UINT64_MAX;
    return !cursor->bad;
}

bool cfi_walk_start(struct cfi_walk *walk, const struct cfi_cie *cie, const struct cfi_fde *fde,
                    uint64_t pc, bool swapped)
{
    struct cursor parameters = {.at = cie->parameters,
                                .end = cie->parameters + cie->parameters_size};

    walk->row.count = walk->initial.count = walk->depth = 0;
    walk->row.cfa = (struct cfi_rule){.kind = CFI_UNSPECIFIED};
    walk->code_align = cursor_uleb(&parameters);
    walk->data_align = cursor_sleb(&parameters);
    walk->return_register = cie->version == 1 ? cursor_u8(&parameters) : take_register(&parameters);
    if (parameters.bad || cie->signal_frame || cie->b_key)
        return false;
    walk->cursor = (struct cursor){.at = cie->instructions,
                                   .end = cie->instructions + cie->instructions_size,
                                   .swapped = swapped};
    if (!run_row(walk, pc) || walk->next != UINT64_MAX)
        return false;
    walk->initial = walk->row;
    walk->cursor.at = fde->instructions;
    walk->cursor.end = fde->instructions + fde->instructions_size;
    return run_row(walk, pc);
}

const struct cfi_row *cfi_walk_row(const struct cfi_walk *walk)
{
    return walk->cursor.bad || walk->row.cfa.kind == CFI_UNSPECIFIED ? NULL : &walk->row;
}

bool cfi_walk_next(struct cfi_walk *walk)
{
    return run_row(walk, walk->next);
}
