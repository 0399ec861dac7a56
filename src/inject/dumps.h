/* SPDX-License-Identifier: MIT */
/* The dumps of a recording: what is said of each, and their code given to its processes. */
#ifndef INJECT_DUMPS_H
#define INJECT_DUMPS_H

#include "recording.h"

/* After the scan: finds and reads them, and hands their code to place. 0 or a negative errno. */
int dumps_read(struct recording *recording);

#endif /* INJECT_DUMPS_H */
