/* SPDX-License-Identifier: MIT */
/* What is shown of reports and of the summary. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "options.h"

#include <stdio.h>

/* diag.report; `context` is a struct options. To stderr. */
void report_oddity(void *context, const struct diag_report *report);
void report_summary(const struct options *options, const struct inject_summary *summary,
                    FILE *stream);

#endif /* CLI_REPORT_H */
