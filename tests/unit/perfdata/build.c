/* SPDX-License-Identifier: MIT */
#include "build.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void build_free(struct build *build)
{
    free(build->bytes);
    *build = (struct build){.big = build->big};
}

static uint8_t *grow(struct build *build, size_t size)
{
    if (build->size + size > build->capacity) {
        build->capacity = (build->size + size) * 2;
        build->bytes = realloc(build->bytes, build->capacity);
        assert_non_null(build->bytes);
    }
    uint8_t *at = build->bytes + build->size;
    build->size += size;
    return at;
}

void build_bytes(struct build *build, const void *bytes, size_t size)
{
    if (size)
        memcpy(grow(build, size), bytes, size);
}

void build_zeros(struct build *build, size_t size)
{
    if (size)
        memset(grow(build, size), 0, size);
}

static void set(struct build *build, size_t at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        build->bytes[at + i] = (uint8_t)(value >> 8 * (build->big ? width - 1 - i : i));
}

static uint64_t get(const struct build *build, size_t at, size_t width)
{
    uint64_t value = 0;

    assert_true(at + width <= build->size);
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)build->bytes[at + i] << 8 * (build->big ? width - 1 - i : i);
    return value;
}

static void put(struct build *build, uint64_t value, size_t width)
{
    build_zeros(build, width);
    set(build, build->size - width, value, width);
}

void build_u16(struct build *build, uint16_t value)
{
    put(build, value, 2);
}

void build_u32(struct build *build, uint32_t value)
{
    put(build, value, 4);
}

void build_u64(struct build *build, uint64_t value)
{
    put(build, value, 8);
}

void build_text(struct build *build, const char *text, size_t align)
{
    size_t size = strlen(text) + 1;

    build_bytes(build, text, size);
    while (size++ % align)
        build_zeros(build, 1);
}

void build_set_u16(struct build *build, size_t at, uint16_t value)
{
    set(build, at, value, 2);
}

void build_set_u64(struct build *build, size_t at, uint64_t value)
{
    set(build, at, value, 8);
}

uint16_t build_get_u16(const struct build *build, size_t at)
{
    return (uint16_t)get(build, at, 2);
}

uint32_t build_get_u32(const struct build *build, size_t at)
{
    return (uint32_t)get(build, at, 4);
}

uint64_t build_get_u64(const struct build *build, size_t at)
{
    return get(build, at, 8);
}

size_t build_record(struct build *build, uint32_t type, uint16_t misc)
{
    size_t at = build->size;

    build_u32(build, type);
    build_u16(build, misc);
    build_u16(build, 0);
    return at;
}

void build_end(struct build *build, size_t record)
{
    assert_true(build->size - record <= UINT16_MAX);
    build_set_u16(build, record + 6, (uint16_t)(build->size - record));
}

void build_attr(struct build *build, const struct build_attr *attr)
{
    uint32_t size = attr->size_unsaid ? 64 : attr->size ? attr->size : 128;
    size_t start = build->size;

    build_u32(build, attr->type);
    build_u32(build, attr->size_unsaid ? 0 : size);
    build_u64(build, attr->config);
    build_u64(build, 1000);
    build_u64(build, attr->sample_type);
    build_u64(build, 0);
    /* A bit field: the first bit is the lowest of its byte in one order, the highest in the other.
     */
    for (unsigned byte = 0; byte < 8; byte++) {
        uint8_t bits = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            if (attr->flags >> (byte * 8 + bit) & 1)
                bits |= (uint8_t)(build->big ? 128 >> bit : 1 << bit);
        build_bytes(build, &bits, 1);
    }
    build_zeros(build, size - (build->size - start));
    if (size >= 96) {
        struct build clock = {.big = build->big};
        build_u32(&clock, (uint32_t)attr->clockid);
        memcpy(build->bytes + start + 92, clock.bytes, 4);
        build_free(&clock);
    }
}

void build_pipe(struct build *build)
{
    build_u64(build, UINT64_C(0x32454c4946524550));
    build_u64(build, 16);
}

static void build_attr_section(struct build *build, const struct build_file *file, size_t header)
{
    size_t ids_at[16], attrs_at, entry = 0;

    for (size_t i = 0; i < file->attr_count; i++) {
        ids_at[i] = build->size;
        for (size_t j = 0; j < file->attrs[i].id_count; j++)
            build_u64(build, file->attrs[i].ids[j]);
    }
    attrs_at = build->size;
    for (size_t i = 0; i < file->attr_count; i++) {
        size_t start = build->size;
        build_attr(build, &file->attrs[i]);
        build_u64(build, ids_at[i]);
        build_u64(build, file->attrs[i].id_count * 8);
        entry = build->size - start;
    }
    build_set_u64(build, header + 16, entry);
    build_set_u64(build, header + 24, attrs_at);
    build_set_u64(build, header + 32, build->size - attrs_at);
}

