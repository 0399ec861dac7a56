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

/* How large a sample has to be that it has all its fields; none is so large where its attr lacks
 * one of them. */
static inline size_t event_sample_size(const struct layout *layout)
{
    if (!layout || !layout->sample_ip || !layout->sample_tid || !layout->sample_time)
        return SIZE_MAX;
    /* The time is the last of the three. */
    return layout->sample_time + sizeof(uint64_t);
}

/* The fields of a sample of at least event_sample_size() bytes. */
static inline void event_sample(const struct layout *layout, const uint8_t *bytes, bool swapped,
                                struct perfdata_sample *sample)
{
    sample->ip = bytes_u64(bytes + layout->sample_ip, swapped);
    sample->pid = bytes_u32(bytes + layout->sample_tid, swapped);
    sample->tid = bytes_u32(bytes + layout->sample_tid + 4, swapped);
    sample->time = bytes_u64(bytes + layout->sample_time, swapped);
    sample->cpumode = bytes_u16(bytes + 4, swapped) & MISC_CPUMODE_MASK;
}

#endif /* JITINJECT_PERFDATA_EVENT_H */
