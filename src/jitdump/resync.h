/* SPDX-License-Identifier: MIT */
/*
 * Where records begin and end, and finding them again behind bytes that are none. Such bytes are in
 * real dumps: a process that forks with half a record in its stdio buffer writes that half once
 * more (CPython 3.13).
 */
#ifndef JITDUMP_RESYNC_H
#define JITDUMP_RESYNC_H

#include "trust.h"

/*
 * Whether a whole record is at `offset`: one that is certain, or whose size leads to such a one.
 * *certain (may be NULL) becomes the record if it is certain, else its size becomes 0.
 */
bool resync_begins(struct window *window, uint64_t offset, const struct trust_times *times,
                   struct frame *certain);

/* Whether the dump ends within a record that is at `offset`. */
bool resync_is_cut(struct window *window, uint64_t offset, const struct trust_times *times);

/*
 * Offset, at or behind `from` and before `to`, of the first record that is certain and is followed
 * by another, by a cut one or by the end; the end of the dump if there is none. Work is linear in
 * the bytes passed over.
 */
uint64_t resync_find(struct window *window, uint64_t from, uint64_t to,
                     const struct trust_times *times);

#endif /* JITDUMP_RESYNC_H */
