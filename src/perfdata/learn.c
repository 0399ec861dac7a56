/* SPDX-License-Identifier: MIT */
/*
 * Records that describe the recording. In pipe form the attrs and features come as records; the
 * conversion of timestamps is a record in either form.
 */
#include "internal.h"

#include <errno.h>

enum {
    FEATURE_ID = 8,
    FEATURE_PAYLOAD = 16,
};

/* perf_event.h of libperf: struct perf_record_time_conv; the part from CYCLES on came later. */
enum {
    TIME_CONV_SHIFT = 8,
    TIME_CONV_MULT = 16,
    TIME_CONV_ZERO = 24,
    TIME_CONV_CYCLES = 32,
    TIME_CONV_MASK = 40,
    TIME_CONV_CAP_ZERO = 48,
    TIME_CONV_CAP_SHORT = 49,
    TIME_CONV_END = 50,
};

static int learn_attr(struct perfdata *data, const struct perfdata_record *record)
{
    const uint8_t *bytes = record->bytes + RECORD_HEADER;
    size_t size = record->size - RECORD_HEADER;
    size_t attr = size < ATTR_SIZE_MIN ? 0 : bytes_u32(bytes + 4, data->swapped);

    if (attr == 0)
        attr = ATTR_SIZE_MIN;
    if (attr < ATTR_SIZE_MIN || attr > size)
        return perfdata_fail(data, -EBADMSG, record->offset,
                             "a record that describes an event is too short; the file is damaged");
    return header_add_attr(data, bytes, attr, bytes + attr, (size - attr) / sizeof(uint64_t),
                           record->offset);
}

static int learn_feature(struct perfdata *data, const struct perfdata_record *record)
{
    if (record->size < FEATURE_PAYLOAD)
        return 0;
    return features_take(data, bytes_u64(record->bytes + FEATURE_ID, data->swapped),
                         record->bytes + FEATURE_PAYLOAD, record->size - FEATURE_PAYLOAD);
}

static void learn_time_conv(struct perfdata *data, const struct perfdata_record *record)
{
    const uint8_t *bytes = record->bytes;
    bool swapped = data->swapped;

    if (record->size < TIME_CONV_CYCLES)
        return;
    struct perfdata_time_conv conv = {
        .shift = bytes_u64(bytes + TIME_CONV_SHIFT, swapped),
        .mult = bytes_u64(bytes + TIME_CONV_MULT, swapped),
        .zero = bytes_u64(bytes + TIME_CONV_ZERO, swapped),
        .cap_time_zero = true,
    };
    if (record->size >= TIME_CONV_END) {
        conv.cycles = bytes_u64(bytes + TIME_CONV_CYCLES, swapped);
        conv.mask = bytes_u64(bytes + TIME_CONV_MASK, swapped);
        conv.cap_time_zero = bytes[TIME_CONV_CAP_ZERO];
        conv.cap_time_short = bytes[TIME_CONV_CAP_SHORT];
    }
    /* A machine without such a clock leaves zeros. */
    conv.present = conv.mult != 0 && conv.shift < 64;
    data->time_conv = conv;
}

int learn_record(struct perfdata *data, const struct perfdata_record *record)
{
    switch (record->type) {
    case PERFDATA_HEADER_ATTR:
        return data->pipe ? learn_attr(data, record) : 0;
    case PERFDATA_HEADER_FEATURE:
        return data->pipe ? learn_feature(data, record) : 0;
    case PERFDATA_TIME_CONV:
        learn_time_conv(data, record);
        return 0;
    default:
        return 0;
    }
}

const struct perfdata_wall_clock *perfdata_wall_clock(const struct perfdata *data)
{
    return &data->wall_clock;
}

const struct perfdata_time_conv *perfdata_time_conversion(const struct perfdata *data)
{
    return &data->time_conv;
}

/* perf_event.h, the comment on cap_user_time_zero in struct perf_event_mmap_page. */
uint64_t perfdata_time_from_arch(const struct perfdata_time_conv *conv, uint64_t cycles)
{
    if (!conv->present || !conv->cap_time_zero)
        return 0;
    if (conv->cap_time_short)
        cycles = conv->cycles + ((cycles - conv->cycles) & conv->mask);
    uint64_t whole = cycles >> conv->shift;
    uint64_t rest = cycles & ((UINT64_C(1) << conv->shift) - 1);
    return conv->zero + whole * conv->mult + ((rest * conv->mult) >> conv->shift);
}
