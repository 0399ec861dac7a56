/* SPDX-License-Identifier: MIT */
#include "map_options.h"

#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(void)
{
    fputs("Usage: jitinject map [OPTION...] DUMP\n"
          "\n"
          "Writes a perf map (START SIZE NAME) of the functions in a jitdump, for tools that read\n"
          "/tmp/perf-PID.map and no dumps. A map knows no time: where several functions had the\n"
          "same addresses it has the last one.\n"
          "\n"
          "  -o, --output FILE   the map to write (default: standard output)\n"
          "      --pid PID       the process, for a dump in which several have written (default:\n"
          "                      the one that the dump says it is of)\n"
          "  -v, --verbose       say more\n"
          "  -h, --help          this text\n"
          "\n"
          "Exit status: 0 done, 1 an error, 2 wrong usage.\n",
          stdout);
}

static int misuse(void)
{
    fputs("Try `jitinject map --help`.\n", stderr);
    return EXIT_USAGE;
}

static bool parse_pid(const char *value, struct map_options *options)
{
    char *end = NULL;

    errno = 0;
    const unsigned long long pid = strtoull(value, &end, 10);
    options->has_pid = *value >= '0' && *value <= '9' && !*end && !errno && pid <= UINT32_MAX;
    options->pid = (uint32_t)pid;
    if (!options->has_pid)
        fprintf(stderr, "jitinject: --pid takes a number, not '%s'\n", value);
    return options->has_pid;
}

static int check(struct map_options *options, int count, char *const *arguments)
{
    if (count == 0)
        fputs("jitinject: the jitdump to make a map of is missing\n", stderr);
    else if (count > 1)
        fprintf(stderr, "jitinject: unexpected argument %s: a map is made of one dump\n",
                arguments[1]);
    else
        options->dump = arguments[0];
    return options->dump ? EXIT_SUCCESS : misuse();
}

int map_options_parse(int argc, char **argv, struct map_options *options, bool *goes_on)
{
    enum { PID = 256 };
    static const struct option known[] = {
        {"output", required_argument, NULL, 'o'},
        {"pid", required_argument, NULL, PID},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };

    *goes_on = false;
    opterr = 0;
    for (;;) {
        switch (getopt_long(argc, argv, ":o:vh", known, NULL)) {
        case -1:
            *goes_on = true;
            return check(options, argc - optind, argv + optind);
        case 'o':
            options->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
            break;
        case PID:
            if (!parse_pid(optarg, options))
                return misuse();
            break;
        case 'v':
            options->report.verbose++;
            break;
        case 'h':
            help();
            return command_finish();
        case ':':
            fprintf(stderr, "jitinject: %s needs a value\n", argv[optind - 1]);
            return misuse();
        default:
            fprintf(stderr, "jitinject: `jitinject map` has no option %s\n", argv[optind - 1]);
            return misuse();
        }
    }
}
