/* SPDX-License-Identifier: MIT */
#include "count.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* PERF_RECORD_MISC_USER of PERF_RECORD_MISC_CPUMODE_MASK */
#define CPUMODE_USER 2

/* Samples that are looked up together: as many as stay in the innermost cache. */
#define BATCH 512

struct count {
    struct recording *recording;
    struct rangemap rows; /* by pid; value: number of the row, until they are sorted */
    size_t last_row;      /* samples of one process come one after another */
    size_t filled;
    struct place_query samples[BATCH];
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
    if (err) {
        count_free(count);
        count = NULL;
    } else {
        count->recording = recording;
    }
    *out = count;
    return err;
}

void count_free(struct count *count)
{
    if (!count)
        return;
    rangemap_clear(&count->rows);
    free(count);
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

static int flush(struct count *count)
{
    const int err = place_lookup(count->recording->place, count->samples, count->filled);

    for (size_t i = 0; i < count->filled && !err; i++) {
        const struct place_query *sample = &count->samples[i];
        if (sample->found == PLACE_ELSEWHERE)
            continue;
        struct inject_process *row = row_of(count, sample->pid);
        if (!row)
            return -ENOMEM;
        row->jit_samples += sample->found != PLACE_UNLOGGED;
        row->named_samples += sample->found == PLACE_NAMED;
        row->unlogged_samples += sample->found == PLACE_UNLOGGED;
    }
    count->filled = 0;
    return err;
}

int count_sample(struct count *count, const struct perfdata_sample *sample)
{
    if (sample->cpumode != CPUMODE_USER)
        return 0;
    count->samples[count->filled++] =
        (struct place_query){.addr = sample->ip, .time = sample->time, .pid = sample->pid};
    return count->filled == BATCH ? flush(count) : 0;
}

int count_finish(struct count *count)
{
    const struct inject_summary *summary = count->recording->summary;
    const int err = flush(count);

    if (summary->process_count > 0)
        qsort(summary->processes, summary->process_count, sizeof(*summary->processes),
              compare_rows);
    return err;
}
