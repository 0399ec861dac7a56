/* SPDX-License-Identifier: MIT */
/* The side of the thread that builds an index, where another one may help with it. */
#ifndef JITDUMP_SPLIT_H
#define JITDUMP_SPLIT_H

#include "branch.h"

#include <pthread.h>
#include <stdatomic.h>

enum split_state {
    SPLIT_FREE,   /* nobody helps */
    SPLIT_HELPED, /* the branch is somebody's */
    SPLIT_DONE,   /* it has ended */
};

struct jitdump_split {
    struct jitdump *dump;
    _Atomic uint64_t position; /* of who indexes it; 0: not begun */
    _Atomic uint64_t seam;     /* where the branch began; UINT64_MAX: there is none */
    atomic_bool unwanted;      /* nobody waits for the branch */
    pthread_mutex_t lock;      /* for what follows */
    pthread_cond_t changed;
    enum split_state state;
    bool ended;          /* no help is needed any more */
    uint64_t first_time; /* of the first record; it and `source` do not change once it is read */
    uint16_t source;
    struct branch branch; /* the helper's as long as it helps */
    int err;              /* of it */
};

/* Indexing has come to `position`, where a branch may have begun. 0 or -ENOMEM. */
int split_reach(struct jitdump_split *split, struct indexing *indexing, uint64_t position);

/*
 * After each record; `position` is where it ends. It is told while somebody may ask for it only:
 * two processors that write and read side by side slow each other down.
 */
static inline int split_pass(struct jitdump_split *split, struct indexing *indexing,
                             uint64_t position)
{
    const uint64_t seam = atomic_load_explicit(&split->seam, memory_order_relaxed);

    if (position >= seam || !atomic_load_explicit(&split->position, memory_order_relaxed))
        return split_reach(split, indexing, position);
    if (seam == UINT64_MAX)
        atomic_store_explicit(&split->position, position, memory_order_relaxed);
    return 0;
}

/* No help is needed any more. */
void split_end(struct jitdump_split *split);

#endif /* JITDUMP_SPLIT_H */
