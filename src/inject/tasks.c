/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* A chain of forks in a recording is short; a damaged one may be a circle. */
#define ANCESTORS_MAX 64
/* How many execs and exits may follow a fork. */
#define FORK_REACH 16

int tasks_add(struct tasks *tasks, const struct task *task)
{
    if (!array_reserve(&tasks->list, &tasks->capacity, tasks->count + 1))
        return -ENOMEM;
    tasks->list[tasks->count++] = *task;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct task *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return 0;
}

void tasks_sort(struct tasks *tasks)
{
    if (tasks->count > 0)
        qsort(tasks->list, tasks->count, sizeof(*tasks->list), compare);
}

void tasks_clear(struct tasks *tasks)
{
    free(tasks->list);
    *tasks = (struct tasks){0};
}

/* Number of tasks up to and including that pid and time. */
static size_t count_up_to(const struct tasks *tasks, uint32_t pid, uint64_t time)
{
    const struct task wanted = {.pid = pid, .time = time};
    size_t low = 0, high = tasks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&tasks->list[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t tasks_life_end(const struct tasks *tasks, uint32_t pid, uint64_t time)
{
    const size_t next = count_up_to(tasks, pid, time);

    return next < tasks->count && tasks->list[next].pid == pid ? tasks->list[next].time
                                                               : UINT64_MAX;
}

struct task_life tasks_all_lives(const struct tasks *tasks, uint32_t pid)
{
    const size_t first = pid ? count_up_to(tasks, pid - 1, UINT64_MAX) : 0;
    struct task_life life = {.begin = 0, .end = UINT64_MAX};

    if (first < tasks->count && tasks->list[first].pid == pid &&
        tasks->list[first].kind != TASK_EXIT)
        life.begin = tasks->list[first].time;
    return life;
}

bool tasks_ended(const struct tasks *tasks, uint32_t pid)
{
    const size_t end = count_up_to(tasks, pid, UINT64_MAX);

    return end > 0 && tasks->list[end - 1].pid == pid && tasks->list[end - 1].kind == TASK_EXIT;
}

/* The last fork that made a pid, or NULL: nothing but an exec and an exit follows it in general. */
static const struct task *fork_of(const struct tasks *tasks, uint32_t pid)
{
    const size_t end = count_up_to(tasks, pid, UINT64_MAX);

    for (size_t i = 0; i < FORK_REACH && i < end && tasks->list[end - 1 - i].pid == pid; i++)
        if (tasks->list[end - 1 - i].kind == TASK_FORK)
            return &tasks->list[end - 1 - i];
    return NULL;
}

bool tasks_descends(const struct tasks *tasks, uint32_t pid, uint32_t ancestor)
{
    for (unsigned depth = 0; depth < ANCESTORS_MAX; depth++) {
        const struct task *fork = fork_of(tasks, pid);
        if (!fork)
            return false;
        if (fork->parent == ancestor)
            return true;
        pid = fork->parent;
    }
    return false;
}

uint32_t tasks_only_child(const struct tasks *tasks, uint32_t parent)
{
    uint32_t child = 0;

    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->list[i].kind != TASK_FORK || tasks->list[i].parent != parent)
            continue;
        if (child && child != tasks->list[i].pid)
            return 0;
        child = tasks->list[i].pid;
    }
    return child;
}
