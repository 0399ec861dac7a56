/* SPDX-License-Identifier: MIT */
/* Writing an input in file form as a stream: what lay around the data becomes records before it. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct build_attr attrs[] = {
    {.sample_type = IP | TID | TIME | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {101, 102},
     .id_count = 2},
    {.type = 1,
     .config = 9,
     .sample_type = IP | TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2,
     .ids = {201},
     .id_count = 1},
};

static void put_attr(struct build *out, const struct build_attr *attr)
{
    size_t record = build_record(out, 64, 0);

    build_attr(out, attr);
    for (size_t i = 0; i < attr->id_count; i++)
        build_u64(out, attr->ids[i]);
    build_end(out, record);
}

static void put_feature(struct build *out, uint64_t bit, const struct build *payload)
{
    size_t record = build_record(out, 80, 0);

    build_u64(out, bit);
    build_bytes(out, payload->bytes, payload->size);
    build_end(out, record);
}

/* A build-id, as a row of the feature or, with `padding`, as a record. */
static void put_build_id(struct build *out, uint32_t type, const char *name, size_t align,
                         size_t padding)
{
    size_t record = build_record(out, type, 2 | 1 << 15);

    build_u32(out, UINT32_MAX);
    for (uint8_t i = 0; i < 20; i++)
        build_bytes(out, &i, 1);
    build_u32(out, 20);
    build_text(out, name, align);
    build_zeros(out, padding);
    build_end(out, record);
}

static void put_records(struct build *out)
{
    size_t record = build_record(out, 3, 0);

    build_u64(out, 1);
    build_text(out, "sh", 8);
    build_u64(out, 5);
    build_u64(out, 101);
    build_end(out, record);
    build_end(out, build_record(out, 68, 0));
}

/* The stream that is made of a file, every record of it kept; the reports of that in `reports`. */
static int convert(const struct build *content, struct build *stream, struct reports *reports)
{
    struct opened opened;
    struct perfdata_writer *writer;
    struct perfdata_record record;
    uint64_t size = 0;
    int ends[2];

    opened_new(&opened, content);
    assert_int_equal(opened.err, 0);
    assert_true(opened_pass(&opened) >= 0);
    perfdata_rewind(opened.data);
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20); /* nobody reads meanwhile */
    int err = perfdata_writer_new(opened.data, PERFDATA_FORM_PIPE, ends[1], &writer);
    while (!err && perfdata_next(opened.data, &record) == 1)
        err = perfdata_keep(writer, &record);
    if (!err) {
        assert_true(perfdata_writer_is_pipe(writer));
        err = perfdata_writer_finish(writer);
        size = perfdata_writer_size(writer);
        perfdata_writer_free(writer);
    }
    close(ends[1]);
    uint8_t bytes[4096];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof(bytes))) > 0;)
        build_bytes(stream, bytes, (size_t)got);
    close(ends[0]);
    assert_true(err || size == stream->size);
    *reports = opened.reports;
    opened_free(&opened);
    return err;
}

static void expect_equal(const struct build *a, const struct build *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void all_that_lies_around_the_data(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bool big = variant & 1;
        struct build content = {.big = big}, data = {.big = big}, arch = {.big = big},
                     tracing = {.big = big}, ids = {.big = big}, word = {.big = big},
                     stream = {.big = big}, expected = {.big = big};
        const struct build_feature features[] = {{1, &tracing}, {2, &ids},   {6, &arch},
                                                 {18, &word},   {24, &word}, {27, &word},
                                                 {31, &word}};
        const struct build_file file = {.attrs = attrs,
                                        .attr_count = 2,
                                        .data = &data,
                                        .features = features,
                                        .feature_count = 7,
                                        .attrs_behind = variant & 2};
        struct reports reports;

        build_u32(&arch, 64);
        build_text(&arch, "s390x", 64);
        build_text(&tracing, "13 bytes long", 1);
        build_text(&word, "of 7 b", 1);
        put_build_id(&ids, 0, "/usr/lib/libc.so.6", 64, 0);
        put_build_id(&ids, 67, "[vdso]", 1, 0);
        put_records(&data);
        build_file(&content, &file);
        assert_int_equal(convert(&content, &stream, &reports), 0);
        assert_int_equal(reports.errors + reports.warnings, 0);

        build_pipe(&expected);
        put_attr(&expected, &attrs[0]);
        put_attr(&expected, &attrs[1]);
        size_t record = build_record(&expected, 66, 0);
        build_u32(&expected, 16); /* with padding; follows the record */
        build_end(&expected, record);
        build_text(&expected, "13 bytes long", 16);
        put_build_id(&expected, 67, "/usr/lib/libc.so.6", 64, 104 - 36 - 64);
        put_build_id(&expected, 67, "[vdso]", 1, 48 - 36 - 7);
        put_feature(&expected, 6, &arch);
        put_feature(&expected, 31, &word);
        put_records(&expected);
        expect_equal(&expected, &stream);

        build_free(&content);
        build_free(&data);
        build_free(&arch);
        build_free(&tracing);
        build_free(&ids);
        build_free(&word);
        build_free(&stream);
        build_free(&expected);
    }
}

