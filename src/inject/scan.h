/* SPDX-License-Identifier: MIT */
/* One pass over a recording for mappings, forks and markers, and what the samples tell. */
#ifndef INJECT_SCAN_H
#define INJECT_SCAN_H

#include "recording.h"

/* Fills what a scan finds; mappings and processes go to place. Markers have no dump yet. 0 or a
 * negative errno. */
int scan_records(struct recording *recording);

#endif /* INJECT_SCAN_H */
