/* SPDX-License-Identifier: MIT */
/* The five steps in order. */
#include "ahead.h"
#include "create.h"
#include "dumps.h"
#include "emit.h"
#include "maps.h"
#include "output.h"
#include "recording.h"
#include "rewrite.h"
#include "scan.h"
#include "stopwatch.h"
#include "summary.h"
#include "unlogged.h"

#include <errno.h>
#include <string.h>

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
static int write_all(const struct recording *recording, struct output *output, struct emit *emit)
{
    const bool early = output_is_stream(output);
    int err = early ? emit_commit(emit) : 0;

    if (!err)
        err = rewrite_records(recording, output, emit);
    if (!err)
        err = unlogged_report(recording);
    if (!err)
        err = output_fill(output);
    if (!err && !early)
        err = emit_commit(emit);
    if (!err)
        err = output_commit(output);
    return err;
}

static int write_outputs(const struct recording *recording, struct output *output)
{
    struct emit *emit;
    int err = emit_new(recording, output, &emit);

    if (err)
        return err;
    err = write_all(recording, output, emit);
    if (err)
        emit_revoke(emit);
    emit_free(emit);
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

/* `output` is the caller's, even where this fails. */
static int run(struct recording *recording, struct output **output)
{
    int err = output_new(recording, output);

    if (!err)
        err = measured(recording, INJECT_SCAN, scan);
    if (!err)
        err = measured(recording, INJECT_INDEX, dumps_read);
    if (!err && recording->options->perf_map)
        err = maps_read(recording);
    if (!err)
        err = create_check(recording, recording->options->output);
    if (!err)
        err = measured(recording, INJECT_PLACE, place_codes);
    if (!err)
        err = summary_fill(recording);
    if (!err)
        err = write_outputs(recording, *output);
    return err;
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
static void report_failure(const struct diag *diag, const char *path, int err)
{
    if (err == -EPIPE)
        diag_report(diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                    "its reader ended before all was written; the shared objects are gone again");
    else
        diag_report(diag, DIAG_ERROR, path, DIAG_NO_OFFSET, "not written: %s", strerror(-err));
}

int inject_run(const struct inject_options *options, const struct diag *diag,
               struct inject_summary *summary)
{
    struct error_watch watch = {.next = diag};
    const struct diag watched = {.report = watch_report, .context = &watch};
    struct recording recording;
    struct output *output = NULL;
    int err = recording_open(&recording, options, &watched, summary);

    if (!err)
        err = run(&recording, &output);
    if (err && !watch.reported)
        report_failure(&watched, output ? output_path(output) : options->output, err);
    output_free(output);
    recording_close(&recording);
    return err;
}
