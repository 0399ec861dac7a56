/* SPDX-License-Identifier: MIT */
/* When the code of a dump came to be, on the clock of the recording. DESIGN.md, "The clock". */
#ifndef INJECT_CLOCK_H
#define INJECT_CLOCK_H

#include "recording.h"

/*
 * clock.c: gives the code of a dump its times as far as the headers of both files tell how, which
 * dump->clock says; `life` is that of the process that may have written it.
 */
void clock_read(const struct recording *recording, struct task_life life, struct dump *dump);
/*
 * clock.c: does it for all other dumps, once their code has the pids of the recording. A dump that
 * cannot be placed in time loses its markers; -ENOTSUP: there is no other, which was reported.
 */
int clock_align(struct recording *recording);

/* clock.c: the sum, within the range of times. */
uint64_t clock_shift(uint64_t time, int64_t offset);

/* clock_unit.c: sets dump->clock as the headers tell. */
void clock_choose(const struct recording *recording, struct task_life life, struct dump *dump);
/* clock_unit.c: whether the samples have no times. */
bool clock_is_untimed(const struct recording *recording);
/* clock_unit.c: whether perf recorded on a clock of its user's choice. */
bool clock_is_chosen(const struct recording *recording);
/* clock_unit.c: whether the recording says how to convert the processor's times. */
bool clock_can_convert(const struct recording *recording);

/*
 * clock_unknown.c: decides where clock_choose could not, and marks pieces that need a time with
 * CODE_REUSED where times are ignored. 0 or a negative errno.
 */
int clock_settle(struct recording *recording);
/* clock_unknown.c: from when on code of the dump counts if times are ignored. */
uint64_t clock_start(const struct recording *recording, const struct dump *dump, uint32_t pid);

/* clock_report.c: seconds, as perf script shows them. */
const char *clock_seconds(uint64_t time, char text[32]);
/* clock_report.c: says what was done, or, as an oddity of this severity, why nothing was. */
void clock_report(const struct recording *recording, const struct dump *dump,
                  enum diag_severity severity);

#endif /* INJECT_CLOCK_H */
