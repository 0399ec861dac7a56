/* SPDX-License-Identifier: MIT */
#include "clock_unknown.h"

#include <errno.h>
#include <stdlib.h>

/* ns between the bounds of an offset that is good enough: some samples at 100 Hz, on a busy
 * machine. */
#define UNCERTAINTY_MAX 50000000

struct codes {
    struct code **codes;
    uint64_t *starts;
    size_t count;
};

uint64_t clock_start(const struct recording *recording, const struct dump *dump, uint32_t pid)
{
    const uint64_t forked = pid == dump->pid ? 0 : place_fork_time(recording->place, pid);

    return forked > dump->announced ? forked : dump->announced;
}

static void codes_clear(struct codes *codes)
{
    free(codes->codes);
    free(codes->starts);
}

static bool may_shift(const struct dump *dump)
{
    return dump->clock.timing == INJECT_TIMING_UNKNOWN && dump->clock.may_shift && !dump->unowned;
}

/* The code of all dumps, or of those whose times may be shifted. */
static int codes_collect(const struct recording *recording, bool all, struct codes *codes)
{
    size_t count = 0;

    *codes = (struct codes){0};
    for (size_t i = 0; i < recording->dump_count; i++)
        count += recording->dumps[i].index.count;
    codes->codes = malloc((count + 1) * sizeof(*codes->codes));
    codes->starts = malloc((count + 1) * sizeof(*codes->starts));
    if (!codes->codes || !codes->starts)
        return -ENOMEM;
    for (size_t i = 0; i < recording->dump_count; i++) {
        const struct dump *dump = &recording->dumps[i];
        if (all ? dump->unowned : !may_shift(dump))
            continue;
        for (size_t n = 0; n < dump->index.count; n++) {
            struct code *code = jitdump_index_code(&dump->index, n);
            codes->codes[codes->count] = code;
            codes->starts[codes->count++] = clock_start(recording, dump, code->pid);
        }
    }
    return 0;
}

/* Where no address needs a time, none is given. */
static int ignore_times(struct recording *recording)
{
    struct codes codes;
    int err = codes_collect(recording, true, &codes);

    if (!err)
        err = place_mark_reused(recording->place, codes.codes, codes.starts, codes.count);
    codes_clear(&codes);
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        struct dump *dump = &recording->dumps[i];
        bool is_reused = false;
        for (size_t n = 0; n < dump->index.count && !is_reused; n++)
            is_reused = jitdump_index_code(&dump->index, n)->flags & CODE_REUSED;
        if (dump->clock.timing == INJECT_TIMING_UNKNOWN && dump->clock.may_ignore && !is_reused)
            dump->clock.timing = INJECT_TIMING_IGNORED;
    }
    return err;
}

static int take_samples(struct recording *recording, struct place_fit *fit)
{
    struct perfdata_record record;
    struct perfdata_sample sample;
    int got, err = 0;

    perfdata_rewind(recording->data);
    while (!err && (got = perfdata_next(recording->data, &record)) != 0) {
        if (got < 0)
            err = got;
        else if (perfdata_sample(recording->data, &record, &sample) &&
                 sample.cpumode == PERFDATA_CPUMODE_USER)
            place_fit_sample(fit, sample.pid, sample.ip, sample.time);
    }
    return err;
}

/*
 * The lower bound is the closer one: memory is mapped right before there is code in it, while a
 * sample is a matter of chance. It may be the higher one by a little, where records are stamped
 * after the code began to run.
 */
static void take_bounds(struct dump *dump, struct place_bounds bounds)
{
    const int64_t announced = (int64_t)(dump->announced - dump->index.stats.first_time);

    if (dump->announced > 0 && (!bounds.has_low || announced > bounds.low)) {
        bounds.low = announced;
        bounds.has_low = true;
    }
    if (!bounds.has_low || !bounds.has_high)
        return;
    const uint64_t apart = bounds.low > bounds.high ? (uint64_t)bounds.low - (uint64_t)bounds.high
                                                    : (uint64_t)bounds.high - (uint64_t)bounds.low;
    if (apart > UNCERTAINTY_MAX)
        return;
    dump->clock.timing = INJECT_TIMING_SHIFTED;
    dump->clock.offset = bounds.low;
    dump->clock.uncertainty = apart;
}

static int fit_offsets(struct recording *recording)
{
    struct place_fit *fit = NULL;
    struct codes codes;
    int err = codes_collect(recording, false, &codes);

    if (!err && codes.count > 0) {
        err = place_fit_new(recording->place, codes.codes, codes.count, &fit);
        if (!err)
            err = take_samples(recording, fit);
        for (size_t i = 0; i < recording->dump_count && !err; i++)
            if (may_shift(&recording->dumps[i]))
                take_bounds(&recording->dumps[i], place_fit_bounds(fit, (uint16_t)i));
    }
    place_fit_free(fit);
    codes_clear(&codes);
    return err;
}

int clock_settle(struct recording *recording)
{
    bool is_needed = false;
    int err = 0;

    for (size_t i = 0; i < recording->dump_count; i++)
        is_needed |= !recording->dumps[i].unowned && !recording->dumps[i].clock.placed;
    if (is_needed)
        err = ignore_times(recording);
    if (is_needed && !err)
        err = fit_offsets(recording);
    return err;
}
