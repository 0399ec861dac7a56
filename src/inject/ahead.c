/* SPDX-License-Identifier: MIT */
#include "ahead.h"

#include "find.h"
#include "stopwatch.h"

#include "jitinject/array.h"
#include "jitinject/diag_list.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Dumps beyond these wait until they are asked for. */
#define TASKS_MAX 1024

struct task {
    char *path; /* as in the recording */
    dev_t device;
    ino_t inode;
    uint64_t size;               /* of the dump, 0: none was opened */
    struct jitdump_split *split; /* by which others can help, once the dump is being read */
    struct jitdump_index index;
    struct diag_list reports;
    bool good; /* the index can be used */
};

struct ahead {
    const struct inject_options *options;
    pthread_t thread;
    bool running;
    struct inject_time time; /* of the thread */
    pthread_mutex_t lock;    /* for what follows */
    pthread_cond_t changed;
    struct task *tasks[TASKS_MAX];
    size_t count;
    size_t next; /* the first that nobody has taken */
    size_t done;
    bool ended; /* no more come */
};

int ahead_new(const struct inject_options *options, struct ahead **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->options = options;
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->changed, NULL);
    return 0;
}

/*
 * Opens the likeliest file of that name. Below the root of a process it is looked for only once it
 * is known that the process is the one that was recorded.
 */
static struct jitdump *open_likeliest(const struct ahead *ahead, const char *path)
{
    struct jitdump *dump = NULL;
    struct find find;

    find_begin(&find, ahead->options, path, 0, 0);
    while (!dump && find_next(&find))
        if (find.place != FIND_PROCESS)
            jitdump_open(find.path, NULL, &dump);
    find_end(&find);
    return dump;
}

static struct task *task_of(const struct ahead *ahead, const struct jitdump *dump)
{
    dev_t device;
    ino_t inode;

    jitdump_identity(dump, &device, &inode);
    for (size_t i = 0; i < ahead->count; i++) {
        struct task *task = ahead->tasks[i];
        if (task->size && task->size == jitdump_size(dump) && task->device == device &&
            task->inode == inode)
            return task;
    }
    return NULL;
}

/* Makes the dump that of the task, unless another one has it. */
static bool claim(struct ahead *ahead, struct task *task, const struct jitdump *dump)
{
    pthread_mutex_lock(&ahead->lock);
    const bool is_new = !task_of(ahead, dump);
    if (is_new) {
        jitdump_identity(dump, &task->device, &task->inode);
        task->size = jitdump_size(dump);
    }
    pthread_mutex_unlock(&ahead->lock);
    return is_new;
}

static void build(struct ahead *ahead, struct task *task, struct jitdump *dump)
{
    const struct diag diag = diag_list_sink(&task->reports);
    struct jitdump_split *split = jitdump_split_new(dump);

    pthread_mutex_lock(&ahead->lock);
    task->split = split;
    pthread_mutex_unlock(&ahead->lock);
    task->good =
        jitdump_index_build_split(dump, split, 0, &diag, &task->index) == 0 && !task->reports.lost;
}

static void do_task(struct ahead *ahead, struct task *task)
{
    struct jitdump *dump = open_likeliest(ahead, task->path);

    if (dump && claim(ahead, task, dump))
        build(ahead, task, dump);
    jitdump_free(dump);
}

/* With whatever others are still at, when no task is left. */
static void help(struct ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++) {
        pthread_mutex_lock(&ahead->lock);
        struct jitdump_split *split = ahead->tasks[i]->split;
        pthread_mutex_unlock(&ahead->lock);
        if (split)
            jitdump_split_help(split);
    }
}

/* The next task, which may have to be waited for; NULL: no more come. */
static struct task *next_task(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->next == ahead->count && !ahead->ended)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    struct task *task = ahead->next < ahead->count ? ahead->tasks[ahead->next++] : NULL;
    pthread_mutex_unlock(&ahead->lock);
    return task;
}

static void *run(void *context)
{
    struct ahead *ahead = context;
    struct task *task;

    while ((task = next_task(ahead))) {
        struct stopwatch watch;
        stopwatch_start(&watch);
        do_task(ahead, task);
        stopwatch_stop(&watch, &ahead->time);
        pthread_mutex_lock(&ahead->lock);
        ahead->done++;
        pthread_mutex_unlock(&ahead->lock);
    }
    help(ahead);
    return NULL;
}

static bool is_wanted(const struct ahead *ahead, const char *path)
{
    for (size_t i = 0; i < ahead->count; i++)
        if (strcmp(ahead->tasks[i]->path, path) == 0)
            return true;
    return false;
}

int ahead_want(struct ahead *ahead, const char *path)
{
    /* Only here are tasks added. */
    if (ahead->count == TASKS_MAX || is_wanted(ahead, path))
        return 0;
    struct task *task = calloc(1, sizeof(*task));
    if (!task || !(task->path = strdup(path))) {
        free(task);
        return -ENOMEM;
    }
    if (!ahead->running)
        ahead->running = pthread_create(&ahead->thread, NULL, run, ahead) == 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->tasks[ahead->count++] = task;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    return 0;
}

bool ahead_is_idle(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    const bool is_idle = ahead->done == ahead->count;
    pthread_mutex_unlock(&ahead->lock);
    return is_idle;
}

void ahead_finish(struct ahead *ahead, struct inject_time *time)
{
    struct task *task;

    pthread_mutex_lock(&ahead->lock);
    ahead->ended = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    while ((task = next_task(ahead)))
        do_task(ahead, task);
    help(ahead);
    if (ahead->running)
        pthread_join(ahead->thread, NULL);
    ahead->running = false;
    time->wall += ahead->time.wall;
    time->cpu += ahead->time.cpu;
}

int ahead_index(struct ahead *ahead, struct jitdump *dump, uint16_t source, const struct diag *diag,
                struct jitdump_index *index)
{
    struct task *task = task_of(ahead, dump);

    if (!task || !task->good)
        return jitdump_index_build(dump, source, diag, index);
    diag_list_replay(&task->reports, diag);
    *index = task->index;
    task->index = (struct jitdump_index){0};
    task->good = false;
    /* It was made for source 0. */
    for (size_t i = 0; i < index->count && source != 0; i++)
        jitdump_index_code(index, i)->source = source;
    return 0;
}

void ahead_free(struct ahead *ahead)
{
    struct inject_time time = {0};

    if (!ahead)
        return;
    ahead_finish(ahead, &time);
    for (size_t i = 0; i < ahead->count; i++) {
        struct task *task = ahead->tasks[i];
        jitdump_split_free(task->split);
        jitdump_index_clear(&task->index);
        diag_list_clear(&task->reports);
        free(task->path);
        free(task);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
