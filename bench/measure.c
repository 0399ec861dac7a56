/* SPDX-License-Identifier: MIT */
/*
 * bench-measure RESULT COMMAND [ARG...]: runs the command and writes what it took to RESULT:
 * exit status, wall, user and system seconds, peak memory in KiB.
 *
 * This is a program of its own because ru_maxrss of a child starts at the memory of the process
 * that forked it: a Python interpreter would hide a command smaller than itself.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: bench-measure RESULT COMMAND [ARG...]");
    FILE *result = fopen(argv[1], "we");
    if (!result)
        err(1, "%s", argv[1]);

    double start = now();
    pid_t child = fork();
    if (child < 0)
        err(1, "fork");
    if (child == 0) {
        execvp(argv[2], argv + 2);
        warn("%s", argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0)
        err(1, "wait4");
    double wall = now() - start;

    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(result, "%d %.6f %.6f %.6f %ld\n", code, wall, seconds(usage.ru_utime),
            seconds(usage.ru_stime), usage.ru_maxrss);
    if (fclose(result))
        err(1, "%s", argv[1]);
    return 0;
}
