/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include "ahead.h"
#include "mapped.h"
#include "scout.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

struct scan {
    struct recording *recording;
    struct scout *scout; /* NULL: there is none */
    bool scouted;        /* there was one, or could not be */
};

/* The greatest time so far. */
static uint64_t latest(const struct recording *recording)
{
    return recording->tally.last_time > recording->end_time ? recording->tally.last_time
                                                            : recording->end_time;
}

/*
 * The time of a record; false: it has none. It counts from before everything then or, where readers
 * take records as they come, from those before it.
 */
static bool take_time(struct recording *recording, const struct perfdata_record *record,
                      uint64_t *time)
{
    if (!perfdata_time(recording->data, record, time)) {
        *time = perfdata_in_file_order(recording->data) ? latest(recording) : 0;
        return false;
    }
    if (*time > recording->end_time && perfdata_is_timed(recording->data))
        recording->end_time = *time;
    return true;
}

static int add_marker(struct recording *recording, const struct perfdata_mapping *mapping,
                      size_t path_size, uint64_t time, uint64_t record)
{
    if (!array_reserve(&recording->markers, &recording->marker_capacity,
                       recording->marker_count + 1))
        return -ENOMEM;
    char *path = strndup(mapping->filename, path_size);
    if (!path)
        return -ENOMEM;
    const int err = ahead_want(recording->ahead, path);
    if (err) {
        free(path);
        return err;
    }
    recording->markers[recording->marker_count++] =
        (struct marker){.path = path,
                        .pid = mapping->pid,
                        .time = time,
                        .record = record,
                        .addr = mapping->addr,
                        .len = mapping->len,
                        .device = makedev(mapping->major, mapping->minor),
                        .inode = mapping->inode,
                        .dump = NO_DUMP};
    return 0;
}

static int scan_mapping(struct recording *recording, const struct perfdata_record *record)
{
    struct perfdata_mapping mapping;
    uint64_t time;

    if (!perfdata_mapping(recording->data, record, &mapping)) {
        diag_report(recording->diag, DIAG_WARNING, perfdata_record_path(recording->data),
                    record->offset, "mapping event without a whole name: kept, but not understood");
        return 0;
    }
    take_time(recording, record, &time);
    const size_t path_size = mapped_dump_path(mapping.filename);
    if (path_size)
        return add_marker(recording, &mapping, path_size, time, record->number);
    recording->is_injected |= mapped_is_image(mapping.filename);
    const enum place_mapping_kind kind = mapped_kind(&mapping, record->type);
    const struct place_mapping placed = {.pid = mapping.pid,
                                         .time = time,
                                         .addr = mapping.addr,
                                         .len = mapping.len,
                                         .offset = mapping.pgoff,
                                         .file = mapped_file(&mapping, kind),
                                         .kind = kind,
                                         .record = record->number};
    return place_add_mapping(recording->place, &placed);
}

static int scan_task(struct recording *recording, const struct perfdata_record *record)
{
    struct perfdata_task task;
    uint64_t time;

    if (!perfdata_task(recording->data, record, &task) || task.was_there)
        return 0;
    take_time(recording, record, &time);
    int err = record->type == PERFDATA_EXIT ? place_add_exit(recording->place, task.pid, time) : 0;
    /* Threads come and go. */
    if (err || (record->type == PERFDATA_FORK ? task.pid == task.ppid : task.pid != task.tid))
        return err;
    const struct task event = {.time = time,
                               .pid = task.pid,
                               .parent = task.ppid,
                               .kind = record->type == PERFDATA_EXIT ? TASK_EXIT : TASK_FORK};
    err = tasks_add(&recording->tasks, &event);
    if (!err && event.kind == TASK_FORK)
        err = place_add_fork(recording->place, task.pid, task.ppid, time);
    return err;
}

static int scan_exec(struct recording *recording, const struct perfdata_record *record)
{
    struct task exec = {.kind = TASK_EXEC};

    if (!perfdata_exec(recording->data, record, &exec.pid))
        return 0;
    if (!take_time(recording, record, &exec.time))
        return 0;
    int err = tasks_add(&recording->tasks, &exec);
    return err ? err : place_add_exec(recording->place, exec.pid, exec.time);
}

static int scan_event(struct recording *recording, const struct perfdata_record *record)
{
    switch (record->type) {
    case PERFDATA_MMAP:
    case PERFDATA_MMAP2:
        return scan_mapping(recording, record);
    case PERFDATA_FORK:
    case PERFDATA_EXIT:
        return scan_task(recording, record);
    case PERFDATA_COMM:
        return scan_exec(recording, record);
    default:
        return 0;
    }
}

/*
 * Where a scout began, it has read the rest. Before, this is where to send one: once the dumps that
 * are known are indexed, for there is no better use for another processor.
 */
static int scan_round(struct scan *scan, const struct perfdata_record *round)
{
    struct recording *recording = scan->recording;
    struct perfdata_record record;

    if (!scan->scouted && !perfdata_in_file_order(recording->data) &&
        ahead_is_idle(recording->ahead)) {
        scan->scout = scout_start(recording->data, recording->tally.with_processes);
        scan->scouted = true;
    }
    if (!scan->scout || scout_offset(scan->scout) != round->offset)
        return 0;
    int err = scout_join(scan->scout, recording->data, &recording->tally,
                         &recording->summary->times[INJECT_SCAN]);
    while (!err && scout_next(scan->scout, &record))
        err = scan_event(recording, &record);
    return err;
}

static int scan_record(struct scan *scan, const struct perfdata_record *record)
{
    struct recording *recording = scan->recording;

    switch (record->type) {
    case PERFDATA_SAMPLE:
        return tally_record(&recording->tally, recording->data, record);
    case PERFDATA_FINISHED_ROUND:
        return scan_round(scan, record);
    default:
        return scan_event(recording, record);
    }
}

/* The next record, or samples: 1, 0 at the end, or a negative errno. */
static int scan_next(struct scan *scan)
{
    struct recording *recording = scan->recording;
    struct perfdata_samples samples;
    struct perfdata_record record;
    int got = 1, err = 0;

    if (perfdata_next_samples(recording->data, &samples))
        err = tally_samples(&recording->tally, &samples);
    else if ((got = perfdata_next(recording->data, &record)) > 0)
        err = scan_record(scan, &record);
    return err ? err : got;
}

int scan_records(struct recording *recording)
{
    struct scan scan = {.recording = recording};
    int got, err = 0;

    perfdata_rewind(recording->data);
    /* Maps are looked for where there is something to name, be it only in a call chain; and a
     * process with a dump that is given may have nothing but samples. */
    recording->tally.with_processes =
        recording->options->perf_map || recording->options->dump_count > 0;
    while (!err && (got = scan_next(&scan)) != 0)
        err = got < 0 ? got : 0;
    scout_free(scan.scout);
    recording->summary->samples = recording->tally.samples;
    recording->end_time = latest(recording);
    return err;
}
