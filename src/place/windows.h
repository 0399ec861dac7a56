/* SPDX-License-Identifier: MIT */
/*
 * Windows: each file mirrors a span of the address space, offset = address + one bias, because
 * unwinders and hotspot take one base a file. Pieces with small gaps between them are one extent.
 */
#ifndef PLACE_WINDOWS_H
#define PLACE_WINDOWS_H

#include "place_internal.h"

/* The extents of a process whose pieces have their layers. 0 or -ENOMEM. */
int windows_make_extents(struct process *process);
/* Its files, with the extents of all its ancestors known. 0 or -ENOMEM. */
int windows_lay_out(struct place *place, struct process *process);

#endif /* PLACE_WINDOWS_H */
