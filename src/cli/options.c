/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "foreign.h"

#include "jitinject/array.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void options_help(void)
{
    fputs("Usage: jitinject [-i FILE] [-o FILE] [OPTION...]\n"
          "       jitinject map [-o FILE] DUMP\n"
          "\n"
          "Merges the jitdump files of a recording (`perf record -k mono`) into it, so that perf "
          "and\n"
          "other readers show code made by JIT compilers by name. Does the work of\n"
          "`perf inject --jit` with one shared object a process instead of one a function.\n"
          "`jitinject map` makes a perf map of a dump; `jitinject map --help` tells more.\n"
          "\n"
          "  -i, --input FILE    the recording, as perf record wrote it (default: -, the\n"
          "                      standard input)\n"
          "  -o, --output FILE   the recording to write (default: -, the standard output)\n"
          "      --so-dir DIR    where the shared objects go (default: the output's directory,\n"
          "                      of a stream the current one)\n"
          "      --dump PID=FILE the dump of process PID, whatever the recording names; may be\n"
          "                      given again\n"
          "      --dump-dir DIR  look for dumps in DIR, too, by path as in a container's root and\n"
          "                      by name; may be given again\n"
          "      --clock=auto|mono|ignore|OFFSET\n"
          "                      how times of dumps become those of a recording that was made\n"
          "                      without `-k mono` (default: auto)\n"
          "      --debug-bias=auto|N\n"
          "                      bytes that line tables are behind the code (default: auto, found\n"
          "                      out for each dump)\n"
          "      --compress-debug-sections[=zlib|none]\n"
          "                      write line tables compressed (default: none)\n"
          "      --perf-map      take names for what no dump names from /tmp/perf-PID.map, which\n"
          "                      is looked for as dumps are\n"
          "  -f, --force         read a recording that belongs to another user, and dumps that\n"
          "                      seem to be of another process\n"
          "  -j, --jit           accepted and ignored, for perf inject's sake\n"
          "  -q, --quiet         say only what is wrong\n"
          "  -v, --verbose       say more\n"
          "  -h, --help          this text\n"
          "  -V, --version       the version\n"
          "\n"
          "Exit status: 0 done, 1 an error, 2 wrong usage.\n",
          stdout);
}

static enum options_action misuse(void)
{
    fputs("Try `jitinject --help`.\n", stderr);
    return OPTIONS_MISUSE;
}

static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool options_from_stdin(const struct options *options)
{
    return is_stream(options->inject.input);
}

bool options_to_stdout(const struct options *options)
{
    return is_stream(options->inject.output);
}

/* As in perf inject, what is not given is a standard stream; a terminal is never meant. */
static enum options_action check(struct options *options, const char *positional)
{
    struct inject_options *inject = &options->inject;

    if (!inject->input)
        inject->input = "-";
    /* The file of that name may be replaced, and /dev with it. */
    if (!inject->output || strcmp(inject->output, "/dev/stdout") == 0)
        inject->output = "-";
    if (positional)
        fprintf(stderr, "jitinject: unexpected argument %s: files are given by -i and -o\n",
                positional);
    else if (is_stream(inject->input) && isatty(STDIN_FILENO))
        fputs("jitinject: standard input is a terminal: give -i FILE\n", stderr);
    else if (is_stream(inject->output) && isatty(STDOUT_FILENO))
        fputs("jitinject: standard output is a terminal: give -o FILE\n", stderr);
    else
        return OPTIONS_INJECT;
    return misuse();
}

/* What follows takes the value of an option: OPTIONS_INJECT, or what else is to be done. */

/* "auto" or a number of bytes, as in C. */
static enum options_action take_debug_bias(const char *value, struct inject_options *options)
{
    char *end = NULL;

    options->has_debug_bias = strcmp(value, "auto") != 0;
    if (!options->has_debug_bias)
        return OPTIONS_INJECT;
    errno = 0;
    options->debug_bias = strtoull(value, &end, 0);
    if (*value >= '0' && *value <= '9' && !*end && !errno && options->debug_bias <= INT32_MAX)
        return OPTIONS_INJECT;
    fprintf(stderr, "jitinject: --debug-bias takes auto or a number of bytes, not '%s'\n", value);
    return misuse();
}

/* "auto", "mono", "ignore", or ns with a sign or without, as in C. */
static enum options_action take_clock(const char *value, struct inject_options *options)
{
    const char *digits = value + (*value == '+' || *value == '-');
    char *end = NULL;

    options->clock_offset = 0;
    if (strcmp(value, "auto") == 0) {
        options->clock = INJECT_CLOCK_AUTO;
        return OPTIONS_INJECT;
    }
    if (strcmp(value, "ignore") == 0) {
        options->clock = INJECT_CLOCK_IGNORE;
        return OPTIONS_INJECT;
    }
    options->clock = INJECT_CLOCK_OFFSET;
    if (strcmp(value, "mono") == 0)
        return OPTIONS_INJECT;
    errno = 0;
    options->clock_offset = strtoll(value, &end, 0);
    if (*digits >= '0' && *digits <= '9' && !*end && !errno)
        return OPTIONS_INJECT;
    fprintf(stderr,
            "jitinject: --clock takes auto, mono, ignore or a number of nanoseconds, not "
            "'%s'\n",
            value);
    return misuse();
}

