/* SPDX-License-Identifier: MIT */
/* What is in a record: include/uapi/linux/perf_event.h of Linux, enum perf_event_type. */
#include "event.h"
#include "mapping.h"

#include <sys/mman.h>

enum {
    COMM_PID = 8,
    COMM_NAME = 16,
};

enum {
    TASK_PID = 8,
    TASK_PPID = 12,
    TASK_TID = 16,
    TASK_PTID = 20,
    TASK_TIME = 24,
};

const struct layout *event_layout_by_id(const struct perfdata *data, uint32_t type,
                                        const uint8_t *bytes, size_t size)
{
    const struct attrs *attrs = &data->attrs;

    if (!attrs->count)
        return NULL;

    size_t at = attrs->layouts->sample_id;
    if (type != PERFDATA_SAMPLE) {
        size_t tail = attrs->layouts->tail_id;
        if (!tail)
            return attrs->layouts;
        if (size < RECORD_HEADER + tail)
            return NULL;
        at = size - tail;
    }
    if (at + sizeof(uint64_t) > size)
        return NULL;
    return attrs_layout_of_id(attrs, bytes_u64(bytes + at, data->swapped));
}

static const struct layout *layout_of(const struct perfdata *data,
                                      const struct perfdata_record *record)
{
    return event_layout(data, record->type, record->bytes, record->size);
}

/* Where a record that is no sample has its time, in bytes; 0: nowhere. */
static size_t find_time(const struct perfdata *data, const struct perfdata_record *record)
{
    const bool is_task = record->type == PERFDATA_FORK || record->type == PERFDATA_EXIT;
    const struct layout *layout =
        record->type < PERFDATA_HEADER_ATTR ? layout_of(data, record) : NULL;

    if (!layout)
        return 0;
    if (layout->tail_time && record->size >= RECORD_HEADER + layout->tail_size)
        return record->size - layout->tail_time;
    return is_task && record->size >= TASK_TIME + sizeof(uint64_t) ? TASK_TIME : 0;
}

/* The same of a sample. */
static size_t find_sample_time(const struct perfdata *data, const struct perfdata_record *record)
{
    const struct layout *layout = layout_of(data, record);

    return layout && layout->sample_time + sizeof(uint64_t) <= record->size ? layout->sample_time
                                                                            : 0;
}

bool perfdata_is_timed(const struct perfdata *data)
{
    return data->attrs.timed;
}

/* In place of a time, where there are none. */
static uint64_t time_by_number(const struct perfdata_record *record)
{
    return record->number + 1;
}

bool perfdata_time(const struct perfdata *data, const struct perfdata_record *record,
                   uint64_t *time)
{
    if (!data->attrs.timed) {
        *time = time_by_number(record);
        return record->type < PERFDATA_HEADER_ATTR;
    }
    const size_t at =
        record->type == PERFDATA_SAMPLE ? find_sample_time(data, record) : find_time(data, record);

    if (at)
        *time = bytes_u64(record->bytes + at, data->swapped);
    return at && perfdata_is_time(*time);
}

bool perfdata_in_file_order(const struct perfdata *data)
{
    return data->attrs.count && !(data->attrs.list[0].sample_id_all && data->attrs.timed);
}

/* As event_sample_size, but for the time. */
static size_t untimed_sample_size(const struct layout *layout)
{
    return layout && layout->sample_ip && layout->sample_tid ? layout->sample_tid + sizeof(uint64_t)
                                                             : SIZE_MAX;
}

bool perfdata_sample(const struct perfdata *data, const struct perfdata_record *record,
                     struct perfdata_sample *sample)
{
    if (record->type != PERFDATA_SAMPLE)
        return false;
    const struct layout *layout = layout_of(data, record);
    const size_t size = data->attrs.timed ? event_sample_size(layout) : untimed_sample_size(layout);
    if (record->size < size)
        return false;
    event_sample(layout, record->bytes, data->swapped, sample);
    if (!data->attrs.timed)
        sample->time = time_by_number(record);
    return true;
}

static void decode_mmap2(const struct perfdata *data, const struct perfdata_record *record,
                         struct perfdata_mapping *mapping)
{
    const uint8_t *bytes = record->bytes;

    mapping->has_build_id = record->misc & MISC_BUILD_ID;
    if (!mapping->has_build_id) {
        mapping->major = bytes_u32(bytes + MMAP2_MAJOR, data->swapped);
        mapping->minor = bytes_u32(bytes + MMAP2_MINOR, data->swapped);
        mapping->inode = bytes_u64(bytes + MMAP2_INODE, data->swapped);
        mapping->inode_generation = bytes_u64(bytes + MMAP2_GENERATION, data->swapped);
    }
    mapping->prot = bytes_u32(bytes + MMAP2_PROT, data->swapped);
    mapping->flags = bytes_u32(bytes + MMAP2_FLAGS, data->swapped);
}

bool perfdata_mapping(const struct perfdata *data, const struct perfdata_record *record,
                      struct perfdata_mapping *mapping)
{
    bool two = record->type == PERFDATA_MMAP2;
    size_t name = two ? MMAP2_FILENAME : MMAP_FILENAME;
    const uint8_t *bytes = record->bytes;

    if ((!two && record->type != PERFDATA_MMAP) || record->size <= name)
        return false;
    const uint8_t *end = memchr(bytes + name, '\0', record->size - name);
    if (!end)
        return false;
    *mapping = (struct perfdata_mapping){
        .pid = bytes_u32(bytes + MAPPING_PID, data->swapped),
        .tid = bytes_u32(bytes + MAPPING_TID, data->swapped),
        .addr = bytes_u64(bytes + MAPPING_ADDR, data->swapped),
        .len = bytes_u64(bytes + MAPPING_LEN, data->swapped),
        .pgoff = bytes_u64(bytes + MAPPING_PGOFF, data->swapped),
        .is_data = record->misc & MISC_MMAP_DATA,
        .filename = (const char *)bytes + name,
        .filename_size = (size_t)(end - (bytes + name)),
    };
    /* The first form tells no more than whether it is code. */
    mapping->prot = mapping->is_data ? PROT_READ : PROT_READ | PROT_EXEC;
    if (two)
        decode_mmap2(data, record, mapping);
    return true;
}

bool perfdata_task(const struct perfdata *data, const struct perfdata_record *record,
                   struct perfdata_task *task)
{
    if ((record->type != PERFDATA_FORK && record->type != PERFDATA_EXIT) ||
        record->size < TASK_TIME)
        return false;
    task->pid = bytes_u32(record->bytes + TASK_PID, data->swapped);
    task->ppid = bytes_u32(record->bytes + TASK_PPID, data->swapped);
    task->tid = bytes_u32(record->bytes + TASK_TID, data->swapped);
    task->ptid = bytes_u32(record->bytes + TASK_PTID, data->swapped);
    task->was_there = record->type == PERFDATA_FORK && record->misc & MISC_FORK_EXEC;
    return true;
}

bool perfdata_exec(const struct perfdata *data, const struct perfdata_record *record, uint32_t *pid)
{
    if (record->type != PERFDATA_COMM || !(record->misc & MISC_COMM_EXEC) ||
        record->size < COMM_NAME)
        return false;
    *pid = bytes_u32(record->bytes + COMM_PID, data->swapped);
    return true;
}
