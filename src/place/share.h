/* SPDX-License-Identifier: MIT */
#ifndef PLACE_SHARE_H
#define PLACE_SHARE_H

#include "lives.h"
#include "place_internal.h"

/*
 * Finds the families of processes that share memory, gives the code in it to each process that has
 * it there at that time (process->loads), and lays it out with the first of the family. Pieces are
 * by time, and each life is a process. 0 or -ENOMEM.
 */
int share_codes(struct place *place);

#endif /* PLACE_SHARE_H */
