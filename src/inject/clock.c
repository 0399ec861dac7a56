/* SPDX-License-Identifier: MIT */
/* The clock of a dump is to be that of the recording: CLOCK_MONOTONIC, or the raw TSC that perf
 * tells how to convert. */
#include "recording.h"

#include <errno.h>
#include <time.h>

static bool is_monotonic(const struct perfdata *data)
{
    size_t count;
    const struct perfdata_attr *attrs = perfdata_attrs(data, &count);

    for (size_t i = 0; i < count; i++)
        if (attrs[i].takes_samples &&
            !(attrs[i].use_clockid && attrs[i].clockid == CLOCK_MONOTONIC))
            return false;
    return true;
}

/* Whether a span of time meets that of the samples. */
static bool is_plausible(const struct recording *recording, uint64_t first, uint64_t last)
{
    return first <= recording->last_time && last >= recording->first_time;
}

int clock_align(const struct recording *recording, struct dump *dump)
{
    const struct perfdata_time_conv *conv = perfdata_time_conversion(recording->data);
    const struct jitdump_stats *stats = &dump->index.stats;
    const bool monotonic = is_monotonic(recording->data);
    const char *path = jitdump_path(dump->file);

    if (!jitdump_header(dump->file)->arch_timestamps) {
        if (monotonic)
            return 0;
        diag_report(recording->diag, DIAG_ERROR, perfdata_path(recording->data), DIAG_NO_OFFSET,
                    "recorded without the clock of its JIT dumps, so that no code can be placed in "
                    "time: record again with `perf record -k mono`");
        return -ENOTSUP;
    }
    /* The flag is known to be set on dumps that are in nanoseconds. */
    const bool fits_as_ns = is_plausible(recording, stats->first_time, stats->last_time);
    const bool fits_as_tsc =
        conv->present && is_plausible(recording, perfdata_time_from_arch(conv, stats->first_time),
                                      perfdata_time_from_arch(conv, stats->last_time));
    if (fits_as_tsc) {
        for (size_t i = 0; i < dump->index.count; i++) {
            struct code *code = jitdump_index_code(&dump->index, i);
            code->time = perfdata_time_from_arch(conv, code->time);
        }
        return 0;
    }
    if (monotonic && fits_as_ns) {
        diag_report(recording->diag, DIAG_NOTE, path, 40 - 8,
                    "says that its times are those of the processor, but they are nanoseconds");
        return 0;
    }
    diag_report(recording->diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
                conv->present ? "its times lie outside of the recording: left out"
                              : "has times of the processor (TSC), and the recording does not say "
                                "how to convert them: left out; record without `-k`");
    return -EBADMSG;
}
