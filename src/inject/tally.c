/* SPDX-License-Identifier: MIT */
#include "tally.h"

/* `time` is one of a sample. */
static void note_time(struct tally *tally, uint64_t time)
{
    if (!tally->timed || time < tally->first_time)
        tally->first_time = time;
    if (time > tally->last_time)
        tally->last_time = time;
    tally->timed = true;
}

static int note_process(struct tally *tally, uint32_t pid)
{
    const uint64_t end = pid + UINT64_C(1);

    if (!tally->with_processes || rangemap_overlaps(&tally->processes, pid, end))
        return 0;
    return rangemap_set(&tally->processes, pid, end, 0, 0);
}

int tally_samples(struct tally *tally, const struct perfdata_samples *samples)
{
    int err = 0;

    tally->samples += samples->count;
    if (samples->last_time > 0) {
        note_time(tally, samples->first_time);
        note_time(tally, samples->last_time);
    }
    for (size_t i = 0; i < samples->count && tally->with_processes && !err; i++)
        err = note_process(tally, samples->list[i].pid);
    return err;
}

int tally_record(struct tally *tally, const struct perfdata *data,
                 const struct perfdata_record *record)
{
    struct perfdata_sample sample;
    uint64_t time;

    tally->samples++;
    if (perfdata_is_timed(data) && perfdata_time(data, record, &time))
        note_time(tally, time);
    return perfdata_sample(data, record, &sample) ? note_process(tally, sample.pid) : 0;
}

int tally_add(struct tally *tally, const struct tally *other)
{
    struct rangemap_at at = rangemap_find(&other->processes, 0);
    const struct range *range;
    int err = 0;

    tally->samples += other->samples;
    if (other->timed) {
        note_time(tally, other->first_time);
        note_time(tally, other->last_time);
    }
    /* Neighbours have become one range. */
    for (; !err && (range = rangemap_get(&other->processes, at));
         rangemap_next(&other->processes, &at))
        err = rangemap_set(&tally->processes, range->start, range->end, 0, 0);
    return err;
}

void tally_clear(struct tally *tally)
{
    rangemap_clear(&tally->processes);
}
