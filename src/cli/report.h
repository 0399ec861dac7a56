/* SPDX-License-Identifier: MIT */
/* What is shown of reports and of the summary. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "jitinject/inject.h"

#include <stdbool.h>
#include <stdio.h>

/* How much of it. */
struct report_options {
    unsigned verbose; /* how often -v was given */
    bool quiet;       /* no summary */
};

/* diag.report; `context` is a struct report_options. To stderr. */
void report_oddity(void *context, const struct diag_report *report);
void report_summary(const struct report_options *options, const struct inject_summary *summary,
                    FILE *stream);

#endif /* CLI_REPORT_H */
