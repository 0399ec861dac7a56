/* SPDX-License-Identifier: MIT */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "report.h"

#include "jitinject/inject.h"

enum options_action {
    OPTIONS_INJECT,
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_MISUSE, /* what was wrong has been said on stderr */
    OPTIONS_FAILED, /* the same */
};

struct options {
    struct inject_options inject;
    struct report_options report;
    size_t dump_dir_capacity, dump_capacity;
};

bool options_from_stdin(const struct options *options);
/* Whether the recording goes to standard output, and nothing else may. */
bool options_to_stdout(const struct options *options);
/* `argv` has to live as long as the options. */
enum options_action options_parse(int argc, char **argv, struct options *options);
void options_clear(struct options *options);
void options_help(void);

#endif /* CLI_OPTIONS_H */
