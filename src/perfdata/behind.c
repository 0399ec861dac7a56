/* SPDX-License-Identifier: MIT */
#include "behind.h"

#include "source.h"

#include "jitinject/io.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* The reader has one buffer more that it fills, and one that it is about to. */
#define JOBS (SOURCE_BUFFERS - 2)
/* Either side is woken when there are so many jobs, or room for so many: once is enough for all. */
#define SOME (JOBS / 2)

struct job {
    int fd;
    const uint8_t *bytes;
    size_t size;
    uint64_t offset;
};

struct behind {
    bool running, refused; /* the thread; there is to be none */
    pthread_t thread;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    struct job jobs[JOBS]; /* a ring: job n is jobs[n % JOBS] */
    size_t given, done;    /* numbers of jobs */
    bool ended;
    int err;
    uint64_t cpu;
};

int behind_new(struct behind **out)
{
    struct behind *behind = calloc(1, sizeof(*behind));

    *out = behind;
    if (!behind)
        return -ENOMEM;
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->changed, NULL);
    return 0;
}

void behind_free(struct behind *behind)
{
    if (!behind)
        return;
    behind_finish(behind);
    pthread_cond_destroy(&behind->changed);
    pthread_mutex_destroy(&behind->lock);
    free(behind);
}

static size_t waiting_jobs(const struct behind *behind)
{
    return behind->given - behind->done;
}

/* With the lock held: waits until the other side has done something. It does not wait for us. */
static void wait_for_change(struct behind *behind)
{
    pthread_cond_broadcast(&behind->changed);
    pthread_cond_wait(&behind->changed, &behind->lock);
}

/* With the lock held. False: there are no more. */
static bool wait_for_job(struct behind *behind)
{
    while (waiting_jobs(behind) == 0 && !behind->ended)
        wait_for_change(behind);
    return waiting_jobs(behind) > 0;
}

/*
 * With the lock held: the next job and those waiting that go on where it ends, as parts of one
 * write. A file system takes larger pages for it, and at its ends alone small ones.
 */
static size_t gather(const struct behind *behind, struct iovec parts[JOBS])
{
    const struct job *first = &behind->jobs[behind->done % JOBS];
    uint64_t end = first->offset;
    size_t count = 0;

    for (; count < waiting_jobs(behind); count++) {
        const struct job *job = &behind->jobs[(behind->done + count) % JOBS];
        if (job->fd != first->fd || job->offset != end)
            break;
        parts[count] = (struct iovec){(void *)(uintptr_t)job->bytes, job->size};
        end += job->size;
    }
    return count;
}

static void *run(void *context)
{
    struct behind *behind = context;
    struct timespec cpu = {0};

    pthread_mutex_lock(&behind->lock);
    while (wait_for_job(behind)) {
        const struct job first = behind->jobs[behind->done % JOBS];
        struct iovec parts[JOBS];
        const size_t count = gather(behind, parts);
        pthread_mutex_unlock(&behind->lock);
        const int err = io_pwritev(first.fd, parts, count, first.offset);
        pthread_mutex_lock(&behind->lock);
        behind->err = behind->err ? behind->err : err;
        behind->done += count;
        if (waiting_jobs(behind) <= SOME)
            pthread_cond_broadcast(&behind->changed);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    behind->cpu = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    pthread_mutex_unlock(&behind->lock);
    return NULL;
}

static void start_thread(struct behind *behind)
{
    if (behind->running || behind->refused)
        return;
    behind->running = pthread_create(&behind->thread, NULL, run, behind) == 0;
    behind->refused = !behind->running;
}

int behind_write(struct behind *behind, int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    start_thread(behind);
    if (!behind->running)
        return io_pwrite(fd, bytes, size, offset);
    pthread_mutex_lock(&behind->lock);
    while (waiting_jobs(behind) == JOBS)
        wait_for_change(behind);
    const int err = behind->err;
    if (!err) {
        behind->jobs[behind->given++ % JOBS] = (struct job){fd, bytes, size, offset};
        if (waiting_jobs(behind) >= SOME)
            pthread_cond_broadcast(&behind->changed);
    }
    pthread_mutex_unlock(&behind->lock);
    return err;
}

static bool is_waiting(const struct behind *behind, const uint8_t *bytes, size_t size)
{
    for (size_t i = behind->done; i < behind->given; i++) {
        const struct job *job = &behind->jobs[i % JOBS];
        if (job->bytes < bytes + size && bytes < job->bytes + job->size)
            return true;
    }
    return false;
}

void behind_wait(struct behind *behind, const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&behind->lock);
    while (is_waiting(behind, bytes, size))
        wait_for_change(behind);
    pthread_mutex_unlock(&behind->lock);
}

int behind_wait_all(struct behind *behind)
{
    pthread_mutex_lock(&behind->lock);
    while (waiting_jobs(behind) > 0)
        wait_for_change(behind);
    const int err = behind->err;
    pthread_mutex_unlock(&behind->lock);
    return err;
}

int behind_finish(struct behind *behind)
{
    pthread_mutex_lock(&behind->lock);
    behind->ended = true;
    pthread_cond_broadcast(&behind->changed);
    pthread_mutex_unlock(&behind->lock);
    if (behind->running)
        pthread_join(behind->thread, NULL);
    behind->running = false;
    behind->refused = true;
    return behind->err;
}

uint64_t behind_cpu(const struct behind *behind)
{
    return behind->cpu;
}
