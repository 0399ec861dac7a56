/* SPDX-License-Identifier: MIT */
/*
 * The one table of several versions, run as an unwinder runs it: whichever version is mapped, at
 * every address the registers of the caller are those that the version's own rows give.
 */
#include "../../../src/image/combine.h"

#include "jitinject/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START     0x1000u
#define END       0x1040u
#define WORD_ADDR UINT64_C(0x7f0000001008)
#define ROWS_MAX  6
#define VERSIONS  6

/* The registers that have rules: two that are saved, one that is not, and the return address. */
static const uint32_t registers[] = {3, 6, 12, 16};
#define REGISTERS (sizeof(registers) / sizeof(registers[0]))
#define RETURN    16

struct model_row {
    uint64_t pc;
    uint32_t cfa_reg;
    int64_t cfa_offset;
    struct cfi_rule rules[REGISTERS];
};

struct model {
    struct model_row rows[ROWS_MAX];
    size_t count;
    bool is_untold;
    uint8_t bytes[1024];
    size_t size;
    uint64_t word;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t below(uint64_t limit)
{
    random_state ^= random_state << 13; /* xorshift64, Marsaglia 2003 */
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 20) % limit;
}

/* ---- What the unwinder sees ---- */

/* Any number for any place, the same each time. */
static uint64_t mixed(uint64_t value)
{
    return (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t register_value(uint64_t reg)
{
    return mixed(reg);
}

struct found {
    bool known;
    uint64_t value;
};

/* Memory: address 0 has none, and at WORD_ADDR is the code of the version that is mapped. */
static struct found read_memory(uint64_t addr, uint64_t word)
{
    return (struct found){.known = addr != 0, .value = addr == WORD_ADDR ? word : mixed(~addr)};
}

static int64_t sleb(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (byte & 0x40 && shift < 64)
        value |= UINT64_MAX << shift;
    return (int64_t)value;
}

/* An expression of the operations of DWARF 5, 2.5.1, that libdw and libunwind know. */
static struct found evaluate(const struct cfi_rule *rule, const uint64_t *cfa, uint64_t word)
{
    const uint8_t *at = rule->block, *const end = at + rule->block_size;
    uint64_t stack[16] = {0};
    size_t depth = 0;

    if (cfa)
        stack[depth++] = *cfa;
    while (at < end) {
        struct found found;
        uint64_t reg;
        int16_t branch;
        assert_in_range(depth, 0, 14);
        switch (*at++) {
        case 0x06: /* deref */
            found = read_memory(stack[depth - 1], word);
            if (!found.known)
                return found;
            stack[depth - 1] = found.value;
            break;
        case 0x0e: /* const8u */
            stack[depth++] = bytes_u64(at, false);
            at += 8;
            break;
        case 0x11: /* consts */
            stack[depth++] = (uint64_t)sleb(&at);
            break;
        case 0x12: /* dup */
            stack[depth] = stack[depth - 1];
            depth++;
            break;
        case 0x13: /* drop */
            depth--;
            break;
        case 0x22: /* plus */
            depth--;
            stack[depth - 1] += stack[depth];
            break;
        case 0x28: /* bra */
            branch = (int16_t)bytes_u16(at, false);
            at += 2 + (stack[--depth] ? branch : 0);
            assert_true(at < end); /* libdw needs an operation there */
            break;
        case 0x29: /* eq */
            depth--;
            stack[depth - 1] = stack[depth - 1] == stack[depth];
            break;
        case 0x2f: /* skip */
            branch = (int16_t)bytes_u16(at, false);
            at += 2 + branch;
            assert_true(at < end);
            break;
        case 0x30: /* lit0 */
            stack[depth++] = 0;
            break;
        case 0x92: /* bregx */
            reg = (uint64_t)sleb(&at);
            stack[depth++] = register_value(reg) + (uint64_t)sleb(&at);
            break;
        case 0x96: /* nop */
            break;
        default:
            fail_msg("operation 0x%x", at[-1]);
        }
    }
    assert_true(at == end && depth > 0);
    return (struct found){.known = true, .value = stack[depth - 1]};
}

/* The caller's register by a rule. */
static struct found apply(const struct cfi_rule *rule, uint64_t cfa, uint64_t word)
{
    struct found found = {.known = true};

    switch (rule->kind) {
    case CFI_UNDEFINED:
        return (struct found){.known = false};
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        found.value = register_value(rule->reg);
        break;
    case CFI_OFFSET:
        return read_memory(cfa + (uint64_t)rule->value, word);
    case CFI_VAL_OFFSET:
        found.value = cfa + (uint64_t)rule->value;
        break;
    case CFI_REGISTER:
        found.value = register_value((uint64_t)rule->value);
        break;
    case CFI_EXPRESSION:
        found = evaluate(rule, &cfa, word);
        return found.known ? read_memory(found.value, word) : found;
    case CFI_VAL_EXPRESSION:
        return evaluate(rule, &cfa, word);
    }
    return found;
}

/* ---- Tables ---- */

static void put(struct model *model, uint8_t byte)
{
    model->bytes[model->size++] = byte;
}

/* All offsets here are small: one or two bytes. */
static void put_sleb(struct model *model, int64_t value)
{
    assert_in_range(value + 4096, 0, 8191);
    put(model, (uint8_t)((value & 0x7f) | 0x80));
    put(model, (uint8_t)((value >> 7) & 0x7f));
}

/* Factored by the CIE's -8. */
static void put_rule(struct model *model, const struct cfi_rule *rule)
{
    static const uint8_t block[] = {0x11, 0x78, 0x22}; /* consts -8, plus */
    static const uint8_t opcodes[] = {0x06, 0x07, 0x08, 0x11, 0x15, 0x09, 0x10, 0x16};

    put(model, opcodes[rule->kind]);
    put(model, (uint8_t)rule->reg);
    if (rule->kind == CFI_OFFSET || rule->kind == CFI_VAL_OFFSET)
        put_sleb(model, rule->value / -8);
    if (rule->kind == CFI_REGISTER)
        put(model, (uint8_t)rule->value);
    if (rule->kind == CFI_EXPRESSION || rule->kind == CFI_VAL_EXPRESSION) {
        put(model, sizeof(block));
        for (size_t i = 0; i < sizeof(block); i++)
            put(model, block[i]);
    }
}

static struct cfi_rule random_rule(uint32_t reg)
{
    static const uint8_t block[] = {0x11, 0x78, 0x22};
    struct cfi_rule rule = {.kind = (enum cfi_rule_kind)below(8), .reg = reg};

    if (below(2)) /* as most are */
        rule.kind = CFI_OFFSET;
    if (rule.kind == CFI_UNSPECIFIED && reg == RETURN) /* it is restored to what the CIE says */
        rule.kind = CFI_OFFSET;
    if (rule.kind == CFI_OFFSET || rule.kind == CFI_VAL_OFFSET)
        rule.value = -8 * (int64_t)(1 + below(4));
    if (rule.kind == CFI_REGISTER)
        rule.value = (int64_t)below(8);
    if (rule.kind == CFI_EXPRESSION || rule.kind == CFI_VAL_EXPRESSION) {
        rule.block = block;
        rule.block_size = sizeof(block);
    }
    return rule;
}

/* Rows from a little before the cell on, of a few registers, often alike. */
static void make_table(struct model *model, uint64_t from)
{
    struct model_row row = {.pc = from, .cfa_reg = 7, .cfa_offset = 8};

    model->count = 1 + below(ROWS_MAX);
    model->size = 0;
    for (size_t i = 0; i < REGISTERS; i++)
        row.rules[i] = (struct cfi_rule){.kind = CFI_UNSPECIFIED, .reg = registers[i]};
    row.rules[REGISTERS - 1] = (struct cfi_rule){.kind = CFI_OFFSET, .reg = RETURN, .value = -8};
    for (size_t i = 0; i < model->count; i++) {
        if (i > 0) {
            const uint64_t step = 1 + below(20);
            row.pc += step;
            put(model, (uint8_t)(0x40 | step));
        }
        if (below(2)) {
            row.cfa_reg = below(2) ? 7 : 6;
            row.cfa_offset = 8 * (int64_t)(1 + below(40));
            put(model, 0x12); /* def_cfa_sf */
            put(model, (uint8_t)row.cfa_reg);
            put_sleb(model, row.cfa_offset / -8);
        }
        for (size_t k = 0; k < REGISTERS; k++)
            if (below(4) == 0) {
                row.rules[k] = random_rule(registers[k]);
                put_rule(model, &row.rules[k]);
            }
        model->rows[i] = row;
    }
}

static const struct model_row *row_at(const struct model *model, uint64_t pc)
{
    size_t i = model->count;

    while (model->rows[--i].pc > pc)
        assert_true(i > 0);
    return &model->rows[i];
}

static const uint8_t cie_parameters[] = {0x01, 0x78, 0x10}; /* factors 1 and -8, register 16 */
static const uint8_t cie_instructions[] = {0x0c, 0x07, 0x08, 0x90, 0x01};
static const struct cfi_cie usual_cie = {.version = 1,
                                         .parameters = cie_parameters,
                                         .parameters_size = sizeof(cie_parameters),
                                         .instructions = cie_instructions,
                                         .instructions_size = sizeof(cie_instructions)};

static struct cfi_walk walks[VERSIONS];
static struct combine_version versions[VERSIONS];

static struct combine_cell make_cell(struct model *models, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cfi_fde fde = {.instructions = models[i].bytes,
                                    .instructions_size = models[i].size};
        versions[i] = (struct combine_version){.word = models[i].word};
        if (models[i].is_untold)
            continue;
        assert_true(cfi_walk_start(&walks[i], &usual_cie, &fde, models[i].rows[0].pc, false));
        versions[i].walk = &walks[i];
    }
    return (struct combine_cell){
        .versions = versions,
        .count = count,
        .start = START,
        .end = END,
        .return_register = RETURN,
        .has_word = true,
        .word_addr = WORD_ADDR,
        .is_64bit = true,
    };
}

/* A walk through the result. */
static void start_result(struct cfi_walk *walk, const struct combine *combine)
{
    static const uint8_t parameters[] = {1, 1, RETURN};
    const struct cfi_cie cie = {.version = 3,
                                .parameters = parameters,
                                .parameters_size = sizeof(parameters),
                                .instructions = parameters};
    size_t size = combine->size;

    assert_true(cfi_check_instructions(combine->instructions, &size));
    const struct cfi_fde fde = {.instructions = combine->instructions, .instructions_size = size};
    assert_true(cfi_walk_start(walk, &cie, &fde, START, false));
}

/* At all addresses, with the version mapped. */
static void assert_right(const struct combine *combine, const struct model *model)
{
    static struct cfi_walk walk;

    start_result(&walk, combine);
    for (uint64_t pc = START; pc < END; pc++) {
        while (walk.next <= pc)
            assert_true(cfi_walk_next(&walk));
        const struct cfi_rule back = cfi_row_rule(&walk.row, RETURN);
        const struct cfi_rule *rule = &walk.row.cfa;
        uint64_t cfa = register_value(rule->reg) + (uint64_t)rule->value;
        if (rule->kind == CFI_EXPRESSION) {
            const struct found found = evaluate(rule, NULL, model->word);
            assert_true(found.known);
            cfa = found.value;
        }
        if (model->is_untold) {
            assert_false(apply(&back, cfa, model->word).known);
            continue;
        }
        const struct model_row *row = row_at(model, pc);
        assert_int_equal(cfa, register_value(row->cfa_reg) + (uint64_t)row->cfa_offset);
        for (size_t i = 0; i < REGISTERS; i++) {
            const struct cfi_rule combined = cfi_row_rule(&walk.row, registers[i]);
            const struct found found = apply(&combined, cfa, model->word);
            const struct found wanted = apply(&row->rules[i], cfa, model->word);
            assert_int_equal(found.known, wanted.known);
            assert_true(!wanted.known || found.value == wanted.value);
        }
    }
}

static void random_versions(void **state)
{
    struct combine combine = {0};
    static struct model models[VERSIONS];

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        const size_t count = 1 + below(VERSIONS);
        for (size_t i = 0; i < count; i++) {
            make_table(&models[i], START - below(8));
            models[i].word = mixed(i << 32);
            models[i].is_untold = i > 0 && below(8) == 0;
        }
        const struct combine_cell cell = make_cell(models, count);
        assert_int_equal(combine_versions(&combine, &cell), 0);
        assert_false(combine.is_untold);
        for (size_t i = 0; i < count; i++)
            assert_right(&combine, &models[i]);
    }
    free(combine.instructions);
}

