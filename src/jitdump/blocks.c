/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Bytes of a dump for which the first block has room for a piece: there are seldom fewer. Many
 * small blocks would be on small pages, which cost more.
 */
#define BYTES_A_PIECE   2048
#define FIRST_BLOCK_MIN ((size_t)1 << 8)
#define FIRST_BLOCK_MAX ((size_t)1 << 20)

void blocks_init(struct jitdump_index *index, uint64_t size)
{
    size_t first = FIRST_BLOCK_MIN;

    while (first < FIRST_BLOCK_MAX && 2 * first <= size / BYTES_A_PIECE)
        first *= 2;
    *index = (struct jitdump_index){.next_block = first};
}

bool blocks_grow(struct jitdump_index *index)
{
    struct code *codes;

    if (!array_reserve(&index->blocks, &index->block_capacity, index->block_count + 1))
        return false;
    codes = array_new(index->next_block, sizeof(*codes));
    if (!codes)
        return false;
    index->blocks[index->block_count++] =
        (struct jitdump_block){.codes = codes, .first = index->count};
    index->room += index->next_block;
    index->next_block *= 2;
    return true;
}

void blocks_trim(struct jitdump_index *index)
{
    if (index->count == index->room)
        return;
    struct jitdump_block *last = &index->blocks[index->block_count - 1];
    struct code *trimmed = realloc(last->codes, (index->count - last->first) * sizeof(*trimmed));
    if (!trimmed)
        return;
    last->codes = trimmed;
    index->room = index->count;
}

int blocks_append(struct jitdump_index *index, struct jitdump_index *later)
{
    if (!array_reserve(&index->blocks, &index->block_capacity,
                       index->block_count + later->block_count))
        return -ENOMEM;
    blocks_trim(index);
    /* What could not be given back lies within no block of the index. */
    for (size_t i = 0; i < later->block_count; i++)
        index->blocks[index->block_count++] = (struct jitdump_block){
            .codes = later->blocks[i].codes, .first = later->blocks[i].first + index->count};
    index->room = index->count + later->room;
    index->count += later->count;
    free(later->blocks);
    *later = (struct jitdump_index){0};
    return 0;
}

void jitdump_index_clear(struct jitdump_index *index)
{
    for (size_t i = 0; i < index->block_count; i++)
        free(index->blocks[i].codes);
    free(index->blocks);
    *index = (struct jitdump_index){0};
}
