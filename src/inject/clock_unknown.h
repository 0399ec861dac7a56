/* SPDX-License-Identifier: MIT */
/*
 * Dumps whose clock is not that of the recording, or not known. Where every address belonged to one
 * piece of code only, times tell nothing. Where not, the difference of the two clocks is looked for
 * in what happened: memory was mapped, code came into it, code ran.
 */
#ifndef INJECT_CLOCK_UNKNOWN_H
#define INJECT_CLOCK_UNKNOWN_H

#include "recording.h"

/*
 * Decides where clock_choose could not, and marks pieces that need a time with CODE_REUSED where
 * times are ignored. 0 or a negative errno.
 */
int clock_settle(struct recording *recording);
/* From when on code of the dump counts if times are ignored. */
uint64_t clock_start(const struct recording *recording, const struct dump *dump, uint32_t pid);

#endif /* INJECT_CLOCK_UNKNOWN_H */
