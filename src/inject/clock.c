/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include "clock_report.h"
#include "clock_unit.h"
#include "clock_unknown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* When the writer of each dump told of it. */
static void find_announcements(struct recording *recording)
{
    for (size_t i = 0; i < recording->dump_count; i++)
        recording->dumps[i].announced = UINT64_MAX;
    for (size_t i = 0; i < recording->marker_count; i++) {
        const struct marker *marker = &recording->markers[i];
        struct dump *dump = marker->dump == NO_DUMP ? NULL : &recording->dumps[marker->dump];
        if (dump && marker->pid == dump->pid && marker->time < dump->announced)
            dump->announced = marker->time;
    }
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].announced == UINT64_MAX)
            recording->dumps[i].announced = 0;
}

static uint64_t time_of(const struct recording *recording, const struct dump *dump,
                        const struct code *code)
{
    switch (dump->clock.timing) {
    case INJECT_TIMING_CONVERTED:
        return perfdata_time_from_arch(perfdata_time_conversion(recording->data), code->time);
    case INJECT_TIMING_SHIFTED:
        return clock_shift(code->time, dump->clock.offset);
    case INJECT_TIMING_IGNORED:
        return clock_start(recording, dump, code->pid);
    default:
        return code->time;
    }
}

/* Gives the pieces their times, and leaves out those that would need one where there is none. */
static void apply(const struct recording *recording, struct dump *dump)
{
    struct jitdump_index *index = &dump->index;
    struct dump_clock *clock = &dump->clock;
    size_t kept = 0;

    for (size_t i = 0; i < index->count; i++) {
        struct code code = *jitdump_index_code(index, i);
        if (clock->timing == INJECT_TIMING_IGNORED && (code.flags & CODE_REUSED)) {
            clock->reused++;
            continue;
        }
        code.time = time_of(recording, dump, &code);
        clock->first = kept == 0 || code.time < clock->first ? code.time : clock->first;
        clock->last = code.time > clock->last ? code.time : clock->last;
        *jitdump_index_code(index, kept++) = code;
    }
    index->count = kept;
    clock->placed = true;
}

void clock_read(const struct recording *recording, struct task_life life, struct dump *dump)
{
    struct dump_clock *clock = &dump->clock;

    clock_choose(recording, life, dump);
    if (clock->timing == INJECT_TIMING_KEPT) {
        clock->first = dump->index.stats.first_time;
        clock->last = dump->index.stats.last_time;
        clock->placed = true;
    } else if (clock->timing != INJECT_TIMING_UNKNOWN && clock->timing != INJECT_TIMING_IGNORED) {
        apply(recording, dump);
    }
}

static int summarize(const struct recording *recording)
{
    struct inject_summary *summary = recording->summary;

    summary->clocks = calloc(recording->dump_count + 1, sizeof(*summary->clocks));
    if (!summary->clocks)
        return -ENOMEM;
    for (size_t i = 0; i < recording->dump_count; i++) {
        const struct dump *dump = &recording->dumps[i];
        const struct dump_clock *clock = &dump->clock;
        char *path = strdup(jitdump_path(dump->file));
        if (!path)
            return -ENOMEM;
        summary->clocks[summary->clock_count++] =
            (struct inject_dump_clock){.path = path,
                                       .pid = dump->pid,
                                       .timing = clock->timing,
                                       .offset = clock->offset,
                                       .uncertainty = clock->uncertainty,
                                       .reused = clock->reused,
                                       .first_time = clock->first,
                                       .last_time = clock->last};
    }
    return 0;
}

/* What could not be placed in time stays what it was: the mapping of a file. */
static void drop_unplaced(struct recording *recording)
{
    for (size_t i = 0; i < recording->marker_count; i++) {
        struct marker *marker = &recording->markers[i];
        if (marker->dump != NO_DUMP && !recording->dumps[marker->dump].clock.placed)
            marker->dump = NO_DUMP;
    }
}

int clock_align(struct recording *recording)
{
    size_t placed = 0, unplaced = 0;

    find_announcements(recording);
    int err = clock_settle(recording);
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        struct dump *dump = &recording->dumps[i];
        if (dump->unowned)
            continue;
        if (!dump->clock.placed && dump->clock.timing != INJECT_TIMING_UNKNOWN)
            apply(recording, dump);
        placed += dump->clock.placed;
        unplaced += !dump->clock.placed;
    }
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        const struct dump *dump = &recording->dumps[i];
        if (!dump->unowned)
            clock_report(recording, dump, placed ? DIAG_WARNING : DIAG_ERROR);
    }
    drop_unplaced(recording);
    if (!err)
        err = summarize(recording);
    return !err && unplaced && !placed ? -ENOTSUP : err;
}
