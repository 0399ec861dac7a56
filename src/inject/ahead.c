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
#include <sys/resource.h>

/* Dumps beyond these wait until they are asked for. */
#define TASKS_MAX 1024

struct task {
    char *path;             /* as in the recording */
    uint16_t source;        /* of the pieces: the number that the dump has most likely */
    bool taken, done;       /* by whoever does it */
    struct jitdump *dump;   /* the likeliest file of that name; NULL: none, closed or handed over */
    struct diag_list found; /* what was reported when it was opened */
    dev_t device;
    ino_t inode;
    uint64_t size; /* of the dump, 0: none was opened, or it is that of another task */
    struct jitdump_split *split; /* by which others can help, once the dump is being read */
    struct jitdump_index index;
    struct diag_list reports; /* of its records */
    bool good;                /* the index can be used */
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
    size_t next; /* all before it are taken */
    size_t done;
    size_t open, open_max; /* dumps that are kept open */
    bool ended;            /* no more come */
};

/* Perhaps nobody asks for them, so they are a part only of the files that may be open. */
static size_t most_open(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)(limit.rlim_cur / 4) : 0;
}

int ahead_new(const struct inject_options *options, struct ahead **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->options = options;
    (*out)->open_max = most_open();
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->changed, NULL);
    return 0;
}

/*
 * Opens the likeliest file of that name. Below the root of a process it is looked for only once it
 * is known that the process is the one that was recorded.
 */
