/* SPDX-License-Identifier: MIT */
#include "count.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

/* PERF_RECORD_MISC_USER of PERF_RECORD_MISC_CPUMODE_MASK */
#define CPUMODE_USER 2

/* Views that are kept, of memory of different processes and in different places. */
#define VIEW_BITS  8
#define VIEWS      (1u << VIEW_BITS)
#define PLACE_BITS 24 /* of an address; what lies nearer is seldom in different views */
/* Samples in one view that are counted together; their searches go side by side. */
#define BATCH 64

struct batch {
    struct place_view view;
    size_t filled;
    uint64_t addrs[BATCH];
};

struct count {
    struct recording *recording;
    struct rangemap rows; /* by pid; value: number of the row, until they are sorted */
    size_t last_row;      /* samples of one process come one after another */
    struct batch batches[VIEWS];
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

static int flush(struct count *count, struct batch *batch)
{
    const enum place_found found = batch->view.found;
    const size_t samples = batch->filled;

    batch->filled = 0;
    if (samples == 0 || found == PLACE_ELSEWHERE)
        return 0;
    struct inject_process *row = row_of(count, batch->view.pid);
    if (!row)
        return -ENOMEM;
    if (found == PLACE_UNLOGGED) {
        row->unlogged_samples += samples;
        return 0;
    }
    row->jit_samples += samples;
    row->named_samples += place_view_count(&batch->view, batch->addrs, samples);
    return 0;
}

/* Where a view of that memory is kept. */
static struct batch *batch_of(struct count *count, const struct perfdata_sample *sample)
{
    const uint32_t mixed = (sample->pid ^ (uint32_t)(sample->ip >> PLACE_BITS)) * 0x9e3779b1u;

    return &count->batches[mixed >> (32 - VIEW_BITS)];
}

static int add(struct count *count, const struct perfdata_sample *sample)
{
    struct batch *batch = batch_of(count, sample);
    int err = 0;

    if (!place_view_covers(&batch->view, sample->pid, sample->ip, sample->time)) {
        err = flush(count, batch);
        if (!err)
            err = place_look(count->recording->place, sample->pid, sample->ip, sample->time,
                             &batch->view);
    }
    batch->addrs[batch->filled++] = sample->ip;
    return !err && batch->filled == BATCH ? flush(count, batch) : err;
}

int count_samples(struct count *count, const struct perfdata_sample *samples, size_t size)
{
    int err = 0;

    for (size_t i = 0; i < size && !err; i++)
        if (samples[i].cpumode == CPUMODE_USER)
            err = add(count, &samples[i]);
    return err;
}

int count_finish(struct count *count)
{
    const struct inject_summary *summary = count->recording->summary;
    int err = 0;

    for (size_t i = 0; i < VIEWS && !err; i++)
        err = flush(count, &count->batches[i]);
    if (summary->process_count > 0)
        qsort(summary->processes, summary->process_count, sizeof(*summary->processes),
              compare_rows);
    return err;
}
