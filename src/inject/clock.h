/* SPDX-License-Identifier: MIT */
/* When the code of a dump came to be, on the clock of the recording. DESIGN.md, "The clock". */
#ifndef INJECT_CLOCK_H
#define INJECT_CLOCK_H

#include "recording.h"

/*
 * Gives the code of a dump its times as far as the headers of both files tell how, which
 * dump->clock says; `life` is that of the process that may have written it.
 */
void clock_read(const struct recording *recording, struct task_life life, struct dump *dump);
/*
 * Does it for all other dumps, once their code has the pids of the recording. A dump that cannot be
 * placed in time loses its markers; -ENOTSUP: there is no other, which was reported.
 */
int clock_align(struct recording *recording);

#endif /* INJECT_CLOCK_H */
