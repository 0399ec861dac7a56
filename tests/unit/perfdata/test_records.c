/* SPDX-License-Identifier: MIT */
/* Records: where they end, and what is in them. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

/* A file with these attrs and this data, opened. */
static void open_with(struct opened *opened, const struct build_attr *attrs, size_t count,
                      const struct build *data)
{
    struct build content = {.big = data->big};
    const struct build_file file = {.attrs = attrs, .attr_count = count, .data = data};

    build_file(&content, &file);
    opened_new(opened, &content);
    assert_int_equal(opened->err, 0);
    build_free(&content);
}

static struct perfdata_record next(struct opened *opened)
{
    struct perfdata_record record;

    assert_int_equal(perfdata_next(opened->data, &record), 1);
    return record;
}

static void expect_time(struct opened *opened, uint64_t expected)
{
    struct perfdata_record record = next(opened);
    uint64_t time;

    if (expected) {
        assert_true(perfdata_time(opened->data, &record, &time));
        assert_int_equal(time, expected);
    } else {
        assert_false(perfdata_time(opened->data, &record, &time));
    }
}

static void put_mmap2(struct build *data, uint16_t misc, const char *name)
{
    size_t record = build_record(data, 10, misc);

    build_u32(data, 100);
    build_u32(data, 101);
    build_u64(data, 0x7f0000001000);
    build_u64(data, 0x2000);
    build_u64(data, 0x3000);
    build_u32(data, 8);
    build_u32(data, 2);
    build_u64(data, 0x123456789a);
    build_u64(data, 77);
    build_u32(data, 5);
    build_u32(data, 2);
    build_text(data, name, 8);
    build_u32(data, 100); /* TID TIME CPU IDENTIFIER */
    build_u32(data, 101);
    build_u64(data, 5000);
    build_u64(data, 1);
    build_u64(data, 11);
    build_end(data, record);
}

static const struct build_attr whole = {.sample_type = IP | TID | TIME | CPU | IDENTIFIER,
                                        .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2,
                                        .ids = {11},
                                        .id_count = 1};

static void mapping_and_task(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build data = {.big = big};
        struct opened opened;
        struct perfdata_mapping mapping;
        struct perfdata_task task;
        uint64_t time;

        put_mmap2(&data, 2, "/usr/bin/node");
        put_mmap2(&data, 2 | 1 << 13 | 1 << 14, "//anon");
        size_t record = build_record(&data, 1, 1 << 13);
        build_u32(&data, 1);
        build_u32(&data, 2);
        build_u64(&data, 0x1000);
        build_u64(&data, 0x2000);
        build_u64(&data, 0x3000);
        build_text(&data, "heap", 8);
        build_zeros(&data, 32);
        build_end(&data, record);
        record = build_record(&data, 7, 0);
        build_u32(&data, 31);
        build_u32(&data, 30);
        build_u32(&data, 33);
        build_u32(&data, 32);
        build_u64(&data, 4999);
        build_u64(&data, 0);
        build_u64(&data, 4998);
        build_u64(&data, 0);
        build_u64(&data, 11);
        build_end(&data, record);

        open_with(&opened, &whole, 1, &data);
        struct perfdata_record got = next(&opened);
        assert_true(perfdata_mapping(opened.data, &got, &mapping));
        assert_int_equal(mapping.pid, 100);
        assert_int_equal(mapping.tid, 101);
        assert_int_equal(mapping.addr, 0x7f0000001000);
        assert_int_equal(mapping.len, 0x2000);
        assert_int_equal(mapping.pgoff, 0x3000);
        assert_int_equal(mapping.major, 8);
        assert_int_equal(mapping.minor, 2);
        assert_int_equal(mapping.inode, 0x123456789a);
        assert_int_equal(mapping.inode_generation, 77);
        assert_int_equal(mapping.prot, 5);
        assert_int_equal(mapping.flags, 2);
        assert_false(mapping.has_build_id || mapping.is_data);
        assert_string_equal(mapping.filename, "/usr/bin/node");
        assert_int_equal(mapping.filename_size, 13);
        assert_true(perfdata_time(opened.data, &got, &time));
        assert_int_equal(time, 5000);
        assert_false(perfdata_task(opened.data, &got, &task));

        got = next(&opened);
        assert_true(perfdata_mapping(opened.data, &got, &mapping));
        assert_true(mapping.has_build_id && mapping.is_data);
        assert_int_equal(mapping.inode, 0);
        assert_int_equal(mapping.prot, 5);
        assert_string_equal(mapping.filename, "//anon");

        got = next(&opened);
        assert_true(perfdata_mapping(opened.data, &got, &mapping));
        assert_int_equal(mapping.pgoff, 0x3000);
        assert_int_equal(mapping.prot, 1);
        assert_true(mapping.is_data);
        assert_string_equal(mapping.filename, "heap");

        got = next(&opened);
        assert_true(perfdata_task(opened.data, &got, &task));
        assert_int_equal(task.pid, 31);
        assert_int_equal(task.ppid, 30);
        assert_int_equal(task.tid, 33);
        assert_int_equal(task.ptid, 32);
        assert_true(perfdata_time(opened.data, &got, &time));
        assert_int_equal(time, 4998);
        assert_false(perfdata_mapping(opened.data, &got, &mapping));
        opened_free(&opened);
        build_free(&data);
    }
}

