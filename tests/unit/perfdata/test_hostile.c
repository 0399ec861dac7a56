/* SPDX-License-Identifier: MIT */
/*
 * Damaged files of every kind: an error that is reported, or a copy that reads as the input did;
 * never a crash (the sanitizers watch).
 */
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ROUNDS 1000

static const struct build_attr attrs[] = {
    {.sample_type = IP | TID | TIME | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2,
     .ids = {101, 102},
     .id_count = 2},
    {.sample_type = TIME | CPU | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {201},
     .id_count = 1},
};

static void put_events(struct build *out)
{
    for (uint64_t i = 0; i < 4; i++) {
        size_t record = build_record(out, i ? 9 : 10, 2);
        if (i) {
            build_u64(out, i == 2 ? 201 : 101);
            build_u64(out, 0x1000);
            build_u64(out, 7);
            build_u64(out, 1000 + i);
        } else {
            build_zeros(out, 64);
            build_text(out, "/lib/x.so", 8);
            build_u64(out, 7);
            build_u64(out, 1000);
            build_u64(out, 101);
        }
        build_end(out, record);
    }
}

static void put_compressed(struct build *out, uint32_t type)
{
    struct build plain = {.big = out->big};
    uint8_t packed[4096];

    put_events(&plain);
    size_t size = ZSTD_compress(packed, sizeof(packed), plain.bytes, plain.size, 1);
    assert_false(ZSTD_isError(size));
    size_t record = build_record(out, type, 0);
    if (type == 83)
        build_u64(out, size);
    build_bytes(out, packed, size);
    if (type == 83)
        build_zeros(out, -size % 8);
    build_end(out, record);
    build_free(&plain);
}

static void put_records(struct build *out)
{
    size_t record = build_record(out, 79, 0);
    build_zeros(out, 48);
    build_end(out, record);
    put_events(out);
    record = build_record(out, 71, 0);
    build_u64(out, 24);
    build_zeros(out, 32);
    build_end(out, record);
    build_zeros(out, 24);
    put_compressed(out, 81);
    put_compressed(out, 83);
    build_end(out, build_record(out, 68, 0));
}

static void file_form(struct build *out, bool behind)
{
    struct build data = {.big = out->big}, arch = {.big = out->big}, index = {.big = out->big};
    const struct build_feature features[] = {{6, &arch}, {18, &index}, {77, &arch}};
    const struct build_file file = {attrs, 2, &data, features, 3, behind, false};

    put_records(&data);
    build_u32(&arch, 8);
    build_text(&arch, "x86_64", 8);
    build_u64(&index, 1);
    build_u64(&index, 104 + 24 + 288 + 56 + 4 * 40 + 80);
    build_u64(&index, 48);
    build_file(out, &file);
    build_free(&data);
    build_free(&arch);
    build_free(&index);
}

static void pipe_form(struct build *out)
{
    build_pipe(out);
    for (size_t i = 0; i < 2; i++) {
        size_t record = build_record(out, 64, 0);
        build_attr(out, &attrs[i]);
        for (size_t j = 0; j < attrs[i].id_count; j++)
            build_u64(out, attrs[i].ids[j]);
        build_end(out, record);
    }
    size_t record = build_record(out, 80, 0);
    build_u64(out, 6);
    build_u32(out, 8);
    build_text(out, "x86_64", 8);
    build_end(out, record);
    put_records(out);
}

/* Features of the pipe form that the copy has not. */
static bool is_dropped(const struct build *content, const struct perfdata_record *record)
{
    if (record->type != 80 || record->size < 16)
        return false;
    struct build body = {
        .bytes = (uint8_t *)(uintptr_t)record->bytes, .size = record->size, .big = content->big};
    uint64_t feature = build_get_u64(&body, 8);
    return feature == 24 || feature == 27;
}

/* Copies all, with one event before each tenth record; returns how many records the copy has. */
static int64_t copy(struct opened *opened, const struct build *content, int fd)
{
    const struct perfdata_mapping mapping = {.filename = "jit.so", .filename_size = 6};
    const uint8_t id[20] = {1};
    struct perfdata_writer *writer;
    struct perfdata_record record;
    struct perfdata_mapping decoded;
    struct perfdata_sample sample;
    struct perfdata_task task;
    uint64_t time;
    int64_t count = 0;

    assert_int_equal(perfdata_writer_new(opened->data, PERFDATA_FORM_OF_INPUT, fd, &writer), 0);
    perfdata_rewind(opened->data);
    while (perfdata_next(opened->data, &record) == 1) {
        perfdata_time(opened->data, &record, &time);
        perfdata_sample(opened->data, &record, &sample);
        perfdata_task(opened->data, &record, &task);
        if (perfdata_mapping(opened->data, &record, &decoded))
            assert_int_equal(strlen(decoded.filename), decoded.filename_size);
        if (record.number % 10 == 3) {
            assert_int_equal(perfdata_write_mapping(writer, &mapping, 1), 0);
            count++;
        }
        count += !is_dropped(content, &record);
        assert_int_equal(perfdata_keep(writer, &record), 0);
    }
    if (build_get_u64(content, 8) != 16)
        assert_int_equal(perfdata_write_build_id(writer, id, "jit.so"), 0);
    assert_int_equal(perfdata_writer_finish(writer), 0);
    perfdata_writer_free(writer);
    return count;
}

