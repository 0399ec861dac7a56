/* SPDX-License-Identifier: MIT */
#ifndef CLI_MAP_OPTIONS_H
#define CLI_MAP_OPTIONS_H

#include "report.h"

#include <stdint.h>

struct map_options {
    const char *dump;
    const char *output; /* NULL: standard output */
    bool has_pid;
    uint32_t pid;
    struct report_options report;
};

/* `options` is all zero, and lives no longer than `argv`. The status to exit with; *goes_on is
 * false where that is all. */
int map_options_parse(int argc, char **argv, struct map_options *options, bool *goes_on);

#endif /* CLI_MAP_OPTIONS_H */