static void names_without_end(void **state)
{
    struct build data = {0};
    struct opened opened;
    struct perfdata_mapping mapping;
    struct perfdata_task task;
    size_t record;

    (void)state;
    record = build_record(&data, 10, 2);
    build_zeros(&data, 64);
    build_bytes(&data, "endless!", 8);
    build_end(&data, record);
    record = build_record(&data, 10, 2); /* no name at all */
    build_zeros(&data, 64);
    build_end(&data, record);
    record = build_record(&data, 1, 2);
    build_zeros(&data, 32);
    build_end(&data, record);
    record = build_record(&data, 7, 0);
    build_zeros(&data, 8);
    build_end(&data, record);
    open_with(&opened, &whole, 1, &data);
    for (int i = 0; i < 4; i++) {
        struct perfdata_record got = next(&opened);
        assert_false(perfdata_mapping(opened.data, &got, &mapping));
        assert_false(perfdata_task(opened.data, &got, &task));
    }
    opened_free(&opened);
    build_free(&data);
}

static void sample_of_one_attr(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build data = {.big = big};
        struct opened opened;
        struct perfdata_sample sample;
        size_t record;

        for (int i = 0; i < 2; i++) {
            record = build_record(&data, 9, 2 | 1 << 14);
            build_u64(&data, 11); /* IDENTIFIER */
            build_u64(&data, 0x401000);
            build_u32(&data, 42);
            build_u32(&data, 43);
            build_u64(&data, 123456789);
            build_u64(&data, 3); /* CPU */
            build_end(&data, record);
        }
        record = build_record(&data, 9, 2); /* ends within its time */
        build_zeros(&data, 28);
        build_end(&data, record);
        open_with(&opened, &whole, 1, &data);

        struct perfdata_record got;
        for (int i = 0; i < 2; i++) {
            got = next(&opened);
            assert_true(perfdata_sample(opened.data, &got, &sample));
            assert_int_equal(sample.ip, 0x401000);
            assert_int_equal(sample.pid, 42);
            assert_int_equal(sample.tid, 43);
            assert_int_equal(sample.time, 123456789);
            assert_int_equal(sample.cpumode, 2);
        }
        got = next(&opened);
        assert_false(perfdata_sample(opened.data, &got, &sample));
        uint64_t time;
        assert_false(perfdata_time(opened.data, &got, &time));
        /* The first record of a pass is not at hand before perfdata_next has read it. */
        assert_int_equal(opened_check_samples(&opened), 1);
        opened_free(&opened);
        build_free(&data);
    }
}

static void records_without_time(void **state)
{
    struct build data = {0};
    struct opened opened;
    static const uint64_t times[] = {0, UINT64_MAX, 7};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t record = build_record(&data, 3, 0);
        build_u64(&data, 0);
        build_text(&data, "name", 8);
        build_u64(&data, 0);
        build_u64(&data, times[i]);
        build_u64(&data, 0);
        build_u64(&data, 11);
        build_end(&data, record);
    }
    size_t record = build_record(&data, 3, 0); /* shorter than its sample id */
    build_zeros(&data, 24);
    build_end(&data, record);
    record = build_record(&data, 82, 0);
    build_zeros(&data, 32);
    build_end(&data, record);
    open_with(&opened, &whole, 1, &data);
    assert_false(perfdata_in_file_order(opened.data));
    expect_time(&opened, 0);
    expect_time(&opened, 0);
    expect_time(&opened, 7);
    expect_time(&opened, 0);
    expect_time(&opened, 0);
    opened_free(&opened);
    build_free(&data);
}

