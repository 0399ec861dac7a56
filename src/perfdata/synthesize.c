/* SPDX-License-Identifier: MIT */
/* Records that were not in the input: mmap2 events and build-ids. */
#include "mapping.h"
#include "writer.h"

#include "jitinject/array.h"

#include <errno.h>
#include <limits.h>

/* perf.data-file-format.txt, HEADER_BUILD_ID; the size byte counts if MISC_ID_SIZE is set. */
enum {
    BUILD_ID_PID = 8,
    BUILD_ID_ID = 12,
    BUILD_ID_ID_SIZE = 32,
    BUILD_ID_FILENAME = 36,
};

#define BUILD_ID_BYTES   20
#define BUILD_ID_OF_HOST UINT32_MAX /* pid -1: not of a guest */
/* TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. */
#define TAIL_MAX 48

/* perf_event.h, struct sample_id: what a record of this attr ends with. Returns its size. */
static size_t put_tail(uint8_t *bytes, const struct perfdata_attr *attr, uint32_t pid, uint32_t tid,
                       uint64_t time, bool swapped)
{
    uint64_t id = attr->id_count ? attr->ids[0] : 0;
    uint8_t *at = bytes;

    if (!attr->sample_id_all)
        return 0;
    if (attr->sample_type & SAMPLE_TID) {
        bytes_put_u32(at, pid, swapped);
        bytes_put_u32(at + 4, tid, swapped);
        at += 8;
    }
    if (attr->sample_type & SAMPLE_TIME) {
        bytes_put_u64(at, time, swapped);
        at += 8;
    }
    if (attr->sample_type & SAMPLE_ID) {
        bytes_put_u64(at, id, swapped);
        at += 8;
    }
    if (attr->sample_type & SAMPLE_STREAM_ID) {
        bytes_put_u64(at, id, swapped);
        at += 8;
    }
    if (attr->sample_type & SAMPLE_CPU) {
        memset(at, 0, 8);
        at += 8;
    }
    if (attr->sample_type & SAMPLE_IDENTIFIER) {
        bytes_put_u64(at, id, swapped);
        at += 8;
    }
    return (size_t)(at - bytes);
}

int perfdata_write_mapping(struct perfdata_writer *writer, const struct perfdata_mapping *mapping,
                           uint64_t time)
{
    const struct perfdata_attr *attr = writer->mapping_attr;
    bool swapped = writer->data->swapped;
    uint8_t bytes[MMAP2_FILENAME + PATH_MAX + TAIL_MAX]; /* written as far as it is used */
    const size_t filename_size = (size_t)bytes_align_up(mapping->filename_size + 1, 8);

    if (mapping->filename_size >= PATH_MAX)
        return -ENAMETOOLONG;
    bytes_put_u32(bytes + MAPPING_PID, mapping->pid, swapped);
    bytes_put_u32(bytes + MAPPING_TID, mapping->tid, swapped);
    bytes_put_u64(bytes + MAPPING_ADDR, mapping->addr, swapped);
    bytes_put_u64(bytes + MAPPING_LEN, mapping->len, swapped);
    bytes_put_u64(bytes + MAPPING_PGOFF, mapping->pgoff, swapped);
    bytes_put_u32(bytes + MMAP2_MAJOR, mapping->major, swapped);
    bytes_put_u32(bytes + MMAP2_MINOR, mapping->minor, swapped);
    bytes_put_u64(bytes + MMAP2_INODE, mapping->inode, swapped);
    bytes_put_u64(bytes + MMAP2_GENERATION, mapping->inode_generation, swapped);
    bytes_put_u32(bytes + MMAP2_PROT, mapping->prot, swapped);
    bytes_put_u32(bytes + MMAP2_FLAGS, mapping->flags, swapped);
    memcpy(bytes + MMAP2_FILENAME, mapping->filename, mapping->filename_size);
    memset(bytes + MMAP2_FILENAME + mapping->filename_size, 0,
           filename_size - mapping->filename_size);

    size_t size = MMAP2_FILENAME + filename_size;
    if (attr)
        size += put_tail(bytes + size, attr, mapping->pid, mapping->tid, time, swapped);
    put_record_header(bytes, PERFDATA_MMAP2, PERFDATA_CPUMODE_USER, size, swapped);
    writer_append(writer, bytes, size);
    return writer->err;
}

int perfdata_write_build_id(struct perfdata_writer *writer, const uint8_t id[20],
                            const char *filename)
{
    bool swapped = writer->data->swapped;
    size_t length = strlen(filename);
    uint8_t bytes[BUILD_ID_FILENAME + PATH_MAX + 8] = {0};

    if (length >= PATH_MAX)
        return -ENAMETOOLONG;
    /* perf 7.2 takes no record of another size than a multiple of 8. */
    size_t size = bytes_align_up(BUILD_ID_FILENAME + length + 1, 8);
    put_record_header(bytes, PERFDATA_BUILD_ID, PERFDATA_CPUMODE_USER | MISC_ID_SIZE, size,
                      swapped);
    bytes_put_u32(bytes + BUILD_ID_PID, BUILD_ID_OF_HOST, swapped);
    memcpy(bytes + BUILD_ID_ID, id, BUILD_ID_BYTES);
    bytes[BUILD_ID_ID_SIZE] = BUILD_ID_BYTES;
    memcpy(bytes + BUILD_ID_FILENAME, filename, length);

    if (writer->pipe) {
        writer_append(writer, bytes, size);
        return writer->err;
    }
    if (!array_reserve(&writer->build_ids, &writer->build_ids_capacity,
                       writer->build_ids_size + size))
        return -ENOMEM;
    memcpy(writer->build_ids + writer->build_ids_size, bytes, size);
    writer->build_ids_size += size;
    return 0;
}
