/* SPDX-License-Identifier: MIT */
/* The events of a recording, and where their records keep time, address and ids. */
#ifndef JITINJECT_PERFDATA_ATTRS_H
#define JITINJECT_PERFDATA_ATTRS_H

#include "jitinject/hashmap.h"
#include "jitinject/perfdata.h"

/* PERF_SAMPLE_* of perf_event.h, as far as they decide where something is. */
enum sample_bit {
    SAMPLE_IP = 1u << 0,
    SAMPLE_TID = 1u << 1,
    SAMPLE_TIME = 1u << 2,
    SAMPLE_ADDR = 1u << 3,
    SAMPLE_ID = 1u << 6,
    SAMPLE_CPU = 1u << 7,
    SAMPLE_STREAM_ID = 1u << 9,
    SAMPLE_STACK_USER = 1u << 13,
    SAMPLE_IDENTIFIER = 1u << 16,
};

/* PERF_ATTR_SIZE_VER0; also meant where an attr says that its size is 0. */
#define ATTR_SIZE_MIN 64

/*
 * Positions in the records of one attr, in bytes; 0 is "not there". Those in a sample count from
 * its start, those of other records (in the sample id at their end) from the end.
 */
struct layout {
    uint16_t sample_ip, sample_tid, sample_time, sample_id;
    uint16_t tail_time, tail_id, tail_size;
};

struct attrs {
    struct perfdata_attr *list;
    struct layout *layouts; /* one for each */
    size_t count, list_capacity, layouts_capacity;
    bool timed;   /* samples of one of them, at least, have a time */
    bool uniform; /* all layouts are the same: nobody needs to know which attr a record is of */
    struct hashmap by_id; /* id to the number of its attr */
};

/*
 * Appends an attr; `bytes` are its `size` bytes as found (size >= ATTR_SIZE_MIN), `ids` the
 * `id_count` ids as found. -ENOMEM, or -EINVAL: its records are unlike those of the others in where
 * they keep the id, so that nobody could tell which is which.
 */
int attrs_add(struct attrs *attrs, const uint8_t *bytes, size_t size, const uint8_t *ids,
              size_t id_count, bool swapped, bool big_endian);
void attrs_clear(struct attrs *attrs);

/* The layout of the attr that has the id; NULL: none has. */
const struct layout *attrs_layout_of_id(const struct attrs *attrs, uint64_t id);

/* The attr whose mapping events count: the first one that tracks them, or else the first one; NULL
 * where there is none at all. Looks at all. */
const struct perfdata_attr *attrs_mapping_attr(const struct attrs *attrs);

#endif /* JITINJECT_PERFDATA_ATTRS_H */
