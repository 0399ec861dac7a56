/* SPDX-License-Identifier: MIT */
/*
 * The recording again. A reader delivers the events of a round when the next one ends, up to the
 * greatest time seen in the round before; so a mapping event goes before the end of the first round
 * whose greatest time reaches it. Earlier, and it would release other events too soon; later, and
 * it would come after the samples that need it. Where events have no times, readers take all
 * records as they come, and a mapping event goes before the first sample that it reaches.
 */
#include "rewrite.h"

#include "count.h"
#include "stopwatch.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* PROT_READ | PROT_EXEC and MAP_PRIVATE as on every architecture of Linux that has JITs */
#define PROT_READ_EXEC 5
#define MAPPED_PRIVATE 2

struct rewrite {
    const struct recording *recording;
    struct emit *emit;
    struct stopwatch watch; /* of this step alone */
    struct perfdata_writer *writer;
    size_t event_count, next_event;
    uint64_t *dropped; /* numbers of all records to leave out, ascending */
    size_t dropped_count, next_dropped;
    uint64_t greatest;  /* time so far */
    bool in_file_order; /* perfdata_in_file_order */
    bool has_build_ids; /* they have been written */
    struct count *count;
};

/* Markers whose dump was read and anonymous mappings that add nothing. */
static int collect_dropped(struct rewrite *rewrite)
{
    const struct recording *recording = rewrite->recording;
    size_t placed;
    const uint64_t *dropped = place_dropped(recording->place, &placed);

    rewrite->dropped = malloc((placed + recording->marker_count + 1) * sizeof(*rewrite->dropped));
    if (!rewrite->dropped)
        return -ENOMEM;
    for (size_t i = 0; i < placed; i++)
        rewrite->dropped[rewrite->dropped_count++] = dropped[i];
    for (size_t i = 0; i < recording->marker_count; i++)
        if (recording->markers[i].dump != NO_DUMP)
            rewrite->dropped[rewrite->dropped_count++] = recording->markers[i].record;
    array_sort(rewrite->dropped, rewrite->dropped_count, sizeof(*rewrite->dropped),
               array_compare_u64);
    return 0;
}

static int write_build_ids(struct rewrite *rewrite)
{
    struct emit *emit = rewrite->emit;

    if (rewrite->has_build_ids)
        return 0;
    rewrite->has_build_ids = true;
    /* Where images fail as well, it is the recording that is named, whichever was first. */
    int err = perfdata_writer_wait(rewrite->writer);
    if (err)
        return err;
    stopwatch_stop(&rewrite->watch, &rewrite->recording->summary->times[INJECT_REWRITE]);
    err = emit_finish(emit);
    stopwatch_start(&rewrite->watch);
    for (size_t i = 0; i < emit_count(emit) && !err; i++)
        err = perfdata_write_build_id(rewrite->writer, emit_build_id(emit, i), emit_path(emit, i));
    return err;
}

/* Writes the events up to and including `time`. */
static int write_events(struct rewrite *rewrite, uint64_t time)
{
    int err = 0;

    /* In pipe form readers hear of build-ids in the order of all else. */
    if (rewrite->next_event < rewrite->event_count && perfdata_writer_is_pipe(rewrite->writer))
        err = write_build_ids(rewrite);

    for (; rewrite->next_event < rewrite->event_count && !err; rewrite->next_event++) {
        const struct place_event event =
            place_event(rewrite->recording->place, rewrite->next_event);
        if (event.time > time)
            break;
        const char *path = emit_path(rewrite->emit, event.file);
        const struct perfdata_mapping mapping = {.addr = event.addr,
                                                 .len = event.len,
                                                 .pgoff = event.offset,
                                                 .pid = event.pid,
                                                 .tid = event.pid,
                                                 .prot = PROT_READ_EXEC,
                                                 .flags = MAPPED_PRIVATE,
                                                 .filename = path,
                                                 .filename_size = strlen(path)};
        err = perfdata_write_mapping(rewrite->writer, &mapping, event.time);
    }
    return err;
}