static void without_sample_id_all(void **state)
{
    struct build_attr attr = {.sample_type = IP | TID | TIME};
    struct build data = {0};
    struct opened opened;
    size_t record;

    (void)state;
    put_mmap2(&data, 2, "x");
    record = build_record(&data, 9, 2);
    build_u64(&data, 1);
    build_u64(&data, 2);
    build_u64(&data, 3);
    build_end(&data, record);
    for (uint32_t type = 4; type <= 7; type += 3) { /* EXIT and FORK have a time of their own */
        record = build_record(&data, type, 0);
        build_zeros(&data, 16);
        build_u64(&data, type);
        build_end(&data, record);
    }
    record = build_record(&data, 7, 0); /* cut before it */
    build_zeros(&data, 16);
    build_end(&data, record);
    open_with(&opened, &attr, 1, &data);
    assert_true(perfdata_in_file_order(opened.data));
    expect_time(&opened, 0);
    expect_time(&opened, 3);
    expect_time(&opened, 4);
    expect_time(&opened, 7);
    expect_time(&opened, 0);
    opened_free(&opened);
    build_free(&data);
}

/* A sample of words, and a COMM with a sample id of words. */
static void put_words(struct build *data, uint32_t type, const uint64_t *words, size_t count)
{
    size_t record = build_record(data, type, 0);

    if (type != 9)
        build_zeros(data, 16);
    for (size_t i = 0; i < count; i++)
        build_u64(data, words[i]);
    build_end(data, record);
}

#define WORDS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static void several_attrs_by_identifier(void **state)
{
    const struct build_attr attrs[] = {
        {.sample_type = IP | TID | TIME | IDENTIFIER,
         .flags = FLAG_SAMPLE_ID_ALL,
         .ids = {101, 102},
         .id_count = 2},
        {.sample_type = TIME | CPU | IDENTIFIER,
         .flags = FLAG_SAMPLE_ID_ALL,
         .ids = {201, 202},
         .id_count = 2},
    };

    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build data = {.big = big};
        struct opened opened;
        struct perfdata_sample sample;

        put_words(&data, 9, WORDS(101, 0x1000, 5, 1001));
        put_words(&data, 9, WORDS(202, 1002, 0));
        put_words(&data, 9, WORDS(0, 0x1000, 5, 1003));
        put_words(&data, 9, WORDS(999, 0x1000, 5, 1004)); /* nobody's */
        put_words(&data, 3, WORDS(5, 1005, 102));
        put_words(&data, 3, WORDS(1006, 0, 201));
        put_words(&data, 3, WORDS(5, 1007, 0));
        put_words(&data, 3, WORDS(5, 1008, 999));
        open_with(&opened, attrs, 2, &data);
        expect_time(&opened, 1001);
        expect_time(&opened, 1002);
        expect_time(&opened, 1003);
        expect_time(&opened, 0);
        expect_time(&opened, 1005);
        expect_time(&opened, 1006);
        expect_time(&opened, 1007);
        expect_time(&opened, 0);
        perfdata_rewind(opened.data);
        struct perfdata_record record = next(&opened);
        assert_true(perfdata_sample(opened.data, &record, &sample));
        assert_int_equal(sample.ip, 0x1000);
        record = next(&opened);
        assert_false(perfdata_sample(opened.data, &record, &sample)); /* its attr has no IP */
        assert_int_equal(opened_check_samples(&opened), 1);
        opened_free(&opened);
        build_free(&data);
    }
}

static void several_attrs_by_id(void **state)
{
    /* The id is at one place in the samples of both, the time is not. */
    const struct build_attr attrs[] = {
        {.sample_type = IP | TID | TIME | ID | STREAM_ID | CPU,
         .flags = FLAG_SAMPLE_ID_ALL,
         .ids = {101},
         .id_count = 1},
        {.sample_type = TID | TIME | ADDR | ID | STREAM_ID | CPU,
         .flags = FLAG_SAMPLE_ID_ALL,
         .ids = {201},
         .id_count = 1},
    };
    struct build data = {0};
    struct opened opened;

    (void)state;
    put_words(&data, 9, WORDS(0x1000, 5, 1001, 101, 0, 0));
    put_words(&data, 9, WORDS(5, 1002, 0xadd, 201, 0, 0));
    put_words(&data, 3, WORDS(5, 1003, 101, 0, 0));
    put_words(&data, 3, WORDS(5, 1004, 201, 0, 0));
    put_words(&data, 3, WORDS(5, 1005, 999, 0, 0));
    open_with(&opened, attrs, 2, &data);
    expect_time(&opened, 1001);
    expect_time(&opened, 1002);
    expect_time(&opened, 1003);
    expect_time(&opened, 1004);
    expect_time(&opened, 0);
    opened_free(&opened);
    build_free(&data);
}

