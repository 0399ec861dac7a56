/* SPDX-License-Identifier: MIT */
#include "combine.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"
#include "lines/buffer.h"

#include <errno.h>
#include <stdlib.h>
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

/* An instruction in the making: each test and each alternative is far below 200 bytes. */
#define BLOCK_SIZE ((2 * COMBINE_VERSIONS_MAX + 2) * 200)
#define LEB_MAX    10

struct block {
    uint8_t bytes[BLOCK_SIZE];
    size_t size;
};

/* What a rule is for: its place in an instruction and on the stack of an expression differ. */
enum purpose { OF_CFA, OF_PLACE, OF_VALUE };

#define REGISTERS_MAX 64
#define NO_REGISTER   UINT32_MAX

/* What the FDE says of a register so far, as bytes of the result. The CFA is one of them. */
struct said {
    uint32_t reg;
    size_t at, size;
};

struct job {
    struct combine *combine;
    const struct combine_cell *cell;
    struct said said[REGISTERS_MAX + 2]; /* with the CFA and the return address */
    size_t said_count;
    struct cfi_rule rules[COMBINE_VERSIONS_MAX]; /* for the register at hand */
};

static void put_u8(struct block *block, uint8_t value)
{
    block->bytes[block->size++] = value;
}

static void put_bytes(struct block *block, const void *bytes, size_t size)
{
    if (size)
        memcpy(block->bytes + block->size, bytes, size);
    block->size += size;
}

static void put_uleb(struct block *block, uint64_t value)
{
    block->size = (size_t)(lines_write_uleb(block->bytes + block->size, value) - block->bytes);
}

static void put_sleb(struct block *block, int64_t value)
{
    block->size = (size_t)(lines_write_sleb(block->bytes + block->size, value) - block->bytes);
}

static void put_word(struct block *block, const struct combine_cell *cell, uint64_t value)
{
    put_u8(block, cell->is_64bit ? DW_OP_CONST8U : DW_OP_CONST4U);
    if (cell->is_64bit)
        bytes_put_u64(block->bytes + block->size, value, cell->swapped);
    else
        bytes_put_u32(block->bytes + block->size, (uint32_t)value, cell->swapped);
    block->size += cell->is_64bit ? 8 : 4;
}

static void put_deref(struct block *block, const struct combine_cell *cell)
{
    put_u8(block, cell->is_64bit ? DW_OP_DEREF : DW_OP_DEREF_SIZE);
    if (!cell->is_64bit)
        put_u8(block, 4);
}

/* A branch whose target is not known yet; returns where to tell it. */
static size_t put_branch(struct block *block, uint8_t opcode)
{
    put_u8(block, opcode);
    block->size += 2;
    return block->size - 2;
}

static void land_branch(struct block *block, size_t branch, bool swapped)
{
    bytes_put_u16(block->bytes + branch, (uint16_t)(block->size - (branch + 2)), swapped);
}

/* The instruction for a rule that all versions have. */
static void put_rule(struct block *block, const struct cfi_rule *rule, enum purpose purpose)
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

    if (purpose == OF_CFA)
        put_u8(block, rule->block ? DW_CFA_DEF_CFA_EXPRESSION : DW_CFA_DEF_CFA_SF);
    else
        put_u8(block, opcodes[rule->kind]);
    if (purpose != OF_CFA || !rule->block)
        put_uleb(block, rule->reg);
    if (rule->block) {
        put_uleb(block, rule->block_size);
        put_bytes(block, rule->block, rule->block_size);
    } else if (rule->kind == CFI_REGISTER) {
        put_uleb(block, (uint64_t)rule->value);
    } else if (rule->kind == CFI_OFFSET || rule->kind == CFI_VAL_OFFSET) {
        put_sleb(block, rule->value);
    }
}

static void put_register(struct block *block, uint64_t reg, int64_t offset)
{
    put_u8(block, DW_OP_BREGX);
    put_uleb(block, reg);
    put_sleb(block, offset);
}