/* As linkers have it. */
static enum options_action take_compression(const char *value, struct inject_options *options)
{
    options->compress_debug = !value || strcmp(value, "zlib") == 0;
    if (options->compress_debug || strcmp(value, "none") == 0)
        return OPTIONS_INJECT;
    fprintf(stderr, "jitinject: --compress-debug-sections takes zlib or none, not '%s'\n", value);
    return misuse();
}

static enum options_action out_of_memory(void)
{
    fprintf(stderr, "jitinject: error: %s\n", strerror(ENOMEM));
    return OPTIONS_FAILED;
}

static enum options_action take_dump_dir(const char *value, struct options *options)
{
    struct inject_options *inject = &options->inject;

    if (!array_reserve(&inject->dump_dirs, &options->dump_dir_capacity, inject->dump_dir_count + 1))
        return out_of_memory();
    inject->dump_dirs[inject->dump_dir_count++] = value;
    return OPTIONS_INJECT;
}

/* PID=FILE */
static enum options_action take_dump(const char *value, struct options *options)
{
    struct inject_options *inject = &options->inject;
    char *end = NULL;

    errno = 0;
    const unsigned long long pid = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || errno || pid > UINT32_MAX || *end != '=' || !end[1]) {
        fprintf(stderr, "jitinject: --dump takes PID=FILE, not '%s'\n", value);
        return misuse();
    }
    if (!array_reserve(&inject->dumps, &options->dump_capacity, inject->dump_count + 1))
        return out_of_memory();
    inject->dumps[inject->dump_count++] =
        (struct inject_dump){.pid = (uint32_t)pid, .path = end + 1};
    return OPTIONS_INJECT;
}

/* What getopt_long() returns for options without a letter. */
enum { SO_DIR = 256, DUMP, DUMP_DIR, CLOCK, DEBUG_BIAS, COMPRESS_DEBUG, PERF_MAP };

static enum options_action take(int option, const char *value, struct options *options)
{
    struct inject_options *inject = &options->inject;

    switch (option) {
    case 'i':
        inject->input = value;
        break;
    case 'o':
        inject->output = value;
        break;
    case SO_DIR:
        inject->so_dir = value;
        break;
    case DUMP:
        return take_dump(value, options);
    case DUMP_DIR:
        return take_dump_dir(value, options);
    case CLOCK:
        return take_clock(value, inject);
    case DEBUG_BIAS:
        return take_debug_bias(value, inject);
    case COMPRESS_DEBUG:
        return take_compression(value, inject);
    case PERF_MAP:
        inject->perf_map = true;
        break;
    case 'f':
        inject->force = true;
        break;
    case 'q':
        options->report.quiet = true;
        break;
    case 'v':
        options->report.verbose++;
        break;
    case 'h':
        return OPTIONS_HELP;
    case 'V':
        return OPTIONS_VERSION;
    default: /* 'j' is what is done anyway */
        break;
    }
    return OPTIONS_INJECT;
}

static enum options_action refuse_unknown(const char *argument)
{
    const struct foreign_option *foreign = foreign_find(argument);

    if (foreign)
        fprintf(stderr,
                "jitinject: %s is an option of perf inject that %s; it has nothing to do with JIT "
                "code and is not here. Run `perf inject %s` on the input or output of jitinject.\n",
                foreign->name, foreign->purpose, foreign->name);
    else
        fprintf(stderr, "jitinject: unknown option %s\n", argument);
    return misuse();
}

/* What getopt_long() made nothing of; `argument` is the one that it was at. */
static enum options_action refuse(const char *argument)
{
    const bool is_long = strncmp(argument, "--", 2) == 0;
    const char typed[] = {'-', (char)optopt, '\0'};

    if (optopt > 0 && is_long && strchr(argument, '=')) {
        fprintf(stderr, "jitinject: %.*s takes no value\n", (int)strcspn(argument, "="), argument);
        return misuse();
    }
    /* A letter is in optopt; a long option, known to getopt or not, is the argument itself. */
    return refuse_unknown(optopt > 0 && optopt < SO_DIR && argument[1] != '-' ? typed : argument);
}

enum options_action options_parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"input", required_argument, NULL, 'i'},
        {"output", required_argument, NULL, 'o'},
        {"so-dir", required_argument, NULL, SO_DIR},
        {"dump", required_argument, NULL, DUMP},
        {"dump-dir", required_argument, NULL, DUMP_DIR},
        {"clock", required_argument, NULL, CLOCK},
        {"debug-bias", required_argument, NULL, DEBUG_BIAS},
        {"compress-debug-sections", optional_argument, NULL, COMPRESS_DEBUG},
        {"perf-map", no_argument, NULL, PERF_MAP},
        {"force", no_argument, NULL, 'f'},
        {"jit", no_argument, NULL, 'j'},
        {"quiet", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    enum options_action action = OPTIONS_INJECT;

    *options = (struct options){0};
    opterr = 0;
    while (action == OPTIONS_INJECT) {
        const int at = optind;
        const int option = getopt_long(argc, argv, ":i:o:fjqvhV", known, NULL);
        if (option == -1)
            return check(options, optind < argc ? argv[optind] : NULL);
        if (option == ':') {
            fprintf(stderr, "jitinject: %s needs a value\n", argv[optind - 1]);
            return misuse();
        }
        action = option == '?' ? refuse(argv[at]) : take(option, optarg, options);
    }
    return action;
}

void options_clear(struct options *options)
{
    free(options->inject.dump_dirs);
    free(options->inject.dumps);
    *options = (struct options){0};
}
