/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "options.h"
#include "report.h"
#include "signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A recording of many processes has a dump and some outputs open for each of them. */
static void allow_many_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The recording comes from another program while it runs. */
static bool comes_by_pipe(const struct options *options)
{
    const char *path = options->inject.input;
    struct stat status;

    if (options_from_stdin(options) ? fstat(STDIN_FILENO, &status) : stat(path, &status))
        return false;
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

static int inject(struct options *options)
{
    const struct diag diag = {.report = report_oddity, .context = &options->report};
    struct inject_summary summary = {0};

    /* Where the reader of the output ends early there is something to be undone. */
    signal(SIGPIPE, SIG_IGN);
    if (comes_by_pipe(options))
        signals_pass_over_first_interrupt();
    const int err = inject_run(&options->inject, &diag, &summary);
    if (!err)
        report_summary(&options->report, &summary, options_to_stdout(options) ? stderr : stdout);
    inject_summary_clear(&summary);
    return err ? EXIT_FAILURE : command_finish();
}

static int run(int argc, char **argv, struct options *options)
{
    switch (options_parse(argc, argv, options)) {
    case OPTIONS_HELP:
        options_help();
        return command_finish();
    case OPTIONS_VERSION:
        puts("jitinject " JITINJECT_VERSION);
        return command_finish();
    case OPTIONS_MISUSE:
        return EXIT_USAGE;
    case OPTIONS_FAILED:
        return EXIT_FAILURE;
    case OPTIONS_INJECT:
        break;
    }
    allow_many_files();
    return inject(options);
}

int command_inject(int argc, char **argv)
{
    struct options options;
    const int status = run(argc, argv, &options);

    options_clear(&options);
    return status;
}
