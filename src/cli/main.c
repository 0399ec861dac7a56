/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "jitinject/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"inject", command_inject},
    {"map", command_map},
};

int command_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    fprintf(stderr, "jitinject: error: standard output: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

/* `jitinject -i FILE -o FILE` is the inject command without its name. */
int main(int argc, char **argv)
{
    heap_prepare();
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && argc > 1; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return command_inject(argc, argv);
}
