/* SPDX-License-Identifier: MIT */
#include "count.h"

#include "jitinject/array.h"
#include "jitinject/rangemap.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Views that are kept, of memory of different processes and in different places: some for each
 * key. Small ones are of code that was replaced, and very many of them lie side by side.
 */
#define SETS             256u
#define WAYS             4
#define PLACE_BITS       24 /* of an address; what lies nearer is seldom in different views */
#define SMALL_VIEWS      2048u
#define SMALL_PLACE_BITS 10
#define SMALL_MAX        (UINT64_C(1) << 16) /* bytes */
/* Samples that are asked for together: more reads than a processor can have under way. */
#define QUERIES 256
/* Bytes of a grid that stays in the innermost cache: it is looked at at once. */
#define GRID_AT_HAND (16u << 10)

struct counted {
    struct place_view view;
    uint64_t samples; /* in it */
    uint64_t named;   /* of these, where it has a grid */
};

/* Whether the address, of a view with a grid, has a name. */
struct query {
    struct counted *counted;
    uint64_t addr;
};

struct set {
    struct counted ways[WAYS];
    unsigned oldest;
};

struct count {
    struct place *place;
    struct inject_summary *summary;
    struct rangemap rows; /* by pid; value: number of the row, until they are sorted */
    size_t last_row;      /* samples of one process come one after another */
    struct set sets[SETS];
    struct counted small[SMALL_VIEWS];
    struct query queries[QUERIES]; /* not answered yet */
    size_t query_count;
};

