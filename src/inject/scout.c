/* SPDX-License-Identifier: MIT */
#include "scout.h"

#include "stopwatch.h"

#include "jitinject/array.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A thread for less costs more than it saves. */
#define WORTHWHILE (UINT64_C(16) << 20)
/* Bytes of records that are kept; where there are more, the scan reads them itself. */
#define KEPT_MAX ((size_t)4 << 20)

struct note {
    struct perfdata_record record; /* without its bytes */
    size_t at;                     /* where these are */
};

struct scout {
    struct perfdata *branch;
    pthread_t thread;
    bool running;
    _Atomic uint64_t offset;
    atomic_bool unwanted; /* nobody waits for what it finds */
    /* What follows is the thread's as long as it runs. */
    struct tally tally;
    struct inject_time time;
    struct note *notes;
    size_t count, capacity;
    uint8_t *bytes;
    size_t size, bytes_capacity;
    int err;
    /* And this is for those who ask later. */
    uint64_t first; /* what the numbers of records count from */
    size_t next;
};

/* What a scan looks at, beside samples. */
static bool is_kept(uint32_t type)
{
    return type == PERFDATA_MMAP || type == PERFDATA_MMAP2 || type == PERFDATA_COMM ||
           type == PERFDATA_FORK || type == PERFDATA_EXIT;
}

static int keep(struct scout *scout, const struct perfdata_record *record)
{
    if (!array_reserve(&scout->notes, &scout->capacity, scout->count + 1) ||
        !array_reserve(&scout->bytes, &scout->bytes_capacity, scout->size + record->size))
        return -ENOMEM;
    memcpy(scout->bytes + scout->size, record->bytes, record->size);
    scout->notes[scout->count++] = (struct note){.record = *record, .at = scout->size};
    scout->size += record->size;
    return 0;
}

/* False: this is as far as it goes. */
static bool take_next(struct scout *scout)
{
    struct perfdata_samples samples;
    struct perfdata_record record;

    if (perfdata_next_samples(scout->branch, &samples)) {
        scout->err = tally_samples(&scout->tally, &samples);
    } else {
        if (scout->size >= KEPT_MAX || !perfdata_next_plain(scout->branch, &record))
            return false;
        if (record.type == PERFDATA_SAMPLE)
            scout->err = tally_record(&scout->tally, scout->branch, &record);
        else if (is_kept(record.type))
            scout->err = keep(scout, &record);
    }
    return !scout->err && !atomic_load_explicit(&scout->unwanted, memory_order_relaxed);
}

static void *run(void *context)
{
    struct scout *scout = context;
    struct stopwatch watch;

    stopwatch_start(&watch);
    const uint64_t offset = perfdata_branch_begin(scout->branch);
    atomic_store(&scout->offset, offset);
    while (offset != UINT64_MAX && take_next(scout))
        ;
    stopwatch_stop(&watch, &scout->time);
    return NULL;
}

struct scout *scout_start(const struct perfdata *data, bool with_processes)
{
    struct scout *scout = perfdata_left(data) < 2 * WORTHWHILE ? NULL : calloc(1, sizeof(*scout));

    if (!scout)
        return NULL;
    atomic_init(&scout->offset, UINT64_MAX);
    scout->tally.with_processes = with_processes;
    scout->running = perfdata_branch(data, &scout->branch) == 0 &&
                     pthread_create(&scout->thread, NULL, run, scout) == 0;
    if (!scout->running) {
        scout_free(scout);
        return NULL;
    }
    return scout;
}

static void wait_for(struct scout *scout)
{
    if (scout->running)
        pthread_join(scout->thread, NULL);
    scout->running = false;
}

void scout_free(struct scout *scout)
{
    if (!scout)
        return;
    atomic_store(&scout->unwanted, true);
    wait_for(scout);
    perfdata_free(scout->branch);
    tally_clear(&scout->tally);
    free(scout->notes);
    free(scout->bytes);
    free(scout);
}

uint64_t scout_offset(const struct scout *scout)
{
    return atomic_load(&scout->offset);
}

int scout_join(struct scout *scout, struct perfdata *data, struct tally *tally,
               struct inject_time *time)
{
    wait_for(scout);
    time->cpu += scout->time.cpu;
    if (scout->err)
        return scout->err;
    scout->first = perfdata_branch_join(data, scout->branch);
    return tally_add(tally, &scout->tally);
}

bool scout_next(struct scout *scout, struct perfdata_record *record)
{
    if (scout->next == scout->count)
        return false;
    const struct note *note = &scout->notes[scout->next++];
    *record = note->record;
    record->number += scout->first;
    record->bytes = scout->bytes + note->at;
    return true;
}