/* perf report of Linux 6.1 ends at a feature above 31; a record holds 65519 bytes of one. */
static void features_without_a_place(void **state)
{
    struct build content = {0}, data = {0}, word = {0}, fits = {0}, large = {0}, stream = {0},
                 expected = {0};
    const struct build_feature features[] = {{30, &large}, {31, &fits}, {32, &word}, {255, &word}};
    const struct build_file file = {
        .data = &data, .features = features, .feature_count = 4, .attrs = attrs, .attr_count = 1};
    struct reports reports;

    (void)state;
    build_zeros(&word, 8);
    build_zeros(&fits, 65519);
    build_zeros(&large, 65520);
    put_records(&data);
    build_file(&content, &file);
    assert_int_equal(convert(&content, &stream, &reports), 0);
    build_pipe(&expected);
    put_attr(&expected, &attrs[0]);
    put_feature(&expected, 31, &fits);
    put_records(&expected);
    expect_equal(&expected, &stream);
    build_free(&content);
    build_free(&data);
    build_free(&word);
    build_free(&fits);
    build_free(&large);
    build_free(&stream);
    build_free(&expected);
}

/* In a stream the ids begin behind as many bytes as the attr says that it has. */
static void attr_that_does_not_say_its_size(void **state)
{
    struct build content = {0}, data = {0}, stream = {0};
    struct build_attr attr = attrs[0];
    const struct build_file file = {.attrs = &attr, .attr_count = 1, .data = &data};
    struct reports reports;

    (void)state;
    attr.size_unsaid = true;
    put_records(&data);
    build_file(&content, &file);
    assert_int_equal(convert(&content, &stream, &reports), 0);
    assert_int_equal(build_get_u16(&stream, 16 + 6), 8 + 64 + 16);
    assert_int_equal(build_get_u32(&stream, 16 + 8 + 4), 64);
    assert_int_equal(build_get_u64(&stream, 16 + 8 + 64), 101);
    assert_int_equal(build_get_u64(&stream, 16 + 8 + 64 + 8), 102);
    build_free(&content);
    build_free(&data);
    build_free(&stream);
}

/* Rows of the build-id feature that cannot be: those before them count. */
static void damaged_build_ids(void **state)
{
    static const uint16_t sizes[] = {0, 35, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct build content = {0}, data = {0}, ids = {0}, stream = {0}, expected = {0};
        const struct build_feature features[] = {{2, &ids}};
        const struct build_file file = {.attrs = attrs,
                                        .attr_count = 1,
                                        .data = &data,
                                        .features = features,
                                        .feature_count = 1};
        struct reports reports;

        put_build_id(&ids, 0, "/bin/sh", 64, 0);
        size_t second = ids.size;
        put_build_id(&ids, 0, "/bin/ls", 64, 0);
        build_set_u16(&ids, second + 6, sizes[i]);
        put_records(&data);
        build_file(&content, &file);
        assert_int_equal(convert(&content, &stream, &reports), 0);
        assert_int_equal(reports.warnings, 1);
        assert_int_equal(reports.errors, 0);
        build_pipe(&expected);
        put_attr(&expected, &attrs[0]);
        put_build_id(&expected, 67, "/bin/sh", 64, 4);
        put_records(&expected);
        expect_equal(&expected, &stream);
        build_free(&content);
        build_free(&data);
        build_free(&ids);
        build_free(&stream);
        build_free(&expected);
    }
}

/* A record has room for 8174 ids of an attr of 128 bytes. */
static void too_many_ids(void **state)
{
    (void)state;
    for (size_t count = 8174; count <= 8175; count++) {
        struct build content = {0}, data = {0}, stream = {0};
        const struct build_file file = {.attrs = attrs, .attr_count = 1, .data = &data};
        struct reports reports;

        put_records(&data);
        build_file(&content, &file);
        /* The ids are moved to the end, where there is room for them. */
        build_set_u64(&content, 104 + 16 + 128, content.size);
        build_set_u64(&content, 104 + 16 + 136, count * 8);
        for (size_t i = 0; i < count; i++)
            build_u64(&content, 1000 + i);
        int err = convert(&content, &stream, &reports);
        if (count == 8174) {
            assert_int_equal(err, 0);
            assert_int_equal(build_get_u16(&stream, 16 + 6), 8 + 128 + 8 * 8174);
        } else {
            assert_int_equal(err, -E2BIG);
            assert_int_equal(reports.errors, 1);
            assert_int_equal(reports.offset, 104 + 16 + 128);
        }
        build_free(&content);
        build_free(&data);
        build_free(&stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_lies_around_the_data),
        cmocka_unit_test(features_without_a_place),
        cmocka_unit_test(attr_that_does_not_say_its_size),
        cmocka_unit_test(damaged_build_ids),
        cmocka_unit_test(too_many_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
