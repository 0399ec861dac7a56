/* SPDX-License-Identifier: MIT */
/* The pipe form: attrs and features are records. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static void put_attr(struct build *out, const struct build_attr *attr)
{
    size_t record = build_record(out, 64, 0);

    build_attr(out, attr);
    for (size_t i = 0; i < attr->id_count; i++)
        build_u64(out, attr->ids[i]);
    build_end(out, record);
}

static void put_feature(struct build *out, uint64_t feature, const char *text)
{
    size_t record = build_record(out, 80, 0);

    build_u64(out, feature);
    build_u32(out, 64);
    build_text(out, text, 64);
    build_end(out, record);
}

static void put_comm(struct build *out, uint64_t time, uint64_t id)
{
    size_t record = build_record(out, 3, 0);

    build_u64(out, 1);
    build_text(out, "sh", 8);
    build_u64(out, time);
    build_u64(out, id);
    build_end(out, record);
}

static const struct build_attr attrs[] = {
    {.sample_type = IP | TIME | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL,
     .size_unsaid = true,
     .ids = {101, 102, 103},
     .id_count = 3},
    {.sample_type = TIME | CPU | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP,
     .size = 136,
     .ids = {201},
     .id_count = 1},
};

static void whole_stream(struct build *out)
{
    build_pipe(out);
    put_attr(out, &attrs[0]);
    put_feature(out, 3, "a host");
    put_feature(out, 6, "s390x");
    put_attr(out, &attrs[1]);
    put_comm(out, 77, 103);
}

static void attrs_and_arch_from_records(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build content = {.big = big};
        struct opened opened;
        size_t count;

        whole_stream(&content);
        opened_new(&opened, &content);
        assert_int_equal(opened.err, 0);
        perfdata_attrs(opened.data, &count);
        assert_int_equal(count, 0);
        /* Reading again, even from halfway, does not count anything twice. */
        struct perfdata_record record;
        for (int i = 0; i < 2; i++)
            assert_int_equal(perfdata_next(opened.data, &record), 1);
        for (int pass = 0; pass < 3; pass++) {
            uint64_t time = 0;
            perfdata_rewind(opened.data);
            for (int i = 0; i < 5; i++)
                assert_int_equal(perfdata_next(opened.data, &record), 1);
            assert_true(perfdata_time(opened.data, &record, &time));
            assert_int_equal(time, 77);
            assert_int_equal(perfdata_next(opened.data, &record), 0);
        }
        const struct perfdata_attr *got = perfdata_attrs(opened.data, &count);
        assert_int_equal(count, 2);
        assert_int_equal(got[0].size, 64);
        assert_int_equal(got[0].id_count, 3);
        assert_int_equal(got[0].ids[2], 103);
        assert_int_equal(got[1].size, 136);
        assert_true(got[1].tracks_mmap);
        assert_int_equal(got[1].id_count, 1);
        assert_string_equal(perfdata_arch(opened.data), "s390x");
        opened_free(&opened);
        build_free(&content);
    }
}

static void stream_without_records(void **state)
{
    struct build content = {0};
    struct opened opened;

    (void)state;
    build_pipe(&content);
    opened_new(&opened, &content);
    assert_int_equal(opened.err, 0);
    assert_int_equal(opened_pass(&opened), 0);
    opened_free(&opened);
    build_free(&content);
}

/* The only places to cut a stream unnoticed are those between two records. */
static void cut_anywhere(void **state)
{
    struct build content = {0};

    (void)state;
    whole_stream(&content);
    for (size_t size = 16; size <= content.size; size++) {
        struct build cut = {0};
        struct opened opened;
        build_bytes(&cut, content.bytes, size);
        opened_new(&opened, &cut);
        assert_int_equal(opened.err, 0);
        int64_t got = opened_pass(&opened);
        size_t last = 16, records = 0;
        while (last < size && last + build_get_u16(&content, last + 6) <= size) {
            last += build_get_u16(&content, last + 6);
            records++;
        }
        assert_int_equal(got, last == size ? (int64_t)records : -EBADMSG);
        assert_int_equal(opened.reports.errors, last == size ? 0 : 1);
        if (last != size)
            assert_int_equal(opened.reports.offset, last);
        opened_free(&opened);
        build_free(&cut);
    }
    build_free(&content);
}

static void damaged_attrs(void **state)
{
    static const uint32_t sizes[] = {1, 63, 64 + 24 + 1, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct build content = {0};
        struct opened opened;

        whole_stream(&content);
        memcpy(content.bytes + 16 + 8 + 4, &sizes[i], 4);
        opened_new(&opened, &content);
        assert_int_equal(opened_pass(&opened), -EBADMSG);
        assert_int_equal(opened.reports.offset, 16);
        opened_free(&opened);
        build_free(&content);
    }
}

/* "perf record -o - > file 2>&1" */
static void closing_words_at_the_end(void **state)
{
    static const char words[] = "[ perf record: Woken up 1 times to write data ]\n"
                                "[ perf record: Captured and wrote 0.030 MB - ]\n";
    struct build content = {0};
    struct opened opened;

    (void)state;
    whole_stream(&content);
    size_t end = content.size;
    build_bytes(&content, words, sizeof(words) - 1);
    opened_new(&opened, &content);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(opened_pass(&opened), 5);
        assert_int_equal(opened.reports.errors, 0);
        assert_int_equal(opened.reports.warnings, 1); /* said once */
        assert_int_equal(opened.reports.offset, end);
        perfdata_rewind(opened.data);
    }
    opened_free(&opened);
    build_free(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attrs_and_arch_from_records),
        cmocka_unit_test(stream_without_records),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damaged_attrs),
        cmocka_unit_test(closing_words_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
