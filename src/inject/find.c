/* SPDX-License-Identifier: MIT */
#include "find.h"

#include "jitinject/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static uint64_t clock_now(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) < 0)
        return 0;
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* When a process began, in clock ticks since the machine did (proc(5), /proc/[pid]/stat). */
static bool start_ticks(uint32_t pid, uint64_t *ticks)
{
    char path[32], line[1024];
    unsigned long long start;

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
    fclose(file);
    /* The name of the program, in parentheses, may hold blanks and parentheses. */
    const char *fields = strrchr(line, ')');
    if (!fields || sscanf(fields + 1,
                          " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                          "%*s %*s %llu",
                          &start) != 1)
        return false;
    *ticks = start;
    return true;
}

bool find_lives(uint32_t pid, uint64_t until)
{
    const long rate = sysconf(_SC_CLK_TCK);
    const uint64_t boot = clock_now(CLOCK_BOOTTIME), monotonic = clock_now(CLOCK_MONOTONIC);
    const uint64_t asleep = boot > monotonic ? boot - monotonic : 0;
    uint64_t ticks;

    if (rate <= 0 || !start_ticks(pid, &ticks))
        return false;
    const uint64_t start = ticks * (SECOND / (uint64_t)rate);
    return until == 0 || start <= asleep || start - asleep <= until;
}

/* Writes the path of a candidate; false if there is none of that number in this place. */
static bool write_path(struct find *find, unsigned number)
{
    static const char *const suffixes[] = {"", ".gz"};
    const struct inject_options *options = find->options;
    const char *suffix = suffixes[number % 2];
    const char *base = strrchr(find->wanted, '/');
    const char *input_end = strrchr(options->input, '/');
    const bool absolute = find->wanted[0] == '/';
    const unsigned place = number / 2;
    int size = -1;

    base = base ? base + 1 : find->wanted;
    find->packed = number % 2;
    find->place = place < FIND_GIVEN ? (enum find_place)place : FIND_GIVEN;
    if (find->place == FIND_RECORDED) {
        size = snprintf(find->path, PATH_MAX, "%s%s", find->wanted, suffix);
    } else if (find->place == FIND_PROCESS) {
        if (!find->packed)
            find->lives = absolute && find_lives(find->pid, find->until);
        if (find->lives)
            size = snprintf(find->path, PATH_MAX, "/proc/%u/root%s%s", find->pid, find->wanted,
                            suffix);
    } else if (find->place == FIND_BESIDE) {
        size = snprintf(find->path, PATH_MAX, "%.*s%s%s",
                        input_end ? (int)(input_end + 1 - options->input) : 0, options->input, base,
                        suffix);
    } else {
        const char *directory = options->dump_dirs[(place - FIND_GIVEN) / 2];
        const bool below = (place - FIND_GIVEN) % 2 == 0;
        size = snprintf(find->path, PATH_MAX, "%s/%s%s", directory,
                        below ? find->wanted + strspn(find->wanted, "/") : base, suffix);
    }
    return size > 0 && size < PATH_MAX;
}

/* A link that leads nowhere is found, so that somebody hears of it. */
static bool is_there(struct find *find)
{
    struct stat target;

    if (lstat(find->path, &find->status) < 0)
        return false;
    if (S_ISLNK(find->status.st_mode) && stat(find->path, &target) == 0)
        find->status = target;
    return true;
}

static bool is_new(struct find *find)
{
    const struct find_seen file = {find->status.st_dev, find->status.st_ino};

    for (size_t i = 0; i < find->seen_count; i++)
        if (find->seen[i].device == file.device && find->seen[i].inode == file.inode)
            return false;
    if (array_reserve(&find->seen, &find->seen_capacity, find->seen_count + 1))
        find->seen[find->seen_count++] = file;
    return true;
}

void find_begin(struct find *find, const struct inject_options *options, const char *path,
                uint32_t pid, uint64_t until)
{
    *find =
        (struct find){.options = options, .wanted = path, .pid = pid, .until = until, .next = 0};
}

bool find_next(struct find *find)
{
    const size_t end = 2 * (FIND_GIVEN + 2 * find->options->dump_dir_count);

    while (find->next < end) {
        if (!write_path(find, find->next++))
            continue;
        if (is_there(find) && is_new(find))
            return true;
    }
    return false;
}

void find_end(struct find *find)
{
    free(find->seen);
    find->seen = NULL;
}
