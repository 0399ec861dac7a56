/* SPDX-License-Identifier: MIT */
/* Makes a recording to measure with: perf.data and the jitdump files that it names. */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "dump.h"
#include "profile.h"
#include "workload.h"

enum {
    MAX_FUNCTIONS = 4000000,
    MAX_SAMPLES = 100000000,
    MAX_LINES = 100000,
    MAX_PROCESSES = 256, /* each has its own 64 GiB of addresses */
    DEFAULT_FUNCTIONS = 175000,
    DEFAULT_SAMPLES = 1000000,
};

static const char usage[] =
    "usage: bench-generate --out DIR [OPTION...]\n"
    "Writes DIR/perf.data and DIR/jit-PID.dump: a made-up recording of JIT code.\n"
    "  --functions N   loaded functions (175000)\n"
    "  --samples S     samples (40 for each 7 functions)\n"
    "  --processes P   processes that the functions and samples are spread over (1)\n"
    "  --reuse K       load a process' functions at K addresses, again and again\n"
    "  --remaps M      map memory of a function again M times, as mprotect() makes perf see it\n"
    "  --lines L       a DEBUG_INFO record of L rows with each function\n"
    "  --unwind        an UNWINDING_INFO record with each function\n"
    "  --seed X        another seed, another recording (1)\n";

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value < least || value > most)
        errx(2, "--%s: not a number from %ju to %ju: %s", option, (uintmax_t)least, (uintmax_t)most,
             text);
    return value;
}

static char *make_directory(const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        err(1, "%s", path);
    char *absolute = realpath(path, NULL);
    if (!absolute)
        err(1, "%s", path);
    return absolute;
}

static struct options parse(int argc, char **argv)
{
    enum { OUT, FUNCTIONS, SAMPLES, PROCESSES, REUSE, REMAPS, LINES, UNWIND, SEED, HELP };
    static const struct option names[] = {
        {"out", required_argument, NULL, OUT},
        {"functions", required_argument, NULL, FUNCTIONS},
        {"samples", required_argument, NULL, SAMPLES},
        {"processes", required_argument, NULL, PROCESSES},
        {"reuse", required_argument, NULL, REUSE},
        {"remaps", required_argument, NULL, REMAPS},
        {"lines", required_argument, NULL, LINES},
        {"unwind", no_argument, NULL, UNWIND},
        {"seed", required_argument, NULL, SEED},
        {"help", no_argument, NULL, HELP},
        {0},
    };
    struct options options = {.functions = DEFAULT_FUNCTIONS, .processes = 1, .seed = 1};
    bool has_samples = false;
    int option, index;
    while ((option = getopt_long(argc, argv, "", names, &index)) != -1) {
        const char *name = option == '?' ? NULL : names[index].name;
        switch (option) {
        case OUT:
            free(options.out);
            options.out = make_directory(optarg);
            break;
        case FUNCTIONS:
            options.functions = (uint32_t)number(name, optarg, 1, MAX_FUNCTIONS);
            break;
        case SAMPLES:
            options.samples = (uint32_t)number(name, optarg, 1, MAX_SAMPLES);
            has_samples = true;
            break;
        case PROCESSES:
            options.processes = (uint32_t)number(name, optarg, 1, MAX_PROCESSES);
            break;
        case REUSE:
            options.reuse = (uint32_t)number(name, optarg, 1, MAX_FUNCTIONS);
            break;
        case REMAPS:
            options.remaps = (uint32_t)number(name, optarg, 1, MAX_FUNCTIONS);
            break;
        case LINES:
            options.lines = (uint32_t)number(name, optarg, 1, MAX_LINES);
            break;
        case UNWIND:
            options.unwind = true;
            break;
        case SEED:
            options.seed = number(name, optarg, 0, UINT64_MAX);
            break;
        case HELP:
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (optind < argc || !options.out) {
        fputs(usage, stderr);
        exit(2);
    }
    if (!has_samples)
        options.samples =
            (uint32_t)((uint64_t)options.functions * DEFAULT_SAMPLES / DEFAULT_FUNCTIONS);
    return options;
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct workload workload;
    workload_init(&workload, &options);
    for (uint32_t i = 0; i < options.processes; i++)
        dump_write(&workload, &workload.processes[i]);
    profile_write(&workload);
    workload_free(&workload);
    free(options.out);
    return 0;
}
