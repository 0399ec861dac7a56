/* SPDX-License-Identifier: MIT */
/* Samples, many at once. */
#include "event.h"

/* What lies whole in the buffer. */
static const uint8_t *bytes_at_hand(const struct perfdata *data, size_t *size)
{
    if (data->inflate)
        return inflate_bytes(data->inflate, size);
    *size = source_available(&data->source);
    return source_bytes(&data->source);
}

static void pass_over(struct perfdata *data, const struct perfdata_samples *samples)
{
    if (data->inflate)
        inflate_take(data->inflate, samples->size);
    else
        source_skip(&data->source, samples->size);
    data->number += samples->count;
}

/*
 * The least and the greatest of many times. What stands for none, 0 and ~0, wraps around and is
 * neither, so that no sample needs a branch.
 */
struct span {
    uint64_t before, after; /* the least less 1, the greatest and 1 */
};

static inline void span_add(struct span *span, uint64_t time)
{
    span->before = time - 1 < span->before ? time - 1 : span->before;
    span->after = time + 1 > span->after ? time + 1 : span->after;
}

/* What the samples at samples->bytes hold, and how many bytes they take. */
static inline void decode(struct perfdata *data, struct perfdata_samples *samples, size_t available,
                          bool swapped)
{
    const bool uniform = data->attrs.uniform;
    struct perfdata_sample *sample = data->samples, *const end = sample + SAMPLES_AT_ONCE;
    /* A copy, since the compiler cannot know that the samples do not lie in it. */
    struct layout layout = uniform ? *data->attrs.layouts : (struct layout){0};
    size_t least = event_sample_size(&layout);
    struct span span = {UINT64_MAX - 1, 1};
    const uint8_t *record = samples->bytes;

    for (; sample < end && available >= RECORD_HEADER; sample++) {
        const size_t size = bytes_u16(record + 6, swapped);
        if (bytes_u32(record, swapped) != PERFDATA_SAMPLE || size > available)
            break;
        if (!uniform) {
            const struct layout *own = event_layout_by_id(data, PERFDATA_SAMPLE, record, size);
            layout = own ? *own : (struct layout){0};
            least = event_sample_size(&layout);
        }
        if (size < least)
            break;
        event_sample(&layout, record, swapped, sample);
        span_add(&span, sample->time);
        record += size;
        available -= size;
    }
    samples->count = (size_t)(sample - data->samples);
    samples->size = (size_t)(record - samples->bytes);
    samples->first_time = span.before + 1;
    samples->last_time = span.after - 1;
}

bool perfdata_next_samples(struct perfdata *data, struct perfdata_samples *samples)
{
    size_t available;

    if (data->payload) /* it comes first, and is no record */
        return false;
    samples->list = data->samples;
    samples->bytes = bytes_at_hand(data, &available);
    /* There is a loop for either byte order. */
    if (data->swapped)
        decode(data, samples, available, true);
    else
        decode(data, samples, available, false);
    pass_over(data, samples);
    return samples->count > 0;
}