/* The rule as an expression. Above the CFA, if there is one, the stack holds a word to drop. */
static void put_alternative(struct block *block, const struct combine_cell *cell,
                            const struct cfi_rule *rule, enum purpose purpose)
{
    put_u8(block, DW_OP_DROP);
    switch (rule->kind) {
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        put_register(block, rule->reg, 0);
        break;
    case CFI_REGISTER:
        put_register(block, (uint64_t)rule->value, 0);
        break;
    case CFI_UNDEFINED: /* nothing can be read there, so readers go no further */
        put_u8(block, DW_OP_LIT0);
        break;
    case CFI_OFFSET:
    case CFI_VAL_OFFSET:
        if (purpose == OF_CFA) {
            put_register(block, rule->reg, rule->value);
        } else {
            put_u8(block, DW_OP_CONSTS);
            put_sleb(block, rule->value);
            put_u8(block, DW_OP_PLUS);
        }
        break;
    case CFI_EXPRESSION:
    case CFI_VAL_EXPRESSION:
        put_bytes(block, rule->block, rule->block_size);
        break;
    }
    if (purpose == OF_VALUE &&
        (rule->kind == CFI_OFFSET || rule->kind == CFI_EXPRESSION || rule->kind == CFI_UNDEFINED))
        put_deref(block, cell);
}

/* Whether it matters what this version says: one without any rules ends the stack at the return
 * address, whatever else is said. */
static bool matters(const struct job *job, size_t version)
{
    return job->rules[version].reg != NO_REGISTER;
}

/* The first version with the same rule. */
static size_t first_like(const struct job *job, size_t version)
{
    for (size_t i = 0; i < version; i++)
        if (matters(job, i) && cfi_rule_equal(&job->rules[i], &job->rules[version]))
            return i;
    return version;
}

/* The version whose rule most versions have: it needs no tests. */
static size_t most_frequent(const struct job *job)
{
    size_t best = 0, best_count = 0;

    for (size_t i = 0; i < job->cell->count; i++) {
        size_t count = 0;
        if (!matters(job, i) || first_like(job, i) != i)
            continue;
        for (size_t k = i; k < job->cell->count; k++)
            count += matters(job, k) && cfi_rule_equal(&job->rules[i], &job->rules[k]);
        if (count > best_count) {
            best = i;
            best_count = count;
        }
    }
    return best;
}

/* Versions to test for, each word once. False: a word stands for different rules. */
static bool choose_tests(const struct job *job, size_t usual, size_t *tests, size_t *count)
{
    const struct combine_version *versions = job->cell->versions;

    *count = 0;
    for (size_t i = 0; i < job->cell->count; i++) {
        bool tested = false;
        if (!matters(job, i) || cfi_rule_equal(&job->rules[i], &job->rules[usual]))
            continue;
        for (size_t k = 0; k < job->cell->count; k++)
            if (matters(job, k) && versions[k].word == versions[i].word) {
                if (!cfi_rule_equal(&job->rules[i], &job->rules[k]))
                    return false;
                tested |= k < i;
            }
        if (!tested)
            tests[(*count)++] = i;
    }
    return true;
}

static enum purpose purpose_of(const struct job *job)
{
    for (size_t i = 0; i < job->cell->count; i++)
        if (matters(job, i) && job->rules[i].kind != CFI_OFFSET &&
            job->rules[i].kind != CFI_EXPRESSION && job->rules[i].kind != CFI_UNDEFINED)
            return OF_VALUE;
    return OF_PLACE;
}

/* An expression that goes on with the rule of the version whose word is there. */
static bool put_choice(const struct job *job, struct block *block, size_t usual,
                       enum purpose purpose)
{
    const struct combine_cell *cell = job->cell;
    size_t tests[COMBINE_VERSIONS_MAX], branches[COMBINE_VERSIONS_MAX], ends[COMBINE_VERSIONS_MAX];
    size_t count;

