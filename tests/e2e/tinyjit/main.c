/* SPDX-License-Identifier: MIT */
/*
 * A JIT to be recorded: it makes machine code, runs it for a known time, logs it as a jitdump, and
 * does nothing else. The times are of the CPU, so the shares of the functions in a profile are
 * known before.
 */
#include "scenarios.h"

#include <stdio.h>
#include <string.h>

static int usage(void)
{
    fprintf(stderr, "usage: tinyjit SCENARIO [DIR_OF_DUMP|- [ARGUMENT]]\n");
    for (const struct scenario *scenario = scenarios; scenario->name; scenario++)
        fprintf(stderr, "  %-14s %s\n", scenario->name, scenario->does);
    return 2;
}

int main(int argc, char **argv)
{
    struct jit jit = {.dir = argc > 2 ? argv[2] : ".", .argument = argc > 3 ? argv[3] : NULL};
    const bool logs = strcmp(jit.dir, "-") != 0;

    if (argc < 2 || argc > 4)
        return usage();
    for (const struct scenario *scenario = scenarios; scenario->name; scenario++) {
        if (strcmp(scenario->name, argv[1]) == 0) {
            if (logs)
                dump_open(&jit.dump, jit.dir);
            scenario->run(&jit);
            if (logs)
                dump_close(&jit.dump);
            return 0;
        }
    }
    return usage();
}