/* The same rules need no word. */
static void equal_versions(void **state)
{
    struct combine combine = {0};
    static struct model models[2];

    (void)state;
    make_table(&models[0], START);
    models[1] = models[0];
    struct combine_cell cell = make_cell(models, 2);
    cell.has_word = false;
    assert_int_equal(combine_versions(&combine, &cell), 0);
    assert_false(combine.is_untold);
    assert_right(&combine, &models[0]);
    free(combine.instructions);
}

/* Where nothing tells the versions apart a stack ends; before that, and behind it, it does not. */
static void untold_versions(void **state)
{
    static struct model models[2];
    struct combine combine = {0};
    static struct cfi_walk walk;

    (void)state;
    for (unsigned has_word = 0; has_word < 2; has_word++) {
        make_table(&models[0], START);
        models[0].count = 3;
        models[0].size = 0;
        for (size_t i = 0; i < 3; i++) {
            const uint8_t row[] = {0x12, 0x07, (uint8_t)(0x80 - 2), 0x44}; /* rsp+16, advance 4 */
            memcpy(models[0].bytes + models[0].size, row, sizeof(row));
            models[0].size += sizeof(row);
        }
        models[1] = models[0];
        models[1].bytes[6] = 0x80 - 3; /* the second row: rsp+24 */
        struct combine_cell cell = make_cell(models, 2);
        cell.has_word = has_word; /* one that both have */
        assert_int_equal(combine_versions(&combine, &cell), 0);
        assert_true(combine.is_untold);
        start_result(&walk, &combine);
        assert_int_equal(cfi_row_rule(&walk.row, RETURN).kind, CFI_OFFSET);
        assert_int_equal(walk.row.cfa.value, 16);
        assert_int_equal(walk.next, START + 4);
        assert_true(cfi_walk_next(&walk));
        assert_int_equal(cfi_row_rule(&walk.row, RETURN).kind, CFI_UNDEFINED);
        assert_int_equal(walk.next, START + 8);
        assert_true(cfi_walk_next(&walk));
        assert_int_equal(cfi_row_rule(&walk.row, RETURN).kind, CFI_OFFSET);
    }
    free(combine.instructions);
}

