/* SPDX-License-Identifier: MIT */
/*
 * Finding records again behind bytes that are none. Such bytes are in real dumps: a process that
 * forks with half a record in its stdio buffer writes that half once more (CPython 3.13).
 */
#ifndef JITDUMP_RESYNC_H
#define JITDUMP_RESYNC_H

#include "frame.h"

/* Times of records that are good, to measure others by. */
struct resync_times {
    bool known;
    uint64_t first, last;
};

void resync_note_time(struct resync_times *times, uint64_t time);

/*
 * Offset, at or behind `from`, of the first record that looks right in all its fixed fields and has
 * something behind it that can follow a record; the end of the dump if there is none. Work is
 * linear in the bytes passed over.
 */
uint64_t resync_find(struct window *window, uint64_t from, const struct resync_times *times);

#endif /* JITDUMP_RESYNC_H */
