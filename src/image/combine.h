/* SPDX-License-Identifier: MIT */
/*
 * One table for all versions of the code at some addresses. libdw keeps the first file that it saw
 * at an address, so what that file says has to be right for whatever is there later. It is: where
 * versions differ, the rule is an expression that reads a word of the code, which is that of the
 * version that is mapped, and goes on with the rule of that version.
 */
#ifndef JITINJECT_IMAGE_COMBINE_H
#define JITINJECT_IMAGE_COMBINE_H

#include "cfi_walk.h"

/* Versions of one cell. The size of its table, and the work, grow with the square of their number.
 */
#define COMBINE_VERSIONS_MAX 16
/* The instructions of one FDE. Behind that the stack ends, as where nothing tells versions apart.
 */
#define COMBINE_SIZE_MAX (1u << 16)
/* Rules of rows compared with one another; runtimes replace code a few thousand times. */
#define COMBINE_WORK_MAX (1u << 22)

struct combine_version {
    struct cfi_walk *walk;     /* through its table, at the first address or before it */
    const struct cfi_row *row; /* without a walk: for all addresses; NULL: nothing tells how to go
                                  on from there */
    uint64_t word;             /* in its code, at combine_cell.word_addr */
};

/* Addresses that have the same versions, each with one table or none, from the first to the last.
 */
struct combine_cell {
    struct combine_version *versions;
    size_t count;
    uint64_t start, end; /* as in the walks */
    uint32_t return_register;
    bool has_word; /* at word_addr in the process is a word that tells versions apart */
    uint64_t word_addr;
    bool is_64bit, swapped; /* the target */
};

/* The result; free(instructions) frees it. */
struct combine {
    uint8_t *instructions;
    size_t size, capacity;
    bool is_untold; /* somewhere nothing tells the versions apart: a stack ends there */
    uint64_t work;  /* so far, for all cells */
};

/*
 * Replaces the content of `combine` by the instructions of an FDE for the cell, to be used with
 * alignment factors of 1 and a CIE without instructions; walks are left at the last row. 0 or
 * -ENOMEM.
 */
int combine_versions(struct combine *combine, const struct combine_cell *cell);

#endif /* JITINJECT_IMAGE_COMBINE_H */