static bool is_dropped(struct rewrite *rewrite, uint64_t number)
{
    if (rewrite->next_dropped == rewrite->dropped_count ||
        rewrite->dropped[rewrite->next_dropped] != number)
        return false;
    rewrite->next_dropped++;
    return true;
}

static int rewrite_record(struct rewrite *rewrite, const struct perfdata_record *record)
{
    const struct recording *recording = rewrite->recording;
    struct perfdata_sample sample;
    uint64_t time;
    int err = 0;

    if (record->type == PERFDATA_FINISHED_ROUND)
        err = write_events(rewrite, rewrite->greatest);
    else if (perfdata_time(recording->data, record, &time) && time > rewrite->greatest) {
        rewrite->greatest = time;
        if (rewrite->in_file_order)
            err = write_events(rewrite, time);
    }
    if (!err && perfdata_sample(recording->data, record, &sample))
        err = count_samples(rewrite->count, &sample, 1);
    if (err)
        return err;
    return is_dropped(rewrite, record->number) ? 0 : perfdata_keep(rewrite->writer, record);
}

static int rewrite_samples(struct rewrite *rewrite, const struct perfdata_samples *samples)
{
    if (samples->last_time > rewrite->greatest)
        rewrite->greatest = samples->last_time;
    const int err = count_samples(rewrite->count, samples->list, samples->count);
    return err ? err : perfdata_keep_samples(rewrite->writer, samples);
}

/* The next record, or samples: 1, 0 at the end, or a negative errno. */
static int rewrite_next(struct rewrite *rewrite)
{
    struct perfdata *data = rewrite->recording->data;
    struct perfdata_samples samples;
    struct perfdata_record record;
    int got = 1, err = 0;

    /* In the order of the file, events may have to go between samples. */
    if (!rewrite->in_file_order && perfdata_next_samples(data, &samples))
        err = rewrite_samples(rewrite, &samples);
    else if ((got = perfdata_next(data, &record)) > 0)
        err = rewrite_record(rewrite, &record);
    return err ? err : got;
}

static int rewrite_all(struct rewrite *rewrite)
{
    int got, err = 0;

    perfdata_rewind(rewrite->recording->data);
    while (!err && (got = rewrite_next(rewrite)) != 0)
        err = got < 0 ? got : 0;
    if (!err)
        err = count_finish(rewrite->count);
    if (!err)
        err = write_events(rewrite, UINT64_MAX);
    if (!err)
        err = write_build_ids(rewrite);
    if (!err)
        err = perfdata_writer_finish(rewrite->writer);
    return err;
}

int rewrite_records(const struct recording *recording, const struct output *output,
                    struct emit *emit)
{
    struct rewrite rewrite = {.recording = recording,
                              .emit = emit,
                              .in_file_order = perfdata_in_file_order(recording->data),
                              .event_count = place_event_count(recording->place)};
    const enum perfdata_form form =
        output_is_stream(output) ? PERFDATA_FORM_PIPE : PERFDATA_FORM_OF_INPUT;
    struct inject_summary *summary = recording->summary;

    stopwatch_start(&rewrite.watch);
    int err = collect_dropped(&rewrite);
    if (!err)
        err = perfdata_writer_new(recording->data, form, output_fd(output), &rewrite.writer);
    if (!err && output_parts(output))
        perfdata_writer_split(rewrite.writer, output_parts(output));
    if (!err)
        err = count_new(recording->place, summary, &rewrite.count);
    if (!err)
        err = rewrite_all(&rewrite);
    if (!err)
        summary->output_bytes = perfdata_writer_size(rewrite.writer);
    stopwatch_stop(&rewrite.watch, &summary->times[INJECT_REWRITE]);
    if (rewrite.writer)
        summary->times[INJECT_REWRITE].cpu += perfdata_writer_cpu(rewrite.writer);
    count_free(rewrite.count);
    perfdata_writer_free(rewrite.writer);
    free(rewrite.dropped);
    return err;
}
