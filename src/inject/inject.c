/* SPDX-License-Identifier: MIT */
/* The five steps in order. */
#include "ahead.h"
#include "recording.h"
#include "stopwatch.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void recording_clear(struct recording *recording)
{
    emit_stop(recording);
    pthread_cond_destroy(&recording->emit_changed);
    pthread_mutex_destroy(&recording->emit_lock);
    for (size_t i = 0; i < recording->image_count && recording->images; i++)
        outfile_free(recording->images[i]);
    for (size_t i = 0; i < recording->image_count && recording->image_reports; i++)
        diag_list_clear(&recording->image_reports[i]);
    outfile_free(recording->output);
    directory_clear(recording);
    free(recording->images);
    free(recording->image_reports);
    free(recording->build_ids);
    free(recording->dropped);
    ahead_free(recording->ahead);
    place_free(recording->place);
    for (size_t i = 0; i < recording->dump_count; i++) {
        jitdump_index_clear(&recording->dumps[i].index);
        jitdump_free(recording->dumps[i].file);
    }
    free(recording->dumps);
    for (size_t i = 0; i < recording->map_count; i++)
        perfmap_close(&recording->maps[i].file);
    free(recording->maps);
    tally_clear(&recording->tally);
    free(recording->inputs);
    tasks_clear(&recording->tasks);
    free(recording->sources);
    for (size_t i = 0; i < recording->marker_count; i++)
        free(recording->markers[i].path);
    free(recording->markers);
    perfdata_free(recording->data);
}

static bool same_code(void *context, const struct code *a, const struct code *b)
{
    const struct recording *recording = context;

    /* Of a map only what memory holds twice is the same. */
    if (a->source >= recording->dump_count || b->source >= recording->dump_count)
        return a->source == b->source && a->name == b->name;
    return jitdump_same_code(recording->dumps[a->source].file, a, recording->dumps[b->source].file,
                             b);
}

static bool takes_stacks(const struct perfdata *data)
{
    size_t count;
    const struct perfdata_attr *attrs = perfdata_attrs(data, &count);

    for (size_t i = 0; i < count; i++)
        if (attrs[i].takes_stacks)
            return true;
    return false;
}

