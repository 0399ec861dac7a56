/* SPDX-License-Identifier: MIT */
#include "jitinject/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__

#ifndef MADV_COLLAPSE /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif

#define HUGE_PAGE ((uintptr_t)2 << 20)
/* Address space, not memory: a huge page is there once it is used. */
#define RESERVED ((size_t)128 << 20)
/* What is as large goes back to the system when it is freed. */
#define MAPPED ((size_t)8 << 20)

void heap_prepare(void)
{
    const uintptr_t end = (uintptr_t)sbrk(0);

    /* The heap goes on where a huge page begins, and grows by all that is reserved at once. */
    if (sbrk((intptr_t)(-end % HUGE_PAGE)) == (void *)-1)
        return;
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TRIM_THRESHOLD, 2 * RESERVED);
    mallopt(M_TOP_PAD, RESERVED);
    void *volatile grown = malloc(HUGE_PAGE / 4); /* volatile: the compiler would leave it out */
    free(grown);
    mallopt(M_TOP_PAD, MAPPED);

    /* Without huge pages it is slower, that is all. Parts of the first one have been touched, and
     * of no other: malloc() marks where what it has begins and ends. */
    void *const start = (void *)((end + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    madvise(start, (uintptr_t)sbrk(0) - (uintptr_t)start, MADV_HUGEPAGE);
    madvise(start, HUGE_PAGE, MADV_COLLAPSE);
}

#else

void heap_prepare(void)
{
}

#endif