/* Tables of very many rows, as no runtime writes them, end early; and a stack there. */
static void endless_versions(void **state)
{
    const size_t rows = 20000;
    static struct cfi_walk walk;
    struct combine combine = {0};
    uint8_t *bytes = calloc(rows, 6);
    static struct model models[2];

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < rows; i++) {
        const uint8_t row[6] = {0x12, 0x07, (uint8_t)(0x80 - 2 - (i & 1)), 0x0e, 16, 0x41};
        memcpy(bytes + 6 * i, row, sizeof(row));
        bytes[6 * i + 4] = (uint8_t)(8 + 8 * (i % 8));
    }
    const struct cfi_fde fde = {.instructions = bytes, .instructions_size = 6 * rows};
    make_table(&models[0], START);
    make_table(&models[1], START);
    models[1].word = 1;
    struct combine_cell cell = make_cell(models, 2);
    cell.end = START + rows;
    assert_true(cfi_walk_start(&walks[1], &usual_cie, &fde, START, false));
    assert_int_equal(combine_versions(&combine, &cell), 0);
    assert_true(combine.is_untold);
    assert_in_range(combine.size, COMBINE_SIZE_MAX, COMBINE_SIZE_MAX + 4096);
    start_result(&walk, &combine);
    while (walk.next != UINT64_MAX)
        assert_true(cfi_walk_next(&walk));
    assert_int_equal(cfi_row_rule(&walk.row, RETURN).kind, CFI_UNDEFINED);

    combine.work = COMBINE_WORK_MAX;
    cell = make_cell(models, 2);
    assert_int_equal(combine_versions(&combine, &cell), 0);
    assert_true(combine.is_untold);
    assert_in_range(combine.size, 1, 64);
    free(combine.instructions);
    free(bytes);
}

