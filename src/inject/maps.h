/* SPDX-License-Identifier: MIT */
/* Perf maps: names for what no dump names, as readers would take them on the machine that was
 * recorded. */
#ifndef INJECT_MAPS_H
#define INJECT_MAPS_H

#include "recording.h"

/* After dumps_read: finds the maps of the processes with samples, and hands their names to place. 0
 * or a negative errno. */
int maps_read(struct recording *recording);

struct maps;
/* NULL is fine. */
void maps_free(struct maps *maps);

#endif /* INJECT_MAPS_H */
