/* SPDX-License-Identifier: MIT */
#include "unlogged.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Processes to be called by their pids, those with the most samples. */
#define LISTED_MAX 8

struct list {
    const struct inject_process *rows[LISTED_MAX]; /* most samples first */
    size_t count;
    uint64_t others;
};

/* Pids of which a dump was named, by the recording or the user: what is wrong with it has been
 * said. */
static int collect_named(const struct recording *recording, struct rangemap *named)
{
    const struct inject_options *options = recording->options;
    int err = 0;

    for (size_t i = 0; i < recording->marker_count && !err; i++)
        err = rangemap_set(named, recording->markers[i].pid,
                           recording->markers[i].pid + UINT64_C(1), 0, 0);
    for (size_t i = 0; i < options->dump_count && !err; i++)
        err = rangemap_set(named, options->dumps[i].pid, options->dumps[i].pid + UINT64_C(1), 0, 0);
    return err;
}

static void insert(struct list *list, const struct inject_process *row)
{
    size_t at = list->count;

    while (at > 0 && list->rows[at - 1]->unlogged_samples < row->unlogged_samples)
        at--;
    list->others += list->count == LISTED_MAX;
    list->count += list->count < LISTED_MAX;
    if (at == LISTED_MAX)
        return;
    for (size_t i = list->count - 1; i > at; i--)
        list->rows[i] = list->rows[i - 1];
    list->rows[at] = row;
}

static int collect(const struct recording *recording, struct list *list)
{
    const struct inject_summary *summary = recording->summary;
    struct rangemap named = {0};
    int err = collect_named(recording, &named);

    for (size_t i = 0; i < summary->process_count && !err; i++) {
        const struct inject_process *row = &summary->processes[i];
        if (row->unlogged_samples > 0 &&
            !rangemap_overlaps(&named, row->pid, row->pid + UINT64_C(1)))
            insert(list, row);
    }
    rangemap_clear(&named);
    return err;
}

/* "processes 100 (7 samples), 200 (1) and 3 others" */
static void describe(const struct list *list, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "process%s ", list->count > 1 ? "es" : "");

    for (size_t i = 0; i < list->count && used < size; i++) {
        const char *before = i == 0                                      ? ""
                             : i + 1 == list->count && list->others == 0 ? " and "
                                                                         : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32 " (%" PRIu64 "%s)", before,
                                 list->rows[i]->pid, list->rows[i]->unlogged_samples,
                                 i > 0                                  ? ""
                                 : list->rows[i]->unlogged_samples == 1 ? " sample"
                                                                        : " samples");
    }
    if (list->others > 0 && used < size)
        snprintf(text + used, size - used, " and %" PRIu64 " others", list->others);
}

int unlogged_report(const struct recording *recording)
{
    const struct inject_options *options = recording->options;
    const char *path = perfdata_path(recording->data);
    struct list list = {.count = 0};
    char processes[512];

    if (collect(recording, &list) < 0)
        return -ENOMEM;
    describe(&list, processes, sizeof(processes));
    const bool has_names =
        recording->marker_count > 0 || options->dump_count > 0 || options->perf_map;
    if (!has_names && recording->is_injected)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "the code of its dumps was injected into it already: the output is a copy");
    else if (!has_names)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "no process in it mapped a jit-*.dump (with PROT_EXEC, by which perf sees it), "
                    "so there is nothing to inject and the output is a copy: was the runtime's "
                    "jitdump option on while perf recorded? "
                    "Where perf came later, say which dump is whose by --dump PID=FILE%s%s",
                    list.count ? "; code in memory without a file ran in " : "",
                    list.count ? processes : "");
    else if (list.count > 0)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "code in memory without a file ran in %s, of which %s: where there is "
                    "a dump, name it by --dump PID=FILE",
                    processes,
                    options->perf_map ? "neither a dump nor a perf map tells" : "no dump tells");
    return 0;
}
