/* SPDX-License-Identifier: MIT */
/*
 * Rooms: addresses for what a file has mapped besides its code. Readers measure from the mapping of
 * its first page, and unwinders read its tables through the maps.
 */
#ifndef PLACE_ROOMS_H
#define PLACE_ROOMS_H

#include "place_internal.h"

/*
 * [start, end) is taken by a file of the process: no room of it or of its children goes there, nor
 * one of its family, unless that has its rooms already. 0 or -ENOMEM.
 */
int rooms_take(struct process *process, uint64_t start, uint64_t end);
/* Takes for its family what the process inherited from others, once all extents are known: the
 * family's files are mapped beside it. 0 or -ENOMEM. */
int rooms_take_inherited(const struct process *process);

/* Whether code of a library was mapped at the address; *base is where the library's start is. */
bool rooms_library_base(const struct process *process, uint64_t addr, uint64_t *base);

/*
 * A room of `size` bytes, in pages, at base - offset: the least offset from PLACE_TEXT_OFFSET on,
 * or less if a library lies so near below `base`. No library lies between, since libdw takes all
 * from a file's first to its last address for it. 0: there is none.
 */
uint64_t rooms_find_below(const struct process *process, uint64_t base, uint64_t size);
/* The same above: an offset in the file behind `end`, which lies at address offset - bias. */
uint64_t rooms_find_above(const struct process *process, uint64_t bias, uint64_t end,
                          uint64_t size);

#endif /* PLACE_ROOMS_H */
