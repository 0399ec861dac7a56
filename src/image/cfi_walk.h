/* SPDX-License-Identifier: MIT */
/*
 * Running call frame instructions (DWARF 5, 6.4): what a table says of one row after the other.
 */
#ifndef JITINJECT_IMAGE_CFI_WALK_H
#define JITINJECT_IMAGE_CFI_WALK_H

#include "cfi.h"
#include "cursor.h"

enum cfi_rule_kind {
    CFI_UNSPECIFIED, /* readers take the register as unchanged */
    CFI_UNDEFINED,
    CFI_SAME,
    CFI_OFFSET,     /* saved at CFA + value */
    CFI_VAL_OFFSET, /* is CFA + value */
    CFI_REGISTER,   /* is in register `value` */
    CFI_EXPRESSION, /* saved where the block says */
    CFI_VAL_EXPRESSION,
};

/* How to find a register of the caller. */
struct cfi_rule {
    enum cfi_rule_kind kind;
    uint32_t reg;
    int64_t value;
    const uint8_t *block; /* a DWARF expression, in the table; NULL: none */
    size_t block_size;
};

/* Tables of JIT compilers name five registers or so, and nest no states. */
#define CFI_RULES_MAX  32
#define CFI_STATES_MAX 4
#define CFI_BLOCK_MAX  128

struct cfi_row {
    struct cfi_rule cfa; /* CFI_OFFSET: register `reg` + value; CFI_EXPRESSION; CFI_UNSPECIFIED */
    struct cfi_rule rules[CFI_RULES_MAX]; /* by register */
    size_t count;
};

struct cfi_walk {
    struct cfi_row row;
    uint64_t next; /* where the row after this one begins; UINT64_MAX: this is the last one */
    uint32_t return_register;
    /* for the walk itself */
    struct cursor cursor;
    uint64_t code_align;
    int64_t data_align;
    struct cfi_row initial, states[CFI_STATES_MAX];
    size_t depth;
};

/*
 * Begins at the row of `pc`, where the code of `fde` begins. The bytes of both are checked ones
 * (cfi_check_instructions), of the byte order of `swapped`, and stay where they are. False, as
 * below: the table says something that rows have no room for.
 */
bool cfi_walk_start(struct cfi_walk *walk, const struct cfi_cie *cie, const struct cfi_fde *fde,
                    uint64_t pc, bool swapped);
/* Goes to the row at walk->next. On a failure there is no further one. */
bool cfi_walk_next(struct cfi_walk *walk);
/* The row, as long as the walk is; NULL: the table does not tell how to go on from there. */
const struct cfi_row *cfi_walk_row(const struct cfi_walk *walk);

/* The rule for a register; one of CFI_UNSPECIFIED if there is none. */
struct cfi_rule cfi_row_rule(const struct cfi_row *row, uint32_t reg);
bool cfi_rule_equal(const struct cfi_rule *a, const struct cfi_rule *b);

#endif /* JITINJECT_IMAGE_CFI_WALK_H */
