/* SPDX-License-Identifier: MIT */
/* Where records keep their fields. */
#ifndef JITINJECT_PERFDATA_EVENT_H
#define JITINJECT_PERFDATA_EVENT_H

#include "internal.h"

/* As event_layout, where attrs differ: by the id that is at one place in the records of all. */
const struct layout *event_layout_by_id(const struct perfdata *data, uint32_t type,
                                        const uint8_t *bytes, size_t size);

/* Where the record keeps its fields; NULL: nobody knows. */
static inline const struct layout *event_layout(const struct perfdata *data, uint32_t type,
                                                const uint8_t *bytes, size_t size)
{
    return data->attrs.uniform ? data->attrs.layouts : event_layout_by_id(data, type, bytes, size);
}

/* The fields of a sample. False: its attr lacks one of them, or the record is too short. */
static inline bool event_sample(const struct perfdata *data, const uint8_t *bytes, size_t size,
                                struct perfdata_sample *sample)
{
    const struct layout *layout = event_layout(data, PERFDATA_SAMPLE, bytes, size);
    const bool swapped = data->swapped;

    if (!layout || !layout->sample_ip || !layout->sample_tid || !layout->sample_time)
        return false;
    /* The time is the last of the three. */
    if (layout->sample_time + sizeof(uint64_t) > size)
        return false;
    sample->ip = bytes_u64(bytes + layout->sample_ip, swapped);
    sample->pid = bytes_u32(bytes + layout->sample_tid, swapped);
    sample->tid = bytes_u32(bytes + layout->sample_tid + 4, swapped);
    sample->time = bytes_u64(bytes + layout->sample_time, swapped);
    sample->cpumode = bytes_u16(bytes + 4, swapped) & MISC_CPUMODE_MASK;
    return true;
}

#endif /* JITINJECT_PERFDATA_EVENT_H */