static void open_likeliest(const struct ahead *ahead, struct task *task)
{
    const struct diag diag = diag_list_sink(&task->found);
    struct find find;

    find_begin(&find, ahead->options, task->path, 0, 0);
    while (!task->dump && find_next(&find)) {
        diag_list_clear(&task->found);
        if (find.place != FIND_PROCESS)
            jitdump_open(find.path, &diag, &task->dump);
    }
    find_end(&find);
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
static bool claim(struct ahead *ahead, struct task *task)
{
    pthread_mutex_lock(&ahead->lock);
    const bool is_new = !task_of(ahead, task->dump);
    if (is_new) {
        jitdump_identity(task->dump, &task->device, &task->inode);
        task->size = jitdump_size(task->dump);
    }
    pthread_mutex_unlock(&ahead->lock);
    return is_new;
}

static void build(struct ahead *ahead, struct task *task)
{
    const struct diag diag = diag_list_sink(&task->reports);
    struct jitdump_split *split = jitdump_split_new(task->dump);

    pthread_mutex_lock(&ahead->lock);
    task->split = split;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    const int err = jitdump_index_build_split(task->dump, split, task->source, &diag, &task->index);
    task->good = !err && !task->reports.lost;
}

/* A dump stays open for whoever asks for it, unless too many do. */
static void keep_open(struct ahead *ahead, struct task *task)
{
    pthread_mutex_lock(&ahead->lock);
    const bool has_room = ahead->open < ahead->open_max;
    ahead->open += has_room;
    pthread_mutex_unlock(&ahead->lock);
    if (has_room)
        return;
    jitdump_free(task->dump);
    task->dump = NULL;
}

static void do_task(struct ahead *ahead, struct task *task)
{
    open_likeliest(ahead, task);
    if (task->dump && claim(ahead, task))
        build(ahead, task);
    if (task->dump)
        keep_open(ahead, task);
    pthread_mutex_lock(&ahead->lock);
    task->done = true;
    ahead->done++;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* With a task that somebody else is at. */
static void help(struct ahead *ahead, const struct task *task)
{
    pthread_mutex_lock(&ahead->lock);
    while (task->taken && !task->done && !task->split)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    struct jitdump_split *split = task->split;
    pthread_mutex_unlock(&ahead->lock);
    if (split)
        jitdump_split_help(split);
}

/* Takes the first task that nobody has taken, which the caller has to do; NULL: there is none. */
static struct task *take(struct ahead *ahead)
{
    while (ahead->next < ahead->count && ahead->tasks[ahead->next]->taken)
        ahead->next++;
    if (ahead->next == ahead->count)
        return NULL;
    struct task *task = ahead->tasks[ahead->next++];
    task->taken = true;
    return task;
}

/* The next task, which may have to be waited for; NULL: no more come. */
static struct task *next_task(struct ahead *ahead)
{
    struct task *task;

    pthread_mutex_lock(&ahead->lock);
    while (!(task = take(ahead)) && !ahead->ended)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
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
    }
    for (size_t i = 0; i < ahead->count; i++)
        help(ahead, ahead->tasks[i]);
    return NULL;
}

static struct task *task_for(const struct ahead *ahead, const char *path)
{
    for (size_t i = 0; i < ahead->count; i++)
        if (strcmp(ahead->tasks[i]->path, path) == 0)
            return ahead->tasks[i];
    return NULL;
}

int ahead_want(struct ahead *ahead, const char *path)
{
    /* Only here are tasks added. */
    if (ahead->count == TASKS_MAX || task_for(ahead, path))
        return 0;
    struct task *task = calloc(1, sizeof(*task));
    if (!task || !(task->path = strdup(path))) {
        free(task);
        return -ENOMEM;
    }
    task->source = (uint16_t)ahead->count;
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

void ahead_end(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->ended = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* This task, if nobody has taken it, or another one. */
static struct task *take_rather(struct ahead *ahead, struct task *task)
{
    if (task->taken)
        return take(ahead);
    task->taken = true;
    return task;
}

/* Sees to it that a task is done. While somebody else is at it there are others to do. */
static void finish(struct ahead *ahead, struct task *task)
{
    struct task *mine;

    pthread_mutex_lock(&ahead->lock);
    while (!task->done && (mine = take_rather(ahead, task))) {
        pthread_mutex_unlock(&ahead->lock);
        do_task(ahead, mine);
        pthread_mutex_lock(&ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    help(ahead, task);
    pthread_mutex_lock(&ahead->lock);
    while (!task->done)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

int ahead_open(struct ahead *ahead, const char *wanted, const char *path, const struct diag *diag,
               struct jitdump **out)
{
    struct task *task = task_for(ahead, wanted);

    if (task)
        finish(ahead, task);
    if (!task || !task->dump || strcmp(jitdump_path(task->dump), path) != 0)
        return jitdump_open(path, diag, out);
    diag_list_replay(&task->found, diag);
    *out = task->dump;
    task->dump = NULL;
    pthread_mutex_lock(&ahead->lock);
    ahead->open--;
    pthread_mutex_unlock(&ahead->lock);
    return 0;
}

/* Says it of the dump by the name that it was asked for by. */
struct naming {
    const struct diag *next;
    const char *path;
};

static void report_named(void *context, const struct diag_report *report)
{
    const struct naming *naming = context;
    struct diag_report named = *report;

    named.path = naming->path;
    naming->next->report(naming->next->context, &named);
}

int ahead_index(struct ahead *ahead, struct jitdump *dump, const struct diag *diag,
                struct jitdump_index *index)
{
    struct naming naming = {diag, jitdump_path(dump)};
    const struct diag named = {.report = report_named, .context = &naming};

    pthread_mutex_lock(&ahead->lock);
    struct task *task = task_of(ahead, dump);
    pthread_mutex_unlock(&ahead->lock);
    if (task)
        finish(ahead, task);
    if (!task || !task->good)
        return jitdump_index_build(dump, 0, diag, index);
    diag_list_replay(&task->reports, &named); /* it may have been opened by another one */
    *index = task->index;
    task->index = (struct jitdump_index){0};
    task->good = false;
    return 0;
}

static void task_free(struct task *task)
{
    jitdump_split_free(task->split);
    jitdump_index_clear(&task->index);
    diag_list_clear(&task->reports);
    diag_list_clear(&task->found);
    jitdump_free(task->dump);
    free(task->path);
    free(task);
}

void ahead_finish(struct ahead *ahead, struct inject_time *time)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->next = ahead->count;
    pthread_mutex_unlock(&ahead->lock);
    ahead_end(ahead);
    if (ahead->running)
        pthread_join(ahead->thread, NULL);
    ahead->running = false;
    time->wall += ahead->time.wall;
    time->cpu += ahead->time.cpu;
    for (size_t i = 0; i < ahead->count; i++)
        task_free(ahead->tasks[i]);
    ahead->count = 0;
}

void ahead_free(struct ahead *ahead)
{
    struct inject_time time = {0};

    if (!ahead)
        return;
    ahead_finish(ahead, &time);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
