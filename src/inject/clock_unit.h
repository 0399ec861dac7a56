/* SPDX-License-Identifier: MIT */
/*
 * What the headers of a recording and of a dump tell of their clocks. The jitdump specification has
 * times of CLOCK_MONOTONIC, or of the processor (TSC) where the header has a flag, which perf can
 * convert if it recorded on its own clock. The flag is known to be set on dumps that are in
 * nanoseconds.
 */
#ifndef INJECT_CLOCK_UNIT_H
#define INJECT_CLOCK_UNIT_H

#include "recording.h"

/* Sets dump->clock; `life` is that of the process that may have written the dump. */
void clock_choose(const struct recording *recording, struct task_life life, struct dump *dump);

/* Whether the samples have no times. */
bool clock_is_untimed(const struct recording *recording);
/* Whether perf recorded on a clock of its user's choice. */
bool clock_is_chosen(const struct recording *recording);
/* Whether the recording says how to convert the processor's times. */
bool clock_can_convert(const struct recording *recording);
/* The sum, within the range of times. */
uint64_t clock_shift(uint64_t time, int64_t offset);

#endif /* INJECT_CLOCK_UNIT_H */