size_t build_file(struct build *build, const struct build_file *file)
{
    size_t header = build->size, size = file->old_header ? 72 : 104, table;

    build_u64(build, UINT64_C(0x32454c4946524550));
    build_u64(build, size);
    build_zeros(build, size - 16);
    if (!file->attrs_behind)
        build_attr_section(build, file, header);
    size_t data_at = build->size;
    build_set_u64(build, header + 40, data_at);
    build_set_u64(build, header + 48, file->data->size);
    build_bytes(build, file->data->bytes, file->data->size);

    uint64_t bits[4] = {0};
    table = build->size;
    build_zeros(build, file->feature_count * 16);
    for (size_t i = 0; i < file->feature_count; i++) {
        const struct build_feature *feature = &file->features[i];
        bits[feature->bit / 64] |= UINT64_C(1) << feature->bit % 64;
        build_set_u64(build, table + i * 16, build->size);
        build_set_u64(build, table + i * 16 + 8, feature->payload->size);
        build_bytes(build, feature->payload->bytes, feature->payload->size);
    }
    for (size_t i = 0; i < 4 && !file->old_header; i++)
        build_set_u64(build, header + 72 + i * 8, bits[i]);
    if (file->attrs_behind)
        build_attr_section(build, file, header);
    return data_at;
}

static void take_report(void *context, const struct diag_report *report)
{
    struct reports *reports = context;

    reports->errors += report->severity == DIAG_ERROR;
    reports->warnings += report->severity == DIAG_WARNING;
    reports->offset = report->offset;
    snprintf(reports->text, sizeof(reports->text), "%s", report->text);
    assert_non_null(report->path);
}

struct diag reports_diag(struct reports *reports)
{
    *reports = (struct reports){0};
    return (struct diag){take_report, reports};
}

void memory_file_new(struct memory_file *file, const struct build *content)
{
    file->fd = memfd_create("perf.data", MFD_CLOEXEC);
    assert_true(file->fd >= 0);
    if (content && content->size)
        assert_int_equal(write(file->fd, content->bytes, content->size), content->size);
    snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

void memory_file_free(struct memory_file *file)
{
    close(file->fd);
}

void memory_file_read(const struct memory_file *file, struct build *build)
{
    off_t size = lseek(file->fd, 0, SEEK_END);

    assert_true(size >= 0);
    if (size)
        assert_int_equal(pread(file->fd, grow(build, (size_t)size), (size_t)size, 0), size);
}

void opened_new(struct opened *opened, const struct build *content)
{
    opened->diag = reports_diag(&opened->reports);
    memory_file_new(&opened->file, content);
    opened->err = perfdata_open(opened->file.path, NULL, &opened->diag, &opened->data);
    if (opened->err)
        assert_null(opened->data);
}

void opened_free(struct opened *opened)
{
    perfdata_free(opened->data);
    memory_file_free(&opened->file);
}

int64_t opened_pass(struct opened *opened)
{
    struct perfdata_record record;
    int64_t count = 0;
    int got;

    while ((got = perfdata_next(opened->data, &record)) > 0) {
        assert_int_equal(record.number, count);
        count++;
    }
    return got < 0 ? got : count;
}

/* What a pass over the records has seen. */
struct pass {
    uint64_t records, samples, size, at_once, hash;
    int end; /* what the last call returned */
};

static void mix(struct pass *pass, uint64_t value)
{
    pass->hash = (pass->hash ^ value) * UINT64_C(0x100000001b3);
}

static void see_sample(struct pass *pass, const struct perfdata_sample *sample)
{
    mix(pass, pass->records);
    mix(pass, sample->ip);
    mix(pass, sample->time);
    mix(pass, sample->pid);
    mix(pass, sample->tid);
    mix(pass, sample->cpumode);
    pass->samples++;
    pass->records++;
}

/* The span that is told is that of the times; 0 and ~0 are none. */
static void check_span(const struct perfdata_samples *samples)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0; i < samples->count; i++) {
        const uint64_t time = samples->list[i].time;
        if (time == 0 || time == UINT64_MAX)
            continue;
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    assert_int_equal(samples->last_time, last);
    if (last > 0)
        assert_int_equal(samples->first_time, first);
}

static struct pass make_pass(struct opened *opened, bool at_once)
{
    struct pass pass = {.end = 1};
    struct perfdata_samples samples;
    struct perfdata_record record;
    struct perfdata_sample sample;

    perfdata_rewind(opened->data);
    while (pass.end == 1) {
        if (at_once && perfdata_next_samples(opened->data, &samples)) {
            assert_true(samples.count > 0);
            check_span(&samples);
            for (size_t i = 0; i < samples.count; i++)
                see_sample(&pass, &samples.list[i]);
            pass.size += samples.size;
            pass.at_once += samples.count;
            continue;
        }
        pass.end = perfdata_next(opened->data, &record);
        if (pass.end != 1)
            break;
        assert_int_equal(record.number, pass.records);
        pass.size += record.size;
        if (perfdata_sample(opened->data, &record, &sample))
            see_sample(&pass, &sample);
        else
            pass.records++;
    }
    return pass;
}

uint64_t opened_check_samples(struct opened *opened)
{
    const struct pass single = make_pass(opened, false), several = make_pass(opened, true);

    assert_int_equal(single.end, several.end);
    assert_int_equal(single.records, several.records);
    assert_int_equal(single.samples, several.samples);
    assert_int_equal(single.size, several.size);
    assert_int_equal(single.hash, several.hash);
    perfdata_rewind(opened->data);
    return several.at_once;
}
