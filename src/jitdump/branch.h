/* SPDX-License-Identifier: MIT */
/*
 * A part of a dump that is read without what is before it, from what looks like a record on. It
 * goes as far as all records are such that nothing before them could make a reader see others: each
 * is certain and near in time to the dump's first one, and so is what follows it. Nothing is
 * reported. Who indexes the dump and comes to the very record that the branch began with can take
 * what came of it, and go on where it ended.
 */
#ifndef JITDUMP_BRANCH_H
#define JITDUMP_BRANCH_H

#include "indexing.h"

struct branch {
    struct indexing indexing;
    struct jitdump_index index;
    uint64_t start;      /* offset of the record that it begins with, if there is one */
    uint64_t last_time;  /* of its last record */
    bool with_unwinding; /* an UNWINDING_INFO comes before its first LOAD */
};

/*
 * Looks for a place to begin at or behind `from`, if it can be one where nothing waits for a LOAD.
 * `first_time` is that of the first record of the dump. 1; 0: there is none; -ENOMEM.
 */
int branch_begin(struct branch *branch, struct jitdump *dump, uint16_t source, uint64_t from,
                 uint64_t first_time);
/* Takes the next record: 1; 0: it goes no further; -ENOMEM: nothing of it can be used. */
int branch_next(struct branch *branch);
/*
 * Indexing has come to where the branch began, and goes on where that has ended. 1; 0: what it has
 * read would have changed the branch, and nothing is done; -ENOMEM.
 */
int branch_join(struct branch *branch, struct indexing *indexing);
/* All zero is fine. */
void branch_clear(struct branch *branch);

#endif /* JITDUMP_BRANCH_H */
