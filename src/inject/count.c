/* SPDX-License-Identifier: MIT */
#include "count.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* PERF_RECORD_MISC_USER of PERF_RECORD_MISC_CPUMODE_MASK */
#define CPUMODE_USER 2

/* Samples that are handed over together, and such batches. */
#define BATCH   1024
#define BATCHES 4

struct batch {
    struct place_query samples[BATCH];
    size_t count;
};

struct count {
    struct recording *recording;
    pthread_t thread;
    bool running;
    struct batch batches[BATCHES]; /* a ring */
    size_t filling;                /* number of the batch that is being filled, ever */

    pthread_mutex_t lock;   /* for what follows, and the rows */
    pthread_cond_t changed; /* of full */
    size_t full;            /* batches before this one are full ... */
    size_t done;            /* ... and before this one counted */
    bool ended;
    int err;
    struct rangemap rows; /* by pid; value: number of the row, until they are sorted */
    size_t last_row;      /* samples of one process come one after another */
};

static int compare_rows(const void *left, const void *right)
{
    const struct inject_process *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

int count_new(struct recording *recording, struct count **out)
{
    const struct inject_summary *summary = recording->summary;
    struct count *count = calloc(1, sizeof(*count));
    int err = count ? 0 : -ENOMEM;

    for (size_t i = 0; i < summary->process_count && !err; i++)
        err = rangemap_set(&count->rows, summary->processes[i].pid,
                           summary->processes[i].pid + UINT64_C(1), (uint32_t)i, 0);
    *out = err ? NULL : count;
    if (err) {
        if (count)
            rangemap_clear(&count->rows);
        free(count);
        return err;
    }
    count->recording = recording;
    pthread_mutex_init(&count->lock, NULL);
    pthread_cond_init(&count->changed, NULL);
    return 0;
}

static struct inject_process *make_row(struct count *count, uint32_t pid)
{
    struct inject_summary *summary = count->recording->summary;

    if (!array_reserve(&summary->processes, &summary->process_capacity,
                       summary->process_count + 1) ||
        rangemap_set(&count->rows, pid, pid + UINT64_C(1), (uint32_t)summary->process_count, 0) < 0)
        return NULL;
    count->last_row = summary->process_count++;
    summary->processes[count->last_row] = (struct inject_process){.pid = pid};
    return &summary->processes[count->last_row];
}

/* The row of a process in the summary, made where it has none. */
static struct inject_process *row_of(struct count *count, uint32_t pid)
{
    const struct inject_summary *summary = count->recording->summary;

    if (count->last_row < summary->process_count && summary->processes[count->last_row].pid == pid)
        return &summary->processes[count->last_row];
    const struct range *range = rangemap_get(&count->rows, rangemap_find(&count->rows, pid));
    if (!range || range->start > pid)
        return make_row(count, pid);
    count->last_row = range->value;
    return &summary->processes[count->last_row];
}

static void count_batch(struct count *count, struct batch *batch)
{
    place_lookup(count->recording->place, batch->samples, batch->count);
    pthread_mutex_lock(&count->lock);
    for (size_t i = 0; i < batch->count && !count->err; i++) {
        const struct place_query *sample = &batch->samples[i];
        if (sample->found == PLACE_ELSEWHERE)
            continue;
        struct inject_process *row = row_of(count, sample->pid);
        if (!row) {
            count->err = -ENOMEM;
            continue;
        }
        row->jit_samples += sample->found != PLACE_UNLOGGED;
        row->named_samples += sample->found == PLACE_NAMED;
        row->unlogged_samples += sample->found == PLACE_UNLOGGED;
    }
    pthread_mutex_unlock(&count->lock);
    batch->count = 0;
}

static void *run(void *context)
{
    struct count *count = context;

    pthread_mutex_lock(&count->lock);
    for (;;) {
        while (count->done == count->full && !count->ended)
            pthread_cond_wait(&count->changed, &count->lock);
        if (count->done == count->full)
            break;
        struct batch *batch = &count->batches[count->done % BATCHES];
        pthread_mutex_unlock(&count->lock);
        count_batch(count, batch);
        pthread_mutex_lock(&count->lock);
        count->done++;
    }
    pthread_mutex_unlock(&count->lock);
    return NULL;
}

/* Hands a full batch over. False: the next one is not free yet. */
static bool hand_over(struct count *count)
{
    if (!count->running && count->filling == 0)
        count->running = pthread_create(&count->thread, NULL, run, count) == 0;
    if (!count->running)
        return false;
    pthread_mutex_lock(&count->lock);
    const bool is_free = count->filling + 1 < count->done + BATCHES;
    if (is_free) {
        count->full = ++count->filling;
        pthread_cond_signal(&count->changed);
    }
    pthread_mutex_unlock(&count->lock);
    return is_free;
}

void count_sample(struct count *count, const struct perfdata_sample *sample)
{
    struct batch *batch = &count->batches[count->filling % BATCHES];

    if (sample->cpumode != CPUMODE_USER)
        return;
    batch->samples[batch->count++] =
        (struct place_query){.addr = sample->ip, .time = sample->time, .pid = sample->pid};
    /* Where the thread cannot keep up the caller counts, too. */
    if (batch->count == BATCH && !hand_over(count))
        count_batch(count, batch);
}

int count_finish(struct count *count)
{
    const struct inject_summary *summary = count->recording->summary;

    count_batch(count, &count->batches[count->filling % BATCHES]);
    pthread_mutex_lock(&count->lock);
    count->ended = true;
    pthread_cond_signal(&count->changed);
    pthread_mutex_unlock(&count->lock);
    if (count->running)
        pthread_join(count->thread, NULL);
    count->running = false;
    if (summary->process_count > 0)
        qsort(summary->processes, summary->process_count, sizeof(*summary->processes),
              compare_rows);
    return count->err;
}

void count_free(struct count *count)
{
    if (!count)
        return;
    count_finish(count);
    rangemap_clear(&count->rows);
    pthread_cond_destroy(&count->changed);
    pthread_mutex_destroy(&count->lock);
    free(count);
}
