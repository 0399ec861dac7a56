/* SPDX-License-Identifier: MIT */
/* Reading from a second place. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

/* Records are made of words, so they begin at words of the section that they are in. */
#define WORD 8
/* The largest round of a machine with many processors, and then some. */
#define ROUND_MAX (UINT64_C(256) << 20)

static bool is_compressed(const struct perfdata *data)
{
    for (size_t i = 0; i < data->header.feature_count; i++)
        if (data->header.features[i].bit == PERFDATA_FEATURE_COMPRESSED)
            return true;
    return data->inflate;
}

int perfdata_branch(const struct perfdata *data, struct perfdata **out)
{
    const uint64_t half = perfdata_left(data) / 2;
    struct perfdata *branch;

    *out = NULL;
    /* In pipe form records change what is known of the others. */
    if (data->pipe || data->files.part_count > 1 || is_compressed(data))
        return -ENOTSUP;
    branch = malloc(sizeof(*branch));
    if (!branch)
        return -ENOMEM;
    *branch = *data;
    branch->is_branch = true;
    branch->number = 0;
    branch->payload = 0;
    const int err = source_init(&branch->source, half + WORD, NULL);
    if (err) {
        perfdata_free(branch);
        return err;
    }
    const uint64_t offset = data->source.offset + half;
    source_move(&branch->source, data->source.fd,
                offset - (offset - data->header.records.offset) % WORD, data->source.end);
    *out = branch;
    return 0;
}

uint64_t perfdata_branch_begin(struct perfdata *branch)
{
    struct source *source = &branch->source;
    uint8_t round[RECORD_HEADER];

    put_record_header(round, PERFDATA_FINISHED_ROUND, 0, sizeof(round), branch->swapped);
    const uint64_t end = source_left(source) < ROUND_MAX ? source->end : source->offset + ROUND_MAX;
    while (source->offset < end && source_need(source, WORD) == 0) {
        if (memcmp(source_bytes(source), round, sizeof(round)) == 0)
            return source->offset;
        source_skip(source, WORD);
    }
    return UINT64_MAX;
}

uint64_t perfdata_branch_join(struct perfdata *data, const struct perfdata *branch)
{
    /* Both have counted the record where they met. */
    const uint64_t first = data->number - 1;

    source_move(&data->source, data->source.fd, branch->source.offset, data->source.end);
    data->number = first + branch->number;
    return first;
}

uint64_t perfdata_left(const struct perfdata *data)
{
    return source_left(&data->source);
}
