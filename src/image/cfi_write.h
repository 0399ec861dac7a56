/* SPDX-License-Identifier: MIT */
/*
 * Writing rules as call frame instructions (DWARF 5, 6.4.2 and 7.24), and as parts of an expression
 * (2.5 and 7.7.1) that chooses one of several.
 */
#ifndef JITINJECT_IMAGE_CFI_WRITE_H
#define JITINJECT_IMAGE_CFI_WRITE_H

#include "cfi_walk.h"

/* What one call writes at most; cfi_put_expression: besides the expression. */
#define CFI_WRITE_MAX (CFI_BLOCK_MAX + 32)

struct cfi_writer {
    uint8_t *bytes; /* the caller's, with room for all that it writes */
    size_t size;
    bool is_64bit, swapped; /* the target */
};

/* What a rule is for: its place in an instruction and on the stack of an expression differ. */
enum cfi_purpose { CFI_OF_CFA, CFI_OF_PLACE, CFI_OF_VALUE };

/* Instructions: to go on to the next row; for one rule; for what an expression says of `reg`. */
void cfi_put_advance(struct cfi_writer *writer, uint32_t delta);
void cfi_put_rule(struct cfi_writer *writer, const struct cfi_rule *rule, enum cfi_purpose purpose);
void cfi_put_expression(struct cfi_writer *writer, uint32_t reg, enum cfi_purpose purpose,
                        const struct cfi_writer *expression);

/*
 * The parts of an expression: it reads a word of memory, compares it with others, branches where
 * one is equal, and goes on with the rule there, which drops the word. A branch is returned until
 * it is told that its target comes next.
 */
void cfi_put_read_word(struct cfi_writer *writer, uint64_t addr);
size_t cfi_put_branch_if_equal(struct cfi_writer *writer, uint64_t word);
void cfi_put_alternative(struct cfi_writer *writer, const struct cfi_rule *rule,
                         enum cfi_purpose purpose);
size_t cfi_put_skip(struct cfi_writer *writer);
void cfi_land_branch(struct cfi_writer *writer, size_t branch);
/* After the last branch: libdw finds no end of an expression to branch to. */
void cfi_put_end(struct cfi_writer *writer);

#endif /* JITINJECT_IMAGE_CFI_WRITE_H */