    if (!cell->has_word || !choose_tests(job, usual, tests, &count))
        return false;
    put_word(block, cell, cell->word_addr);
    put_deref(block, cell);
    for (size_t i = 0; i < count; i++) {
        put_u8(block, DW_OP_DUP);
        put_word(block, cell, cell->versions[tests[i]].word);
        put_u8(block, DW_OP_EQ);
        branches[i] = put_branch(block, DW_OP_BRA);
    }
    put_alternative(block, cell, &job->rules[usual], purpose);
    for (size_t i = 0; i < count; i++) {
        ends[i] = put_branch(block, DW_OP_SKIP);
        land_branch(block, branches[i], cell->swapped);
        put_alternative(block, cell, &job->rules[tests[i]], purpose);
    }
    for (size_t i = 0; i < count; i++)
        land_branch(block, ends[i], cell->swapped);
    put_u8(block, DW_OP_NOP); /* libdw finds no end of an expression to branch to */
    return true;
}

/* The instruction for job->rules. False: nothing tells the versions apart. */
static bool put_rules(const struct job *job, struct block *block, bool of_cfa)
{
    static const uint8_t opcodes[] = {[OF_CFA] = DW_CFA_DEF_CFA_EXPRESSION,
                                      [OF_PLACE] = DW_CFA_EXPRESSION,
                                      [OF_VALUE] = DW_CFA_VAL_EXPRESSION};
    const size_t usual = most_frequent(job);
    struct block expression = {.size = 0};
    bool agree = true;

    for (size_t i = 0; i < job->cell->count; i++)
        agree &= !matters(job, i) || cfi_rule_equal(&job->rules[i], &job->rules[usual]);
    const enum purpose purpose = of_cfa ? OF_CFA : purpose_of(job);
    if (agree) {
        put_rule(block, &job->rules[usual], purpose);
        return true;
    }
    if (!put_choice(job, &expression, usual, purpose))
        return false;
    put_u8(block, opcodes[purpose]);
    if (!of_cfa)
        put_uleb(block, job->rules[usual].reg);
    put_uleb(block, expression.size);
    put_bytes(block, expression.bytes, expression.size);
    return true;
}

static int append(struct combine *combine, const void *bytes, size_t size)
{
    if (!array_reserve(&combine->instructions, &combine->capacity, combine->size + size))
        return -ENOMEM;
    memcpy(combine->instructions + combine->size, bytes, size);
    combine->size += size;
    return 0;
}

static struct said *find_said(struct job *job, uint32_t reg)
{
    for (size_t i = 0; i < job->said_count; i++)
        if (job->said[i].reg == reg)
            return &job->said[i];
    return NULL;
}

/* Adds the instruction unless it is what the FDE says of the register already. */
static int say(struct job *job, uint32_t reg, const struct block *block)
{
    struct said *said = find_said(job, reg);

    if (said && said->size == block->size &&
        memcmp(job->combine->instructions + said->at, block->bytes, block->size) == 0)
        return 0;
    if (!said)
        said = &job->said[job->said_count++];
    *said = (struct said){.reg = reg, .at = job->combine->size, .size = block->size};
    return append(job->combine, block->bytes, block->size);
}

/* Sets job->rules. Returns whether some version has a rule. */
static bool take_rules(struct job *job, uint32_t reg)
{
    const struct combine_cell *cell = job->cell;
    bool specified = false;

    for (size_t i = 0; i < cell->count; i++) {
        const struct cfi_row *row = cell->versions[i].row;
        struct cfi_rule *rule = &job->rules[i];
        if (row)
            *rule = cfi_row_rule(row, reg);
        else
            *rule = (struct cfi_rule){.kind = CFI_UNDEFINED,
                                      .reg = reg == cell->return_register ? reg : NO_REGISTER};
        specified |= matters(job, i) && rule->kind != CFI_UNSPECIFIED;
    }
    return specified;
}

static bool take_cfa_rules(struct job *job)
{
    bool known = false;

    for (size_t i = 0; i < job->cell->count; i++) {
        const struct cfi_row *row = job->cell->versions[i].row;
        job->rules[i] = row ? row->cfa : (struct cfi_rule){.reg = NO_REGISTER};
        known |= row != NULL;
    }
    return known;
}