static void many_ids(void **state)
{
    enum { COUNT = 5000 };
    struct build data = {0}, content = {0};
    const struct build_attr attrs[] = {
        {.sample_type = IP | TIME | IDENTIFIER, .flags = FLAG_SAMPLE_ID_ALL},
        {.sample_type = TIME | IDENTIFIER, .flags = FLAG_SAMPLE_ID_ALL},
    };
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct opened opened;

    (void)state;
    for (uint64_t i = 1; i <= COUNT; i++) {
        if (i % 2)
            put_words(&data, 9, WORDS(i, 0x1000, i + 7));
        else
            put_words(&data, 9, WORDS(i, i + 7));
    }
    build_file(&content, &file);
    /* Odd ids are the first one's, even ids the other's. */
    for (uint64_t attr = 0; attr < 2; attr++) {
        build_set_u64(&content, 104 + attr * 144 + 128, content.size);
        build_set_u64(&content, 104 + attr * 144 + 136, COUNT / 2 * 8);
        for (uint64_t i = 0; i < COUNT / 2; i++)
            build_u64(&content, i * 2 + 1 + attr);
    }
    opened_new(&opened, &content);
    assert_int_equal(opened.err, 0);
    for (uint64_t i = 1; i <= COUNT; i++)
        expect_time(&opened, i + 7);
    opened_free(&opened);
    build_free(&data);
    build_free(&content);
}

static void records_that_cannot_be(void **state)
{
    (void)state;
    for (uint16_t size = 0; size < 8; size++) {
        struct build data = {0};
        struct opened opened;
        build_end(&data, build_record(&data, 68, 0));
        build_set_u16(&data, build_record(&data, 3, 0) + 6, size);
        open_with(&opened, &whole, 1, &data);
        assert_int_equal(opened_pass(&opened), -EBADMSG);
        assert_int_equal(opened.reports.errors, 1);
        assert_int_equal(opened.reports.offset, 104 + 8 + 144 + 8);
        opened_free(&opened);
        build_free(&data);
    }
    /* Cut: in its header, in its body, in what follows it. */
    for (size_t left = 1; left < 48 + 16; left++) {
        struct build data = {0}, cut = {0};
        struct opened opened;
        size_t record = build_record(&data, 71, 0);
        build_u64(&data, 16);
        build_zeros(&data, 32);
        build_end(&data, record);
        build_zeros(&data, 16);
        build_bytes(&cut, data.bytes, left);
        open_with(&opened, &whole, 1, &cut);
        assert_int_equal(opened_pass(&opened), -EBADMSG);
        assert_int_equal(opened.reports.errors, 1);
        assert_int_equal(opened.reports.offset, 104 + 8 + 144);
        opened_free(&opened);
        build_free(&data);
        build_free(&cut);
    }
}

/* What stands for no time is not in the span of samples that are read at once. */
static void samples_without_times(void **state)
{
    static const uint64_t lists[][6] = {
        {9, 0, UINT64_MAX, 7000, 0, 5000},
        {9, UINT64_MAX, 0, 0, UINT64_MAX, 0},
        {9, 1, UINT64_MAX - 1, 0, 0, 0},
        {9, UINT64_MAX - 1, 0, 0, 0, 0},
        {9, 0, 1, UINT64_MAX, 0, 0},
        {9, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct build data = {0};
        struct opened opened;
        for (size_t k = 0; k < 6; k++)
            put_words(&data, 9, WORDS(11, 0x401000, 42, lists[i][k], 3));
        open_with(&opened, &whole, 1, &data);
        assert_int_equal(opened_check_samples(&opened), 5);
        opened_free(&opened);
        build_free(&data);
    }
}

/* A payload that looks like a sample is none, whoever asks. */
static void samples_in_a_payload(void **state)
{
    struct build data = {0};
    struct opened opened;

    (void)state;
    for (int i = 0; i < 4; i++) {
        if (i == 1) {
            size_t record = build_record(&data, 71, 0);
            build_u64(&data, 48); /* bytes that follow: what is a sample elsewhere */
            build_zeros(&data, 32);
            build_end(&data, record);
        }
        put_words(&data, 9, WORDS(11, 0x401000, 42, 1000, 3));
    }
    open_with(&opened, &whole, 1, &data);
    assert_int_equal(opened_pass(&opened), 4);
    /* The first, the one with the payload and the one behind that need perfdata_next. */
    assert_int_equal(opened_check_samples(&opened), 1);
    opened_free(&opened);
    build_free(&data);
}

static void records_of_odd_sizes(void **state)
{
    struct build data = {0};
    struct opened opened;

    (void)state;
    for (size_t size = 8; size < 30; size++) {
        size_t record = build_record(&data, 200, 0);
        build_zeros(&data, size - 8);
        build_end(&data, record);
    }
    size_t record = build_record(&data, 200, 0);
    build_zeros(&data, UINT16_MAX - 8);
    build_end(&data, record);
    open_with(&opened, &whole, 1, &data);
    for (size_t size = 8; size < 30; size++)
        assert_int_equal(next(&opened).size, size);
    assert_int_equal(next(&opened).size, UINT16_MAX);
    struct perfdata_record end;
    assert_int_equal(perfdata_next(opened.data, &end), 0);
    assert_int_equal(perfdata_next(opened.data, &end), 0);
    opened_free(&opened);
    build_free(&data);
}

/* Payloads larger and smaller than the reader's buffer are passed over. */
static void payloads(void **state)
{
    static const size_t sizes[] = {0, 8, 4096, 3 << 20, 16};
    struct build data = {0};
    struct opened opened;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        size_t record = build_record(&data, i == 2 ? 66 : 71, 0);
        if (i == 2)
            build_u32(&data, (uint32_t)sizes[i]);
        else
            build_u64(&data, sizes[i]);
        build_end(&data, record);
        build_zeros(&data, sizes[i]);
    }
    build_end(&data, build_record(&data, 68, 0));
    open_with(&opened, &whole, 1, &data);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 5; i++) {
            struct perfdata_record record = next(&opened);
            assert_int_equal(record.payload, sizes[i]);
            assert_int_equal(record.number, i);
        }
        assert_int_equal(next(&opened).type, 68);
        perfdata_rewind(opened.data);
    }
    opened_free(&opened);
    build_free(&data);
}

