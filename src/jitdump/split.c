/* SPDX-License-Identifier: MIT */
#include "split.h"

#include "reader.h"

#include <stdlib.h>

/* Bytes: less is read before another thread is of use. */
#define WORTHWHILE (UINT64_C(4) << 20)

struct jitdump_split *jitdump_split_new(struct jitdump *dump)
{
    struct jitdump_split *split =
        jitdump_size(dump) < 2 * WORTHWHILE ? NULL : calloc(1, sizeof(*split));

    if (!split)
        return NULL;
    split->dump = dump;
    atomic_init(&split->position, 0);
    atomic_init(&split->seam, UINT64_MAX);
    atomic_init(&split->unwanted, false);
    pthread_mutex_init(&split->lock, NULL);
    pthread_cond_init(&split->changed, NULL);
    return split;
}

void jitdump_split_free(struct jitdump_split *split)
{
    if (!split)
        return;
    branch_clear(&split->branch);
    pthread_cond_destroy(&split->changed);
    pthread_mutex_destroy(&split->lock);
    free(split);
}

/* Takes the second half of what is left from `position` on. 0 or -ENOMEM. */
static int read_branch(struct jitdump_split *split, uint64_t position)
{
    const uint64_t left = jitdump_size(split->dump) - position;
    int status = branch_begin(&split->branch, split->dump, split->source, position + left / 2,
                              split->first_time);

    if (status >= 0)
        atomic_store(&split->seam, split->branch.start);
    while (status > 0 && !atomic_load_explicit(&split->unwanted, memory_order_relaxed))
        status = branch_next(&split->branch);
    return status < 0 ? status : 0;
}

/* What came of the branch is used if it begins at `position`. 0 or -ENOMEM. */
static int take_branch(struct jitdump_split *split, struct indexing *indexing, uint64_t position)
{
    const bool is_there = position == atomic_load(&split->seam);
    int status = 0;

    atomic_store(&split->unwanted, !is_there);
    while (split->state == SPLIT_HELPED)
        pthread_cond_wait(&split->changed, &split->lock);
    if (is_there && !split->err)
        status = branch_join(&split->branch, indexing);
    branch_clear(&split->branch);
    atomic_store(&split->unwanted, false);
    atomic_store(&split->seam, UINT64_MAX);
    split->state = SPLIT_FREE;
    return status < 0 ? status : 0;
}

int split_reach(struct jitdump_split *split, struct indexing *indexing, uint64_t position)
{
    int err = 0;

    pthread_mutex_lock(&split->lock);
    if (!atomic_load(&split->position)) {
        split->first_time = indexing->reader->times.first;
        split->source = indexing->source;
    }
    if (position >= atomic_load(&split->seam))
        err = take_branch(split, indexing, position);
    atomic_store(&split->position, indexing->reader->next);
    pthread_cond_broadcast(&split->changed);
    pthread_mutex_unlock(&split->lock);
    return err;
}

void split_end(struct jitdump_split *split)
{
    pthread_mutex_lock(&split->lock);
    split->ended = true;
    atomic_store(&split->unwanted, true);
    while (split->state == SPLIT_HELPED)
        pthread_cond_wait(&split->changed, &split->lock);
    branch_clear(&split->branch);
    pthread_cond_broadcast(&split->changed);
    pthread_mutex_unlock(&split->lock);
}

void jitdump_split_help(struct jitdump_split *split)
{
    pthread_mutex_lock(&split->lock);
    for (;;) {
        while (!split->ended && (split->state != SPLIT_FREE || !atomic_load(&split->position)))
            pthread_cond_wait(&split->changed, &split->lock);
        const uint64_t position = atomic_load(&split->position);
        if (split->ended || jitdump_size(split->dump) - position < 2 * WORTHWHILE)
            break;
        split->state = SPLIT_HELPED;
        pthread_mutex_unlock(&split->lock);
        const int err = read_branch(split, position);
        pthread_mutex_lock(&split->lock);
        split->err = err;
        split->state = SPLIT_DONE;
        pthread_cond_broadcast(&split->changed);
    }
    pthread_mutex_unlock(&split->lock);
}
