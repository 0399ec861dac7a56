/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>

void report_oddity(void *context, const struct diag_report *report)
{
    static const char *const severities[] = {
        [DIAG_NOTE] = "note", [DIAG_WARNING] = "warning", [DIAG_ERROR] = "error"};
    const struct report_options *options = context;

    if (report->severity == DIAG_NOTE && options->verbose == 0)
        return;
    fprintf(stderr, "jitinject: %s: ", severities[report->severity]);
    if (report->path)
        fprintf(stderr, "%s: ", *report->path ? report->path : "''");
    if (report->offset != DIAG_NO_OFFSET)
        fprintf(stderr, "at byte %" PRIu64 ": ", report->offset);
    fprintf(stderr, "%s\n", report->text);
}

static void report_process(const struct report_options *options,
                           const struct inject_summary *summary,
                           const struct inject_process *process, FILE *stream)
{
    fprintf(stream, "process %" PRIu32 ": ", process->pid);
    if (process->functions > 0)
        fprintf(stream, "%" PRIu64 " functions, %" PRIu64 " bytes, %zu .so, %" PRIu64 " mappings; ",
                process->functions, process->code_bytes, process->file_count, process->mappings);
    else
        fprintf(stream, "runs code of another process; ");
    fprintf(stream, "%" PRIu64 " samples in JIT code, %" PRIu64 " named\n", process->jit_samples,
            process->named_samples);
    /* Of no interest where the kernel recorded the call chains. */
    if (process->beyond_layers > 0 && (summary->takes_stacks || options->verbose > 0))
        fprintf(stream,
                "  %" PRIu64 " functions are at addresses used so often that stacks through them "
                "unwind by frame pointers only\n",
                process->beyond_layers);
    if (options->verbose == 0)
        return;
    if (process->repeated > 0 || process->dropped > 0)
        fprintf(stream,
                "  %" PRIu64 " loads of code that was there already, %" PRIu64
                " anonymous mappings left out\n",
                process->repeated, process->dropped);
    for (size_t i = 0; i < process->file_count; i++) {
        const struct inject_file *file = &summary->files[process->first_file + i];
        fprintf(stream, "  %s: %" PRIu64 " symbols, %" PRIu64 " bytes\n", file->path, file->symbols,
                file->bytes);
    }
}

/* What was done with times that are not those of the recording. */
static void report_clock(const struct inject_dump_clock *clock, FILE *stream)
{
    if (clock->timing == INJECT_TIMING_CONVERTED)
        fprintf(stream, "%s: times of the processor, converted\n", clock->path);
    else if (clock->timing == INJECT_TIMING_SHIFTED)
        fprintf(stream, "%s: times shifted by %" PRId64 " ns\n", clock->path, clock->offset);
    else if (clock->timing == INJECT_TIMING_IGNORED)
        fprintf(stream, "%s: times ignored, %" PRIu64 " functions left out\n", clock->path,
                clock->reused);
}

static void report_times(const struct inject_summary *summary, FILE *stream)
{
    static const char *const names[] = {
        [INJECT_SCAN] = "scan", [INJECT_INDEX] = "index",     [INJECT_PLACE] = "place",
        [INJECT_EMIT] = "emit", [INJECT_REWRITE] = "rewrite",
    };

    for (size_t i = 0; i < INJECT_STEPS; i++)
        fprintf(stream, "%s: %.1f ms, %.1f ms on a processor\n", names[i],
                (double)summary->times[i].wall / 1e6, (double)summary->times[i].cpu / 1e6);
}

void report_summary(const struct report_options *options, const struct inject_summary *summary,
                    FILE *stream)
{
    if (options->quiet)
        return;
    for (size_t i = 0; i < summary->process_count; i++)
        if (summary->processes[i].functions > 0 || summary->processes[i].jit_samples > 0)
            report_process(options, summary, &summary->processes[i], stream);
    for (size_t i = 0; i < summary->clock_count && options->verbose > 0; i++)
        report_clock(&summary->clocks[i], stream);
    if (options->verbose > 1)
        report_times(summary, stream);
}