static void put_time_conv(struct build *data, uint64_t shift, uint64_t mult, bool extended,
                          uint8_t cap_zero, uint8_t cap_short)
{
    size_t record = build_record(data, 79, 0);

    build_u64(data, shift);
    build_u64(data, mult);
    build_u64(data, 1000000); /* zero */
    if (extended) {
        build_u64(data, 5000);   /* cycles */
        build_u64(data, 0xffff); /* mask */
        build_bytes(data, &cap_zero, 1);
        build_bytes(data, &cap_short, 1);
        build_zeros(data, 6);
    }
    build_end(data, record);
}

static uint64_t converted(const struct build *data, uint64_t cycles, bool *present)
{
    struct opened opened;

    open_with(&opened, &whole, 1, data);
    assert_false(perfdata_time_conversion(opened.data)->present);
    assert_int_equal(opened_pass(&opened), 1);
    const struct perfdata_time_conv *conv = perfdata_time_conversion(opened.data);
    *present = conv->present;
    uint64_t time = perfdata_time_from_arch(conv, cycles);
    opened_free(&opened);
    return time;
}

static void time_conversion(void **state)
{
    bool present;

    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build data = {.big = big};
        /* zero + quot * mult + rest * mult >> shift: 1000000 + 2 * 7 + (1 * 7 >> 2) */
        put_time_conv(&data, 2, 7, false, 0, 0);
        assert_int_equal(converted(&data, 9, &present), 1000015);
        assert_true(present);
        data.size = 0;
        put_time_conv(&data, 2, 7, true, 1, 0);
        assert_int_equal(converted(&data, 9, &present), 1000015);
        data.size = 0;
        put_time_conv(&data, 2, 7, true, 0, 0); /* the clock has no zero */
        assert_int_equal(converted(&data, 9, &present), 0);
        data.size = 0;
        /* The counter is 16 bits wide: 4996 is 65532 cycles after 5000. */
        put_time_conv(&data, 2, 7, true, 1, 1);
        assert_int_equal(converted(&data, 4996, &present), 1000000 + (5000 + 65532) / 4 * 7);
        data.size = 0;
        put_time_conv(&data, 0, 0, true, 0, 0);
        converted(&data, 9, &present);
        assert_false(present);
        data.size = 0;
        put_time_conv(&data, 64, 1, true, 1, 0);
        converted(&data, 9, &present);
        assert_false(present);
        build_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping_and_task),
        cmocka_unit_test(names_without_end),
        cmocka_unit_test(sample_of_one_attr),
        cmocka_unit_test(records_without_time),
        cmocka_unit_test(without_sample_id_all),
        cmocka_unit_test(several_attrs_by_identifier),
        cmocka_unit_test(several_attrs_by_id),
        cmocka_unit_test(many_ids),
        cmocka_unit_test(records_that_cannot_be),
        cmocka_unit_test(samples_without_times),
        cmocka_unit_test(samples_in_a_payload),
        cmocka_unit_test(records_of_odd_sizes),
        cmocka_unit_test(payloads),
        cmocka_unit_test(time_conversion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