/* The summary's rows: what place knows; samples are counted later. */
static int summarize(struct recording *recording)
{
    struct inject_summary *summary = recording->summary;
    size_t count;
    const struct place_process *rows = place_processes(recording->place, &count);

    if (!array_reserve(&summary->processes, &summary->process_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        summary->processes[i] = (struct inject_process){
            .pid = rows[i].pid,
            .functions = rows[i].codes,
            .code_bytes = rows[i].code_bytes,
            .repeated = rows[i].repeated,
            .beyond_layers = rows[i].beyond_layers,
            .mappings = rows[i].events,
            .dropped = rows[i].dropped,
            .first_file = rows[i].first_file,
            .file_count = rows[i].files,
        };
    }
    summary->process_count = count;
    summary->takes_stacks = takes_stacks(recording->data);
    return 0;
}

/* What became of giving a file its name. */
static int committed(const struct recording *recording, const struct outfile *file, int err)
{
    if (err)
        diag_report(recording->diag, DIAG_ERROR, outfile_path(file), DIAG_NO_OFFSET,
                    "cannot be written: %s", strerror(-err));
    return err;
}

static int commit_image(const struct recording *recording, size_t number)
{
    struct outfile *image = recording->images[number];
    int err = outfile_commit_new(image);

    if (err == -EEXIST) {
        replace_warn(recording, number);
        err = outfile_commit(image);
    }
    return committed(recording, image, err);
}

static int commit_output(struct recording *recording)
{
    if (recording->directory)
        return directory_commit(recording);
    return committed(recording, recording->output, outfile_commit(recording->output));
}

static int commit_images(struct recording *recording)
{
    int err = emit_finish(recording);

    for (size_t i = 0; i < recording->image_count && !err; i++)
        err = commit_image(recording, i);
    return err;
}

static int measured(struct recording *recording, enum inject_step step,
                    int (*work)(struct recording *))
{
    struct stopwatch watch;

    stopwatch_start(&watch);
    const int err = work(recording);
    stopwatch_stop(&watch, &recording->summary->times[step]);
    return err;
}

/*
 * The images have their names before the recording has: it is what makes readers look for them. Of
 * a stream that is when its first byte is written.
 */
static int write_outputs(struct recording *recording)
{
    const bool early = outfile_is_stream(recording->output);

    int err = emit_begin(recording);
    if (!err && early)
        err = commit_images(recording);
    if (!err)
        err = rewrite_records(recording);
    if (!err)
        err = directory_fill(recording);
    if (!err && !early)
        err = commit_images(recording);
    if (!err)
        err = commit_output(recording);
    for (size_t i = 0; i < recording->image_count && err; i++)
        outfile_revoke(recording->images[i]);
    return err;
}

/* The dumps that the user gave are known before the recording names any. */
static int scan(struct recording *recording)
{
    int err = ahead_new(recording->options, &recording->ahead);

    for (size_t i = 0; i < recording->options->dump_count && !err; i++)
        err = ahead_want(recording->ahead, recording->options->dumps[i].path);
    return err ? err : scan_records(recording);
}

static int place_codes(struct recording *recording)
{
    return place_run(recording->place);
}

static int run(struct recording *recording)
{
    const struct perfdata_options read_options = {.force = recording->options->force};
    const struct place_options place_options = {.same_code = same_code, .context = recording};
    int err =
        perfdata_open(recording->options->input, &read_options, recording->diag, &recording->data);

    if (err)
        return err;
    err = place_new(&place_options, &recording->place);
    if (!err)
        err = emit_start_output(recording);
    if (!err)
        err = measured(recording, INJECT_SCAN, scan);
    if (!err)
        err = measured(recording, INJECT_INDEX, dumps_read);
    if (!err && recording->options->perf_map)
        err = maps_read(recording);
    if (!err)
        err = emit_spare_inputs(recording, recording->options->output);
    if (!err)
        err = measured(recording, INJECT_PLACE, place_codes);
    if (!err)
        err = summarize(recording);
    if (!err)
        err = write_outputs(recording);
    return err ? err : unlogged_report(recording);
}

/* Notes errors on their way to the caller, so that no failure goes without a word. */
struct error_watch {
    const struct diag *next;
    bool reported;
};

static void watch_report(void *context, const struct diag_report *report)
{
    struct error_watch *watch = context;

    watch->reported |= report->severity == DIAG_ERROR;
    watch->next->report(watch->next->context, report);
}

/* What nobody has said more of. */
static void report_failure(const struct recording *recording, int err)
{
    const char *path =
        recording->output ? outfile_path(recording->output) : recording->options->output;

    if (err == -EPIPE)
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                    "its reader ended before all was written; the shared objects are gone again");
    else
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET, "not written: %s",
                    strerror(-err));
}

int inject_run(const struct inject_options *options, const struct diag *diag,
               struct inject_summary *summary)
{
    struct error_watch watch = {.next = diag};
    const struct diag watched = {.report = watch_report, .context = &watch};
    struct recording recording = {.options = options,
                                  .diag = &watched,
                                  .summary = summary,
                                  .emit_lock = PTHREAD_MUTEX_INITIALIZER,
                                  .emit_changed = PTHREAD_COND_INITIALIZER};
    int err = run(&recording);

    if (err && !watch.reported)
        report_failure(&recording, err);
    recording_clear(&recording);
    return err;
}

void inject_summary_clear(struct inject_summary *summary)
{
    for (size_t i = 0; i < summary->file_count; i++)
        free(summary->files[i].path);
    for (size_t i = 0; i < summary->clock_count; i++)
        free(summary->clocks[i].path);
    free(summary->files);
    free(summary->processes);
    free(summary->clocks);
    *summary = (struct inject_summary){0};
}
