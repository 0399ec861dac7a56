/* SPDX-License-Identifier: MIT */
/* perf_event_attr: include/uapi/linux/perf_event.h of Linux. */
#include "attrs.h"

#include "jitinject/array.h"
#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

enum {
    ATTR_TYPE = 0,
    ATTR_CONFIG = 8,
    ATTR_SAMPLE_TYPE = 24,
    ATTR_FLAGS = 40,
    ATTR_CLOCKID = 92,
};

enum {
    FLAG_MMAP = 8,
    FLAG_SAMPLE_ID_ALL = 18,
    FLAG_MMAP2 = 23,
    FLAG_USE_CLOCKID = 25,
};

#define TYPE_SOFTWARE  1
#define SOFTWARE_DUMMY 9
#define WORD           8
#define SAMPLE_ANY_ID  (SAMPLE_ID | SAMPLE_IDENTIFIER)

/*
 * The flags are a C bit field, whose first bit is the lowest of the first byte on a little endian
 * machine and the highest of the first byte on a big endian one: a matter of bits within bytes, not
 * of bytes.
 */
static uint64_t decode_flags(const uint8_t *bytes, bool big_endian)
{
    uint64_t flags = 0;

    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned mask = big_endian ? 0x80u >> bit % 8 : 1u << bit % 8;
        if (bytes[bit / 8] & mask)
            flags |= UINT64_C(1) << bit;
    }
    return flags;
}

static bool has_flag(uint64_t flags, unsigned bit)
{
    return flags >> bit & 1;
}

static struct perfdata_attr decode(const uint8_t *bytes, size_t size, bool swapped, bool big_endian)
{
    uint64_t flags = decode_flags(bytes + ATTR_FLAGS, big_endian);
    struct perfdata_attr attr = {
        .type = bytes_u32(bytes + ATTR_TYPE, swapped),
        .size = (uint32_t)size,
        .config = bytes_u64(bytes + ATTR_CONFIG, swapped),
        .sample_type = bytes_u64(bytes + ATTR_SAMPLE_TYPE, swapped),
        .flags = flags,
        .sample_id_all = has_flag(flags, FLAG_SAMPLE_ID_ALL),
        .use_clockid = has_flag(flags, FLAG_USE_CLOCKID),
        .tracks_mmap = has_flag(flags, FLAG_MMAP) || has_flag(flags, FLAG_MMAP2),
    };

    attr.takes_samples = attr.type != TYPE_SOFTWARE || attr.config != SOFTWARE_DUMMY;
    attr.takes_stacks = attr.takes_samples && attr.sample_type & SAMPLE_STACK_USER;
    if (size >= ATTR_CLOCKID + sizeof(uint32_t))
        attr.clockid = (int32_t)bytes_u32(bytes + ATTR_CLOCKID, swapped);
    return attr;
}

/* perf_event.h: the words of PERF_RECORD_SAMPLE and of struct sample_id, in their order. */
static struct layout layout_of(const struct perfdata_attr *attr)
{
    static const uint32_t head[] = {SAMPLE_IDENTIFIER, SAMPLE_IP,   SAMPLE_TID,
                                    SAMPLE_TIME,       SAMPLE_ADDR, SAMPLE_ID};
    static const uint32_t tail[] = {SAMPLE_IDENTIFIER, SAMPLE_CPU,  SAMPLE_STREAM_ID,
                                    SAMPLE_ID,         SAMPLE_TIME, SAMPLE_TID};
    struct layout layout = {0};
    uint16_t at = WORD; /* behind the record's header */

    for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++) {
        if (!(attr->sample_type & head[i]))
            continue;
        if (head[i] == SAMPLE_IP)
            layout.sample_ip = at;
        else if (head[i] == SAMPLE_TID)
            layout.sample_tid = at;
        else if (head[i] == SAMPLE_TIME)
            layout.sample_time = at;
        else if ((head[i] & SAMPLE_ANY_ID) && !layout.sample_id)
            layout.sample_id = at;
        at += WORD;
    }
    for (size_t i = 0; attr->sample_id_all && i < sizeof(tail) / sizeof(*tail); i++) {
        if (!(attr->sample_type & tail[i]))
            continue;
        layout.tail_size += WORD;
        if (tail[i] == SAMPLE_TIME)
            layout.tail_time = layout.tail_size;
        else if ((tail[i] & SAMPLE_ANY_ID) && !layout.tail_id)
            layout.tail_id = layout.tail_size;
    }
    return layout;
}

static bool same_layout(const struct layout *a, const struct layout *b)
{
    return a->sample_ip == b->sample_ip && a->sample_tid == b->sample_tid &&
           a->sample_time == b->sample_time && a->sample_id == b->sample_id &&
           a->tail_time == b->tail_time && a->tail_id == b->tail_id && a->tail_size == b->tail_size;
}

/* An id that several attrs claim is the first one's. */
static int add_ids(struct attrs *attrs, const struct perfdata_attr *attr, size_t number)
{
    int err = 0;

    for (size_t i = 0; i < attr->id_count && !err; i++)
        if (!hashmap_find(&attrs->by_id, attr->ids[i], 0))
            err = hashmap_put(&attrs->by_id, attr->ids[i], 0, number);
    return err;
}

int attrs_add(struct attrs *attrs, const uint8_t *bytes, size_t size, const uint8_t *ids,
              size_t id_count, bool swapped, bool big_endian)
{
    struct perfdata_attr attr = decode(bytes, size, swapped, big_endian);
    struct layout layout = layout_of(&attr);
    bool uniform = true;

    if (attrs->count) {
        const struct layout *first = &attrs->layouts[0];
        uniform = attrs->uniform && same_layout(first, &layout);
        if (!uniform && (!layout.sample_id || layout.sample_id != first->sample_id ||
                         layout.tail_id != first->tail_id))
            return -EINVAL;
    }
    if (!array_reserve(&attrs->list, &attrs->list_capacity, attrs->count + 1) ||
        !array_reserve(&attrs->layouts, &attrs->layouts_capacity, attrs->count + 1))
        return -ENOMEM;
    attr.ids = calloc(id_count ? id_count : 1, sizeof(*attr.ids));
    if (!attr.ids)
        return -ENOMEM;
    attr.id_count = id_count;
    for (size_t i = 0; i < id_count; i++)
        attr.ids[i] = bytes_u64(ids + i * sizeof(uint64_t), swapped);

    size_t number = attrs->count++;
    attrs->list[number] = attr;
    attrs->layouts[number] = layout;
    attrs->uniform = uniform;
    attrs->timed |= layout.sample_time > 0;
    return add_ids(attrs, &attr, number);
}

void attrs_clear(struct attrs *attrs)
{
    for (size_t i = 0; i < attrs->count; i++)
        free(attrs->list[i].ids);
    free(attrs->list);
    free(attrs->layouts);
    hashmap_clear(&attrs->by_id);
    *attrs = (struct attrs){0};
}

const struct layout *attrs_layout_of_id(const struct attrs *attrs, uint64_t id)
{
    /* Events that perf record makes up itself say 0: they are of the first. */
    if (id == 0)
        return &attrs->layouts[0];
    const uint64_t *number = hashmap_find(&attrs->by_id, id, 0);
    return number ? &attrs->layouts[*number] : NULL;
}

const struct perfdata_attr *attrs_mapping_attr(const struct attrs *attrs)
{
    for (size_t i = 0; i < attrs->count; i++)
        if (attrs->list[i].tracks_mmap && attrs->list[i].sample_id_all)
            return &attrs->list[i];
    return attrs->count ? attrs->list : NULL;
}
