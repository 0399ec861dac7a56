/* SPDX-License-Identifier: MIT */
/*
 * Layers: pieces that overlap cannot share a mirror of the address space. A piece lies one layer
 * above the highest that it overlaps, so within a layer nothing overlaps, and above an address the
 * layers are in order of time.
 */
#ifndef PLACE_LAYERS_H
#define PLACE_LAYERS_H

#include "place_internal.h"

/* Sets code->layer, and process->extents.codes without what is there already. 0 or -ENOMEM. */
int layers_assign(struct place *place, struct process *process);

#endif /* PLACE_LAYERS_H */
