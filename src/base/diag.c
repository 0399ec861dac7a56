/* SPDX-License-Identifier: MIT */
#include "jitinject/diag.h"

#include <stdarg.h>
#include <stdio.h>

void diag_report(const struct diag *diag, enum diag_severity severity, const char *path,
                 uint64_t offset, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    if (!diag || !diag->report)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);

    const struct diag_report report = {
        .severity = severity, .path = path, .offset = offset, .text = text};
    diag->report(diag->context, &report);
}
