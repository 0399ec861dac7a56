/* SPDX-License-Identifier: MIT */
#include "clock_unit.h"

#include <time.h>

/* In the header of a dump. */
#define FLAGS_OFFSET 32

static bool is_monotonic(const struct recording *recording)
{
    size_t count;
    const struct perfdata_attr *attrs = perfdata_attrs(recording->data, &count);

    for (size_t i = 0; i < count; i++)
        if (attrs[i].takes_samples &&
            !(attrs[i].use_clockid && attrs[i].clockid == CLOCK_MONOTONIC))
            return false;
    return true;
}

bool clock_can_convert(const struct recording *recording)
{
    const struct perfdata_time_conv *conv = perfdata_time_conversion(recording->data);

    return conv->present && conv->cap_time_zero;
}

bool clock_is_chosen(const struct recording *recording)
{
    size_t count;
    const struct perfdata_attr *attrs = perfdata_attrs(recording->data, &count);
    bool chosen = false;

    for (size_t i = 0; i < count; i++)
        chosen |= attrs[i].takes_samples && attrs[i].use_clockid;
    return chosen;
}

bool clock_is_untimed(const struct recording *recording)
{
    return recording->summary->samples > 0 && !recording->tally.timed;
}

uint64_t clock_shift(uint64_t time, int64_t offset)
{
    uint64_t sum;

    if (__builtin_add_overflow(time, offset, &sum))
        return offset < 0 ? 0 : UINT64_MAX;
    return sum;
}

/* How times of code lie to those of its process. */
enum fit {
    OUTSIDE,
    EARLIER, /* the process lived, but no sample was taken yet */
    WITHIN,
};

static enum fit fit(const struct recording *recording, struct task_life life, uint64_t first,
                    uint64_t last)
{
    const uint64_t end = life.end < recording->end_time ? life.end : recording->end_time;

    if (recording->tally.timed && (first > end || last < life.begin))
        return OUTSIDE;
    return recording->tally.timed && last < recording->tally.first_time ? EARLIER : WITHIN;
}

static enum fit fit_as_arch(const struct recording *recording, struct task_life life,
                            const struct jitdump_stats *stats)
{
    const struct perfdata_time_conv *conv = perfdata_time_conversion(recording->data);

    if (!clock_can_convert(recording))
        return OUTSIDE;
    return fit(recording, life, perfdata_time_from_arch(conv, stats->first_time),
               perfdata_time_from_arch(conv, stats->last_time));
}

static enum fit fit_as_ns(const struct recording *recording, struct task_life life,
                          const struct jitdump_stats *stats, const struct dump_clock *clock)
{
    if (clock->timing == INJECT_TIMING_UNKNOWN)
        return OUTSIDE;
    return fit(recording, life, clock_shift(stats->first_time, clock->offset),
               clock_shift(stats->last_time, clock->offset));
}

/* The dump says that its times are the processor's: both readings are tried. */
static void choose_unit(const struct recording *recording, struct task_life life, struct dump *dump)
{
    struct dump_clock *clock = &dump->clock;
    const enum fit as_arch = fit_as_arch(recording, life, &dump->index.stats);
    const enum fit as_ns = fit_as_ns(recording, life, &dump->index.stats, clock);

    if (as_arch != OUTSIDE && as_arch >= as_ns) {
        clock->timing = INJECT_TIMING_CONVERTED;
    } else if (as_ns != OUTSIDE) {
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), FLAGS_OFFSET,
                    "says that its times are those of the processor, but they are nanoseconds");
    } else if (clock->timing != INJECT_TIMING_SHIFTED) {
        /* Nanoseconds or another process's where the processor's can be told; else those. */
        clock->timing = INJECT_TIMING_UNKNOWN;
        clock->may_shift = clock_can_convert(recording);
        clock->may_ignore = !clock->may_shift;
    }
}

void clock_choose(const struct recording *recording, struct task_life life, struct dump *dump)
{
    const struct inject_options *options = recording->options;
    const bool untimed = clock_is_untimed(recording);
    struct dump_clock *clock = &dump->clock;

    *clock = (struct dump_clock){.may_ignore = true, .may_shift = !untimed};
    if (options->clock == INJECT_CLOCK_IGNORE)
        clock->timing = INJECT_TIMING_IGNORED;
    else if (untimed)
        clock->timing = INJECT_TIMING_UNKNOWN;
    else if (options->clock == INJECT_CLOCK_OFFSET)
        clock->timing = INJECT_TIMING_SHIFTED;
    else if (is_monotonic(recording))
        clock->timing = INJECT_TIMING_KEPT;
    if (clock->timing == INJECT_TIMING_SHIFTED)
        clock->offset = options->clock_offset;
    if (clock->timing != INJECT_TIMING_IGNORED && !untimed &&
        jitdump_header(dump->file)->arch_timestamps)
        choose_unit(recording, life, dump);
}