static int compare_rows(const void *left, const void *right)
{
    const struct inject_process *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

int count_new(struct place *place, struct inject_summary *summary, struct count **out)
{
    struct count *count = calloc(1, sizeof(*count));
    int err = count ? 0 : -ENOMEM;

    for (size_t i = 0; i < summary->process_count && !err; i++)
        err = rangemap_set(&count->rows, summary->processes[i].pid,
                           summary->processes[i].pid + UINT64_C(1), (uint32_t)i, 0);
    if (err) {
        count_free(count);
        count = NULL;
    } else {
        count->place = place;
        count->summary = summary;
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
    struct inject_summary *summary = count->summary;

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
    const struct inject_summary *summary = count->summary;

    if (count->last_row < summary->process_count && summary->processes[count->last_row].pid == pid)
        return &summary->processes[count->last_row];
    const struct range *range = rangemap_get(&count->rows, rangemap_find(&count->rows, pid));
    if (!range || range->start > pid)
        return make_row(count, pid);
    count->last_row = range->value;
    return &summary->processes[count->last_row];
}

/* Nearly all are answered by a bit, which is in the cache by now, the others by a search. */
static void answer(struct count *count)
{
    struct query *const queries = count->queries;
    struct place_query searches[QUERIES];
    size_t open = 0;

    for (size_t i = 0; i < count->query_count; i++) {
        const struct query query = queries[i];
        /* Nobody could foretell a branch for it. */
        const bool is_full = place_grid_is_full(query.counted->view.grid, query.addr);
        query.counted->named += is_full;
        queries[open] = query;
        open += !is_full;
    }
    for (size_t i = 0; i < open; i++)
        searches[i] =
            (struct place_query){.view = &queries[i].counted->view, .addr = queries[i].addr};
    place_search(searches, open);
    for (size_t i = 0; i < open; i++)
        queries[i].counted->named += searches[i].named;
    count->query_count = 0;
}

/* Adds what was counted in a view to the row of its process. */
static int flush(struct count *count, const struct counted *counted)
{
    const enum place_found found = counted->view.found;

    if (counted->samples == 0 || found == PLACE_ELSEWHERE)
        return 0;
    struct inject_process *row = row_of(count, counted->view.pid);
    if (!row)
        return -ENOMEM;
    if (found == PLACE_UNLOGGED) {
        row->unlogged_samples += counted->samples;
        return 0;
    }
    row->jit_samples += counted->samples;
    if (counted->view.grid)
        row->named_samples += counted->named;
    else if (found == PLACE_NAMED)
        row->named_samples += counted->samples;
    return 0;
}

/* Where, of so many, views of that memory are kept. */
static size_t key_of(const struct perfdata_sample *sample, unsigned place_bits, uint32_t keys)
{
    const uint32_t mixed = (sample->pid ^ (uint32_t)(sample->ip >> place_bits)) * 0x9e3779b1u;

    return (uint64_t)mixed * keys >> 32;
}

static struct set *set_of(struct count *count, const struct perfdata_sample *sample)
{
    return &count->sets[key_of(sample, PLACE_BITS, SETS)];
}

static struct counted *small_of(struct count *count, const struct perfdata_sample *sample)
{
    return &count->small[key_of(sample, SMALL_PLACE_BITS, SMALL_VIEWS)];
}

static bool covers(const struct counted *counted, const struct perfdata_sample *sample)
{
    return place_view_covers(&counted->view, sample->pid, sample->ip, sample->time);
}

/* Looks for a view of the sample, which takes the place of another one. */
static int make_counted(struct count *count, const struct perfdata_sample *sample,
                        struct counted **out)
{
    struct place_view view;
    int err = place_look(count->place, sample->pid, sample->ip, sample->time, &view);

    if (err)
        return err;
    if (view.end - view.start <= SMALL_MAX) {
        *out = small_of(count, sample);
    } else {
        struct set *set = set_of(count, sample);
        *out = &set->ways[set->oldest];
        set->oldest = (set->oldest + 1) % WAYS;
    }
    if ((*out)->view.grid)
        answer(count);
    err = flush(count, *out);
    **out = (struct counted){.view = view};
    return err;
}

/* A view that covers the sample, kept or new. */
static int find_counted(struct count *count, const struct perfdata_sample *sample,
                        struct counted **out)
{
    struct set *set = set_of(count, sample);

    for (size_t i = 0; i < WAYS; i++) {
        *out = &set->ways[i];
        if (covers(*out, sample))
            return 0;
    }
    *out = small_of(count, sample);
    return covers(*out, sample) ? 0 : make_counted(count, sample, out);
}

/* Asks of samples in a view with a grid whether they have a name; there is room for so many. */
static void ask(struct count *count, struct counted *counted, const struct perfdata_sample *samples,
                size_t size)
{
    /* A copy, since the compiler cannot know that the queries do not lie in it. */
    const struct place_grid grid = *counted->view.grid;
    const bool at_hand = place_grid_size(&grid) <= GRID_AT_HAND;
    struct query *query = count->queries + count->query_count;

    for (size_t i = 0; i < size && at_hand; i++) {
        *query = (struct query){counted, samples[i].ip};
        query += !place_grid_is_full(&grid, samples[i].ip);
    }
    for (size_t i = 0; i < size && !at_hand; i++) {
        place_grid_fetch(&grid, samples[i].ip);
        *query++ = (struct query){counted, samples[i].ip};
    }
    const size_t asked = (size_t)(query - count->queries) - count->query_count;
    counted->named += size - asked;
    count->query_count += asked;
    if (count->query_count == QUERIES)
        answer(count);
}

/* Counts the first of the samples, and those that come next as far as the same view covers them:
 * how many there are. */
static size_t count_run(struct count *count, struct counted *counted,
                        const struct perfdata_sample *samples, size_t size)
{
    const struct place_view view = counted->view;
    const size_t room = QUERIES - count->query_count, most = size < room ? size : room;
    size_t length = 1;

    while (length < most && samples[length].cpumode == PERFDATA_CPUMODE_USER &&
           place_view_covers(&view, samples[length].pid, samples[length].ip, samples[length].time))
        length++;
    counted->samples += length;
    if (view.grid)
        ask(count, counted, samples, length);
    return length;
}

int count_samples(struct count *count, const struct perfdata_sample *samples, size_t size)
{
    int err = 0;

    for (size_t i = 0, length; i < size && !err; i += length) {
        struct counted *counted;
        length = 1;
        if (samples[i].cpumode != PERFDATA_CPUMODE_USER)
            continue;
        err = find_counted(count, &samples[i], &counted);
        if (!err)
            length = count_run(count, counted, samples + i, size - i);
    }
    return err;
}

int count_finish(struct count *count)
{
    const struct inject_summary *summary = count->summary;
    int err = 0;

    answer(count);
    for (size_t i = 0; i < SETS && !err; i++)
        for (size_t k = 0; k < WAYS && !err; k++)
            err = flush(count, &count->sets[i].ways[k]);
    for (size_t i = 0; i < SMALL_VIEWS && !err; i++)
        err = flush(count, &count->small[i]);
    if (summary->process_count > 0)
        qsort(summary->processes, summary->process_count, sizeof(*summary->processes),
              compare_rows);
    return err;
}
