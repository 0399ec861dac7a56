/* SPDX-License-Identifier: MIT */
/* The pieces of an index, as they are added. */
#ifndef JITDUMP_BLOCKS_H
#define JITDUMP_BLOCKS_H

#include "jitinject/jitdump.h"

/* An empty index, for `size` bytes of a dump. */
void blocks_init(struct jitdump_index *index, uint64_t size);
/* Adds a piece; NULL when memory is out. */
struct code *blocks_add(struct jitdump_index *index);
/* Gives back what the last block has beyond its pieces: in small dumps that is as much as they
 * hold. */
void blocks_trim(struct jitdump_index *index);
/* Takes all pieces of `later`, which is empty then. 0, or -ENOMEM and nothing has changed. */
int blocks_append(struct jitdump_index *index, struct jitdump_index *later);

#endif /* JITDUMP_BLOCKS_H */
