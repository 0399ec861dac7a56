/* SPDX-License-Identifier: MIT */
/* What is to be said of the times of a dump. */
#ifndef INJECT_CLOCK_REPORT_H
#define INJECT_CLOCK_REPORT_H

#include "recording.h"

/* Says what was done, or, as an oddity of this severity, why nothing was. */
void clock_report(const struct recording *recording, const struct dump *dump,
                  enum diag_severity severity);
/* Seconds, as perf script shows them; returns `text`. */
const char *clock_seconds(uint64_t time, char text[32]);

#endif /* INJECT_CLOCK_REPORT_H */
