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

/* What the samples at `bytes` hold, and how many bytes they take. */
static inline size_t decode(struct perfdata *data, const uint8_t *bytes, size_t available,
                            bool swapped, size_t *count)
{
    const bool uniform = data->attrs.uniform;
    struct perfdata_sample *sample = data->samples, *const end = sample + SAMPLES_AT_ONCE;
    /* A copy, since the compiler cannot know that the samples do not lie in it. */
    struct layout layout = uniform ? *data->attrs.layouts : (struct layout){0};
    size_t least = event_sample_size(&layout);
    const uint8_t *record = bytes;

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
        record += size;
        available -= size;
    }
    *count = (size_t)(sample - data->samples);
    return (size_t)(record - bytes);
}

bool perfdata_next_samples(struct perfdata *data, struct perfdata_samples *samples)
{
    size_t available;

    if (data->payload) /* it comes first, and is no record */
        return false;
    samples->list = data->samples;
    samples->bytes = bytes_at_hand(data, &available);
    /* There is a loop for either byte order. */
    samples->size = data->swapped ? decode(data, samples->bytes, available, true, &samples->count)
                                  : decode(data, samples->bytes, available, false, &samples->count);
    pass_over(data, samples);
    return samples->count > 0;
}
