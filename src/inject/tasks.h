/* SPDX-License-Identifier: MIT */
/*
 * When processes of a recording began, became another program, and ended. A pid may stand for
 * several of them, one after the other.
 */
#ifndef INJECT_TASKS_H
#define INJECT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_kind { TASK_FORK, TASK_EXEC, TASK_EXIT };

struct task {
    uint64_t time; /* ns, 0: before everything */
    uint32_t pid;
    uint32_t parent; /* of a fork */
    enum task_kind kind;
};

/* All zero is an empty list. */
struct tasks {
    struct task *list;
    size_t count, capacity;
};

/* In any order. 0 or -ENOMEM. */
int tasks_add(struct tasks *tasks, const struct task *task);
/* After the last one was added, and before anything is asked. */
void tasks_sort(struct tasks *tasks);
void tasks_clear(struct tasks *tasks);

/* What one program did in one process. */
struct task_life {
    uint64_t begin; /* of its fork or exec; 0: before the recording */
    uint64_t end;   /* of the next fork, exec or exit of that pid; UINT64_MAX: none */
};

/* The end of the life of a pid that holds `time`. */
uint64_t tasks_life_end(const struct tasks *tasks, uint32_t pid, uint64_t time);
/* All its lives as one; the end is not known. */
struct task_life tasks_all_lives(const struct tasks *tasks, uint32_t pid);

/* Whether `pid` was forked, perhaps through others, from `ancestor`. */
bool tasks_descends(const struct tasks *tasks, uint32_t pid, uint32_t ancestor);
/* The one process that was forked from `parent`; 0: none, or several. Looks at all tasks. */
uint32_t tasks_only_child(const struct tasks *tasks, uint32_t parent);
/* Whether the last that is known of a pid is its exit. */
bool tasks_ended(const struct tasks *tasks, uint32_t pid);

#endif /* INJECT_TASKS_H */
