/* SPDX-License-Identifier: MIT */
#include "jitinject/leftovers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Once in the list it stays there: a handler may be looking at it. */
struct leftover {
    struct leftover *next;
    atomic_bool is_there;
    char name[];
};

static _Atomic(struct leftover *) leftovers;

struct leftover *leftovers_add(const char *name)
{
    const size_t size = strlen(name) + 1;
    struct leftover *added = malloc(sizeof(*added) + size);

    if (!added)
        return NULL;
    memcpy(added->name, name, size);
    atomic_init(&added->is_there, true);
    added->next = atomic_load(&leftovers);
    while (!atomic_compare_exchange_weak(&leftovers, &added->next, added))
        ;
    return added;
}

void leftovers_drop(struct leftover *leftover)
{
    if (leftover)
        atomic_store(&leftover->is_there, false);
}

void leftovers_remove(void)
{
    for (struct leftover *left = atomic_load(&leftovers); left; left = left->next)
        if (atomic_load(&left->is_there))
            unlink(left->name);
}
