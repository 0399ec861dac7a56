/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "signals.h"

#include "jitinject/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/*
 * A file that is opened must not get the number of a standard stream that is closed, or messages
 * would go into it. What has the number instead fails like a closed one.
 */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* `jitinject -i FILE -o FILE` is the inject command without its name. */
int main(int argc, char **argv)
{
    heap_prepare();
    keep_standard_streams();
    signals_prepare();
    /* A message is written whole, by one call, and not mixed with those of other programs. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    /* A file that may not grow further is an error with a message. */
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && argc > 1; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return command_inject(argc, argv);
}
