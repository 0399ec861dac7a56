/* SPDX-License-Identifier: MIT */
/*
 * bench-measure RESULT TOUCH COMMAND [ARG...]: runs the command and writes what it took to RESULT:
 * exit status, wall, user and system seconds, peak memory in KiB.
 *
 * TOUCH bytes of memory are touched and given back before. A virtual machine may have lent what it
 * did not need to others, and gets it back page by page: what a command takes would depend on what
 * ran before it, and be ten times as much.
 *
 * This is a program of its own because ru_maxrss of a child starts at the memory of the process
 * that forked it: a Python interpreter would hide a command smaller than itself.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

/* In a process of its own, so that it is no part of this one's memory. */
static void touch(size_t size)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        err(1, "fork");
    if (child == 0) {
        char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED)
            err(1, "%zu bytes of memory", size);
        madvise(bytes, size, MADV_HUGEPAGE);
        for (size_t at = 0; at < size; at += 4096)
            bytes[at] = 1;
        _exit(0);
    }
    if (waitpid(child, &status, 0) < 0 || status != 0)
        errx(1, "cannot touch %zu bytes of memory", size);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        errx(2, "usage: bench-measure RESULT TOUCH COMMAND [ARG...]");
    FILE *result = fopen(argv[1], "we");
    if (!result)
        err(1, "%s", argv[1]);
    size_t touched = strtoull(argv[2], NULL, 10);
    if (touched)
        touch(touched);

    double start = now();
    pid_t child = fork();
    if (child < 0)
        err(1, "fork");
    if (child == 0) {
        execvp(argv[3], argv + 3);
        warn("%s", argv[3]);
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