/*
 * More registers than an FDE has room for: the stack ends there, at the return address, which takes
 * room, too.
 */
static void too_many_registers(void **state)
{
    static struct model models[2];
    struct combine combine = {0};

    (void)state;
    for (uint8_t i = 0; i < 2; i++) {
        struct model *model = &models[i];
        *model = (struct model){.rows[0].pc = START, .word = i};
        put(model, 0x0a);                        /* remember_state */
        for (uint8_t reg = 0; reg < 31; reg++) { /* with the one of the CIE a row is full */
            put(model, 0x05);                    /* offset_extended */
            put(model, (uint8_t)(20 + 40 * i + reg));
            put(model, 2);
        }
    }
    for (uint8_t row = 0; row < 4; row++) { /* advance, restore_state, remember_state, another */
        const uint8_t another[] = {0x41, 0x0b, 0x0a, 0x05, (uint8_t)(110 + row), 2};
        for (size_t i = 0; i < sizeof(another); i++)
            put(&models[0], another[i]);
    }
    struct combine_cell cell = make_cell(models, 2);
    cell.return_register = 17; /* neither has a rule for it */
    assert_int_equal(combine_versions(&combine, &cell), 0);
    assert_true(combine.is_untold);
    size_t size = combine.size;
    assert_true(cfi_check_instructions(combine.instructions, &size));
    assert_int_equal(size, combine.size);
    free(combine.instructions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_versions),  cmocka_unit_test(equal_versions),
        cmocka_unit_test(untold_versions),  cmocka_unit_test(too_many_registers),
        cmocka_unit_test(endless_versions),
    };
    return cmocka_run_group_tests_name("image-combine", tests, NULL, NULL);
}