/* True if the file was read. */
static bool try(const struct build *content)
{
    struct opened opened, again;
    bool read = false;

    opened_new(&opened, content);
    if (opened.err == 0 && opened_pass(&opened) >= 0) {
        struct build result = {.big = content->big};
        struct memory_file out;

        opened_check_samples(&opened);
        memory_file_new(&out, NULL);
        int64_t count = copy(&opened, content, out.fd);
        memory_file_read(&out, &result);
        opened_new(&again, &result);
        if (count) { /* no data at all is an error in the file form */
            assert_int_equal(again.err, 0);
            assert_int_equal(opened_pass(&again), count);
            read = true;
        }
        opened_free(&again);
        memory_file_free(&out);
        build_free(&result);
    } else {
        assert_int_equal(opened.reports.errors, 1);
        if (opened.err == 0)
            opened_check_samples(&opened);
    }
    opened_free(&opened);
    return read;
}

static const struct {
    bool pipe, big, behind;
} forms[] = {{false, false, false},
             {false, true, false},
             {false, false, true},
             {true, false, false},
             {true, true, false}};

static void make(struct build *out, size_t form)
{
    out->big = forms[form].big;
    if (forms[form].pipe)
        pipe_form(out);
    else
        file_form(out, forms[form].behind);
}

#define FORMS (sizeof(forms) / sizeof(*forms))

static void undamaged(void **state)
{
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        struct build content = {0};
        make(&content, form);
        assert_true(try(&content));
        build_free(&content);
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        struct build content = {0};
        make(&content, form);
        for (size_t size = 0; size < content.size; size++) {
            struct build cut = {.big = content.big};
            build_bytes(&cut, content.bytes, size);
            assert_true(!try(&cut) || forms[form].pipe);
            build_free(&cut);
        }
        build_free(&content);
    }
}

static void changed_bytes(void **state)
{
    unsigned seed = 20240229, read = 0, refused = 0;

    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        struct build content = {0};
        make(&content, form);
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct build damaged = {.big = content.big};
            build_bytes(&damaged, content.bytes, content.size);
            for (int changes = 1 + rand_r(&seed) % 3; changes > 0; changes--) {
                static const uint8_t values[] = {0, 1, 7, 8, 16, 0x7f, 0x80, 0xff};
                size_t at = (size_t)rand_r(&seed) % damaged.size;
                if (rand_r(&seed) % 2)
                    damaged.bytes[at] = values[rand_r(&seed) % 8];
                else
                    damaged.bytes[at] ^= (uint8_t)(1 << rand_r(&seed) % 8);
            }
            if (try(&damaged))
                read++;
            else
                refused++;
            build_free(&damaged);
        }
        build_free(&content);
    }
    /* Neither would say much alone. */
    assert_true(read > ROUNDS / 10 && refused > ROUNDS / 10);
}

/* Numbers of the header and the tables, one after another, with the values that hurt. */
static void changed_numbers(void **state)
{
    enum { COUNT = 14 };
    static const uint64_t values[COUNT] = {0,
                                           1,
                                           7,
                                           8,
                                           16,
                                           104,
                                           INT32_MAX,
                                           UINT32_MAX,
                                           INT64_MAX,
                                           UINT64_MAX,
                                           UINT64_MAX - 7,
                                           UINT64_MAX - 103,
                                           INT64_MIN,
                                           1u << 20};

    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        struct build content = {0};
        make(&content, form);
        for (size_t at = 8; at + 8 <= content.size; at += 8) {
            uint64_t kept = build_get_u64(&content, at);
            for (size_t i = 0; i < COUNT; i += 3) {
                build_set_u64(&content, at, values[(at / 8 + i) % COUNT]);
                try(&content);
            }
            for (int delta = -8; delta <= 8; delta += 8) {
                build_set_u64(&content, at, kept + (uint64_t)delta);
                try(&content);
            }
            build_set_u64(&content, at, kept);
        }
        build_free(&content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undamaged),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(changed_bytes),
        cmocka_unit_test(changed_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