/* From here on a reader is to go no further. */
static int say_untold(struct job *job)
{
    const struct cfi_rule cfa = {.kind = CFI_OFFSET};
    const struct cfi_rule end = {.kind = CFI_UNDEFINED, .reg = job->cell->return_register};
    struct block block = {.size = 0};
    int err = 0;

    job->combine->is_untold = true;
    if (!find_said(job, NO_REGISTER)) { /* any will do */
        put_rule(&block, &cfa, OF_CFA);
        err = say(job, NO_REGISTER, &block);
        block.size = 0;
    }
    put_rule(&block, &end, OF_PLACE);
    return err ? err : say(job, end.reg, &block);
}

/*
 * The registers that a version has a rule for, or the FDE says something of, which may be the
 * return address besides; false: too many.
 */
static bool list_registers(const struct job *job, uint32_t *list, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < job->said_count; i++)
        if (job->said[i].reg != NO_REGISTER)
            list[(*count)++] = job->said[i].reg;
    for (size_t i = 0; i < job->cell->count; i++) {
        const struct cfi_row *row = job->cell->versions[i].row;
        for (size_t k = 0; row && k < row->count; k++) {
            size_t at = 0;
            while (at < *count && list[at] != row->rules[k].reg)
                at++;
            if (at < *count)
                continue;
            if (*count >= REGISTERS_MAX)
                return false;
            list[(*count)++] = row->rules[k].reg;
        }
    }
    return true;
}

static bool is_too_much(struct combine *combine, size_t count)
{
    combine->work += (uint64_t)count * count;
    return combine->size > COMBINE_SIZE_MAX || combine->work > COMBINE_WORK_MAX;
}

static int say_row(struct job *job)
{
    uint32_t registers[REGISTERS_MAX + 1];
    struct block block = {.size = 0};
    size_t count;

    if (is_too_much(job->combine, job->cell->count) || !take_cfa_rules(job) ||
        !put_rules(job, &block, true) || !list_registers(job, registers, &count))
        return say_untold(job);
    int err = say(job, NO_REGISTER, &block);
    for (size_t i = 0; i < count && !err; i++) {
        block.size = 0;
        if (!take_rules(job, registers[i]) && !find_said(job, registers[i]))
            continue;
        if (!put_rules(job, &block, false))
            return say_untold(job);
        err = say(job, registers[i], &block);
    }
    return err;
}

/* Where the next row of any version begins; UINT64_MAX: there is none. */
static uint64_t next_row(const struct combine_cell *cell)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < cell->count; i++)
        if (cell->versions[i].walk && cell->versions[i].walk->next < next)
            next = cell->versions[i].walk->next;
    return next;
}

static void go_to(const struct combine_cell *cell, uint64_t pc)
{
    for (size_t i = 0; i < cell->count; i++) {
        struct combine_version *version = &cell->versions[i];
        while (version->walk && version->walk->next <= pc)
            cfi_walk_next(version->walk);
        if (version->walk)
            version->row = cfi_walk_row(version->walk);
    }
}

int combine_versions(struct combine *combine, const struct combine_cell *cell)
{
    struct job job = {.combine = combine, .cell = cell};
    uint64_t pc = cell->start;

    combine->size = 0;
    combine->is_untold = false;
    go_to(cell, pc);
    int err = say_row(&job);
    for (uint64_t next; !err && (next = next_row(cell)) < cell->end; pc = next) {
        const bool is_last = is_too_much(combine, 0);
        uint8_t bytes[5] = {DW_CFA_ADVANCE_LOC4};
        bytes_put_u32(bytes + 1, (uint32_t)(next - pc), cell->swapped);
        err = append(combine, bytes, sizeof(bytes));
        go_to(cell, next);
        err = err ? err : say_row(&job);
        if (is_last)
            break;
    }
    return err;
}
