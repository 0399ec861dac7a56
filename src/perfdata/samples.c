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

bool perfdata_next_samples(struct perfdata *data, struct perfdata_samples *samples)
{
    size_t available, size = 0, count = 0;
    const uint8_t *const bytes = bytes_at_hand(data, &available);

    if (data->payload) /* it comes first, and is no record */
        return false;
    for (; count < SAMPLES_AT_ONCE && available - size >= RECORD_HEADER; count++) {
        const uint8_t *record = bytes + size;
        const uint16_t record_size = bytes_u16(record + 6, data->swapped);
        if (bytes_u32(record, data->swapped) != PERFDATA_SAMPLE || record_size < RECORD_HEADER ||
            record_size > available - size ||
            !event_sample(data, record, record_size, &data->samples[count]))
            break;
        size += record_size;
    }
    *samples = (struct perfdata_samples){data->samples, count, bytes, size};
    pass_over(data, samples);
    return count > 0;
}
