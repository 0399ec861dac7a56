/* SPDX-License-Identifier: MIT */
/* The pieces of an index, as they are added. */
#ifndef JITDUMP_BLOCKS_H
#define JITDUMP_BLOCKS_H

#include "jitinject/jitdump.h"

/* An empty index, for `size` bytes of a dump. */
void blocks_init(struct jitdump_index *index, uint64_t size);
/* Makes room for more pieces; false when memory is out. */
bool blocks_grow(struct jitdump_index *index);

/* Adds a piece; NULL when memory is out. */
static inline struct code *blocks_add(struct jitdump_index *index)
{
    if (index->count == index->room && !blocks_grow(index))
        return NULL;
    const struct jitdump_block *last = &index->blocks[index->block_count - 1];
    return last->codes + (index->count++ - last->first);
}

/* Gives back what the last block has beyond its pieces: in small dumps that is as much as they
 * hold. */
void blocks_trim(struct jitdump_index *index);
/* Takes all pieces of `later`, which is empty then. 0, or -ENOMEM and nothing has changed. */
int blocks_append(struct jitdump_index *index, struct jitdump_index *later);

#endif /* JITDUMP_BLOCKS_H */
