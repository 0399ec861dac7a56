/* SPDX-License-Identifier: MIT */
#include "combine.h"

#include "cfi_write.h"
#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An instruction, with an expression that tests for all versions. */
#define INSTRUCTION_MAX ((3 * COMBINE_VERSIONS_MAX + 3) * CFI_WRITE_MAX)

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

static struct cfi_writer writer_on(const struct job *job, uint8_t *bytes)
{
    return (struct cfi_writer){
        .bytes = bytes, .is_64bit = job->cell->is_64bit, .swapped = job->cell->swapped};
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

static enum cfi_purpose purpose_of(const struct job *job)
{
    for (size_t i = 0; i < job->cell->count; i++)
        if (matters(job, i) && job->rules[i].kind != CFI_OFFSET &&
            job->rules[i].kind != CFI_EXPRESSION && job->rules[i].kind != CFI_UNDEFINED)
            return CFI_OF_VALUE;
    return CFI_OF_PLACE;
}

/* An expression that goes on with the rule of the version whose word is there. */
static bool put_choice(const struct job *job, struct cfi_writer *writer, size_t usual,
                       enum cfi_purpose purpose)
{
    const struct combine_cell *cell = job->cell;
    size_t tests[COMBINE_VERSIONS_MAX], branches[COMBINE_VERSIONS_MAX], ends[COMBINE_VERSIONS_MAX];
    size_t count;

    if (!cell->has_word || !choose_tests(job, usual, tests, &count))
        return false;
    cfi_put_read_word(writer, cell->word_addr);
    for (size_t i = 0; i < count; i++)
        branches[i] = cfi_put_branch_if_equal(writer, cell->versions[tests[i]].word);
    cfi_put_alternative(writer, &job->rules[usual], purpose);
    for (size_t i = 0; i < count; i++) {
        ends[i] = cfi_put_skip(writer);
        cfi_land_branch(writer, branches[i]);
        cfi_put_alternative(writer, &job->rules[tests[i]], purpose);
    }
    for (size_t i = 0; i < count; i++)
        cfi_land_branch(writer, ends[i]);
    cfi_put_end(writer);
    return true;
}

/* The instruction for job->rules. False: nothing tells the versions apart. */
static bool put_rules(const struct job *job, struct cfi_writer *writer, bool of_cfa)
{
    const size_t usual = most_frequent(job);
    uint8_t bytes[INSTRUCTION_MAX];
    struct cfi_writer expression = writer_on(job, bytes);
    bool agree = true;

    for (size_t i = 0; i < job->cell->count; i++)
        agree &= !matters(job, i) || cfi_rule_equal(&job->rules[i], &job->rules[usual]);
    const enum cfi_purpose purpose = of_cfa ? CFI_OF_CFA : purpose_of(job);
    if (agree)
        cfi_put_rule(writer, &job->rules[usual], purpose);
    else if (put_choice(job, &expression, usual, purpose))
        cfi_put_expression(writer, job->rules[usual].reg, purpose, &expression);
    else
        return false;
    return true;
}

static int append(struct combine *combine, const struct cfi_writer *written)
{
    if (!array_reserve(&combine->instructions, &combine->capacity, combine->size + written->size))
        return -ENOMEM;
    memcpy(combine->instructions + combine->size, written->bytes, written->size);
    combine->size += written->size;
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
static int say(struct job *job, uint32_t reg, const struct cfi_writer *written)
{
    struct said *said = find_said(job, reg);

    if (said && said->size == written->size &&
        memcmp(job->combine->instructions + said->at, written->bytes, written->size) == 0)
        return 0;
    if (!said)
        said = &job->said[job->said_count++];
    *said = (struct said){.reg = reg, .at = job->combine->size, .size = written->size};
    return append(job->combine, written);
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
    uint8_t bytes[CFI_WRITE_MAX];
    struct cfi_writer writer = writer_on(job, bytes);
    int err = 0;

    job->combine->is_untold = true;
    if (!find_said(job, NO_REGISTER)) { /* any will do */
        cfi_put_rule(&writer, &cfa, CFI_OF_CFA);
        err = say(job, NO_REGISTER, &writer);
        writer.size = 0;
    }
    cfi_put_rule(&writer, &end, CFI_OF_PLACE);
    return err ? err : say(job, end.reg, &writer);
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
    uint8_t bytes[INSTRUCTION_MAX];
    struct cfi_writer writer = writer_on(job, bytes);
    size_t count;

    if (is_too_much(job->combine, job->cell->count) || !take_cfa_rules(job) ||
        !put_rules(job, &writer, true) || !list_registers(job, registers, &count))
        return say_untold(job);
    int err = say(job, NO_REGISTER, &writer);
    for (size_t i = 0; i < count && !err; i++) {
        writer.size = 0;
        if (!take_rules(job, registers[i]) && !find_said(job, registers[i]))
            continue;
        if (!put_rules(job, &writer, false))
            return say_untold(job);
        err = say(job, registers[i], &writer);
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
        uint8_t bytes[CFI_WRITE_MAX];
        struct cfi_writer writer = writer_on(&job, bytes);
        cfi_put_advance(&writer, (uint32_t)(next - pc));
        err = append(combine, &writer);
        go_to(cell, next);
        err = err ? err : say_row(&job);
        if (is_last)
            break;
    }
    return err;
}
