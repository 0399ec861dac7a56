/* SPDX-License-Identifier: MIT */
/*
 * The features of the file form: behind the data lies a section {offset, size} for each bit that is
 * set in the header, by ascending bit, known to us or not.
 */
#include "internal.h"

#include "jitinject/io.h"

#include <errno.h>
#include <stdlib.h>

/* The bit map is an array of the writer's unsigned long, which has 4 or 8 bytes. */
static bool has_feature(const struct perfdata *data, unsigned bit)
{
    return data->header.bytes[features_byte(data, bit)] >> bit % 8 & 1;
}

size_t features_byte(const struct perfdata *data, unsigned bit)
{
    size_t byte = bit / 8;

    if (data->big_endian)
        byte ^= data->header.long_size - 1;
    return HEADER_FEATURES + byte;
}

/* As in perf: every recording has the name of its machine, in words of one size or the other. */
static void find_long_size(struct perfdata *data)
{
    data->header.long_size = 8;
    if (has_feature(data, PERFDATA_FEATURE_HOSTNAME))
        return;
    data->header.long_size = 4;
    if (!has_feature(data, PERFDATA_FEATURE_HOSTNAME))
        data->header.long_size = 8;
}

static int read_table(struct perfdata *data)
{
    uint8_t table[FEATURE_BITS * SECTION_SIZE];
    uint64_t offset = data->header.records.offset + data->header.records.size;

    find_long_size(data);
    for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
        if (has_feature(data, bit))
            data->header.features[data->header.feature_count++].bit = bit;

    size_t size = data->header.feature_count * SECTION_SIZE;
    ssize_t got = io_pread(data->fd, table, size, offset);
    if (got < 0)
        return perfdata_fail(data, (int)got, offset, "cannot read the features: %s",
                             strerror(-(int)got));
    if ((size_t)got < size)
        return perfdata_fail(data, -EBADMSG, offset,
                             "the file ends within the list of features; it is cut, copy or record "
                             "it again");
    for (size_t i = 0; i < data->header.feature_count; i++) {
        struct feature *feature = &data->header.features[i];
        feature->payload = section_at(table + i * SECTION_SIZE, data->swapped);
        if (!section_within(&feature->payload, data->file_size))
            return perfdata_fail(data, -EBADMSG, offset + i * SECTION_SIZE,
                                 "feature %u reaches past the end of the file; it is cut, copy or "
                                 "record it again",
                                 feature->bit);
    }
    return 0;
}

static bool take_arch(struct perfdata *data, const uint8_t *payload, size_t size)
{
    if (size < sizeof(uint32_t))
        return true;
    size_t length = bytes_u32(payload, data->swapped);
    if (length > size - sizeof(uint32_t))
        length = size - sizeof(uint32_t);
    free(data->arch);
    data->arch = strndup((const char *)payload + sizeof(uint32_t), length);
    return data->arch;
}

/* perf.data-file-format.txt, HEADER_CLOCK_DATA: u32 version, u32 clockid, u64 wall, u64 clock */
static void take_wall_clock(struct perfdata *data, const uint8_t *payload, size_t size)
{
    if (size < 24 || bytes_u32(payload, data->swapped) != 1)
        return;
    data->wall_clock =
        (struct perfdata_wall_clock){.present = true,
                                     .wall = bytes_u64(payload + 8, data->swapped),
                                     .clock = bytes_u64(payload + 16, data->swapped)};
}

int features_take(struct perfdata *data, uint64_t feature, const uint8_t *payload, size_t size)
{
    if (feature == PERFDATA_FEATURE_CLOCK_DATA)
        take_wall_clock(data, payload, size);
    return feature != PERFDATA_FEATURE_ARCH || take_arch(data, payload, size) ? 0 : -ENOMEM;
}

/* What is of use here is short; the name of a machine that is longer is cut and will be unknown to
 * everybody. */
static int read_payload(struct perfdata *data, const struct feature *feature)
{
    uint8_t bytes[256];
    const struct section *payload = &feature->payload;
    size_t size = payload->size < sizeof(bytes) ? payload->size : sizeof(bytes);
    ssize_t got = io_pread(data->fd, bytes, size, payload->offset);

    if (got < 0)
        return perfdata_fail(data, (int)got, payload->offset, "cannot read the features: %s",
                             strerror(-(int)got));
    return features_take(data, feature->bit, bytes, (size_t)got);
}

int features_read(struct perfdata *data)
{
    int err = read_table(data);

    for (size_t i = 0; !err && i < data->header.feature_count; i++)
        if (data->header.features[i].bit == PERFDATA_FEATURE_ARCH ||
            data->header.features[i].bit == PERFDATA_FEATURE_CLOCK_DATA)
            err = read_payload(data, &data->header.features[i]);
    return err;
}
