/* SPDX-License-Identifier: MIT */
/* What is known of a dump while its records are made into pieces of code. */
#ifndef JITDUMP_INDEXING_H
#define JITDUMP_INDEXING_H

#include "jitinject/hashmap.h"
#include "pairing.h"

#include "jitinject/jitdump.h"

struct indexing {
    const struct jitdump *dump;
    struct jitdump_index *index;
    struct jitdump_reader *reader; /* owned */
    struct pairing pairing;
    struct hashmap latest; /* code_index and pid to the piece that a MOVE of it concerns */
    bool has_moves;
    uint64_t moves_unresolved, without_bytes, nameless, others;
    uint16_t source;
};

/* The next record of the reader. 0 or a negative errno. */
int indexing_add(struct indexing *indexing, const struct jitdump_record *record);
/* All but the index. */
void indexing_clear(struct indexing *indexing);

#endif /* JITDUMP_INDEXING_H */
