/* SPDX-License-Identifier: MIT */
#include "clock_report.h"

#include "clock_unit.h"

#include <inttypes.h>
#include <stdio.h>

const char *clock_seconds(uint64_t time, char text[32])
{
    snprintf(text, 32, "%" PRIu64 ".%06" PRIu64, time / 1000000000, time % 1000000000 / 1000);
    return text;
}

/* Why the times of the dump are no good as they are. */
static const char *reason(const struct recording *recording, const struct dump *dump)
{
    if (clock_is_untimed(recording))
        return "the samples have no times";
    if (!jitdump_header(dump->file)->arch_timestamps)
        return "perf recorded without `-k mono`, on another clock than the dump's";
    if (clock_can_convert(recording))
        return "read as the processor's (TSC), as its header says, its times are not those of the "
               "process";
    return "its times are the processor's (TSC), and the recording does not say how to convert "
           "them";
}

static const char *remedy(const struct recording *recording, const struct dump *dump)
{
    if (clock_is_untimed(recording))
        return "record again with `perf record -T -k mono`";
    if (!jitdump_header(dump->file)->arch_timestamps || clock_can_convert(recording))
        return "record again with `perf record -k mono`";
    if (clock_is_chosen(recording))
        return "record again without `-k`";
    return "let the runtime use CLOCK_MONOTONIC, and record with `perf record -k mono`";
}

/* Code of which no sample can be, or none that came before it. */
static void report_span(const struct recording *recording, const struct dump *dump)
{
    const bool later = dump->clock.first > recording->tally.last_time;
    /* Nothing odd where perf came later, but an offset may be wrong. */
    const bool odd = later || recording->options->clock == INJECT_CLOCK_OFFSET;
    char texts[4][32];

    if (!recording->tally.timed || dump->index.count == 0 ||
        dump->clock.timing == INJECT_TIMING_IGNORED ||
        (!later && dump->clock.last >= recording->tally.first_time))
        return;
    diag_report(
        recording->diag, odd ? DIAG_WARNING : DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
        "its code was loaded from %s to %s s, all of it %s, which are from %s to %s s",
        clock_seconds(dump->clock.first, texts[0]), clock_seconds(dump->clock.last, texts[1]),
        later ? "after the samples" : "before the samples",
        clock_seconds(recording->tally.first_time, texts[2]),
        clock_seconds(recording->tally.last_time, texts[3]));
}

/* What was done for want of the right clock. */
static void report_placed(const struct recording *recording, const struct dump *dump)
{
    const struct dump_clock *clock = &dump->clock;
    const char *path = jitdump_path(dump->file);

    if (clock->reused > 0)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "%" PRIu64 " functions are left out: without times nobody can tell when they "
                    "had their addresses, as other code had them, too",
                    clock->reused);
    if (recording->options->clock != INJECT_CLOCK_AUTO || clock->disputed || dump->index.count == 0)
        return;
    if (clock->timing == INJECT_TIMING_IGNORED)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "%s: all of its code counts from the start, as no address of it was used twice",
                    reason(recording, dump));
    if (clock->timing == INJECT_TIMING_SHIFTED)
        diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                    "%s: its times are shifted by %" PRId64 " ns, as mappings and samples tell, "
                    "and may be %" PRIu64 " us early",
                    reason(recording, dump), clock->offset, clock->uncertainty / 1000);
}

/* Nobody can tell what ran at addresses that were used again. */
static void report_unknown(const struct recording *recording, const struct dump *dump,
                           enum diag_severity severity)
{
    diag_report(recording->diag, severity, jitdump_path(dump->file), DIAG_NO_OFFSET,
                "%s, so nobody can tell which code had an address when it ran: %s "
                "(--clock=ignore takes the code that had its addresses to itself)",
                reason(recording, dump), remedy(recording, dump));
}

void clock_report(const struct recording *recording, const struct dump *dump,
                  enum diag_severity severity)
{
    if (!dump->clock.placed) {
        report_unknown(recording, dump, severity);
    } else {
        report_span(recording, dump);
        report_placed(recording, dump);
    }
}
