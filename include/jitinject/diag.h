/* SPDX-License-Identifier: MIT */
/*
 * Oddities of the inputs, as data.
 *
 * A part that meets something worth saying hands a report to the sink it was given; the sink
 * decides whether it is shown, counted or kept. A part never prints by itself.
 */
#ifndef JITINJECT_DIAG_H
#define JITINJECT_DIAG_H

#include <stdint.h>

enum diag_severity {
    DIAG_NOTE,    /* harmless, shown with -v */
    DIAG_WARNING, /* something of the input is not in the output, or was guessed */
    DIAG_ERROR,   /* the run fails */
};

/* The value of diag_report.offset where no place in a file is meant. */
#define DIAG_NO_OFFSET UINT64_MAX

struct diag_report {
    enum diag_severity severity;
    const char *path; /* the file it is about, or NULL */
    uint64_t offset;  /* byte in that file, or DIAG_NO_OFFSET */
    const char *text; /* one sentence without a final newline: what was wrong and what to do */
};

struct diag {
    void (*report)(void *context, const struct diag_report *report);
    void *context;
};

/*
 * Formats one report and hands it to `diag`; a NULL diag takes nothing. The strings are the
 * caller's and live for the call only.
 */
void diag_report(const struct diag *diag, enum diag_severity severity, const char *path,
                 uint64_t offset, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif /* JITINJECT_DIAG_H */
