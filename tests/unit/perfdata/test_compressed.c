/* SPDX-License-Identifier: MIT */
/* COMPRESSED and COMPRESSED2: one zstd stream over all records, which cut events anywhere. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static const struct build_attr attr = {.sample_type = IP | TID | TIME,
                                       .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2};

/* A record of type 3 that ends with its number as its time. */
static void put_event(struct build *out, uint64_t number, size_t body, unsigned *seed)
{
    size_t record = build_record(out, 3, 0);

    for (size_t i = 0; i < body; i++) {
        uint8_t byte = (uint8_t)(rand_r(seed) >> 8);
        build_bytes(out, &byte, 1);
    }
    build_u64(out, 7);
    build_u64(out, number);
    build_end(out, record);
}

/* What `out` gets: the plain bytes as compressed records of `chunk` plain bytes each. */
struct packer {
    struct build *out;
    ZSTD_CStream *zstd;
    uint32_t type; /* 81 or 83 */
};

static void packer_new(struct packer *packer, struct build *out, uint32_t type)
{
    *packer = (struct packer){out, ZSTD_createCStream(), type};
    ZSTD_initCStream(packer->zstd, 1);
}

static size_t deflate(struct packer *packer, const uint8_t *plain, size_t size, struct build *to)
{
    size_t room = ZSTD_compressBound(size) + 1024, before = to->size;
    build_zeros(to, room);
    ZSTD_inBuffer in = {plain, size, 0};
    ZSTD_outBuffer out = {to->bytes + before, room, 0};
    while (in.pos < in.size)
        assert_false(ZSTD_isError(ZSTD_compressStream(packer->zstd, &out, &in)));
    assert_int_equal(ZSTD_flushStream(packer->zstd, &out), 0);
    to->size = before + out.pos;
    return out.pos;
}

static void pack(struct packer *packer, const uint8_t *plain, size_t size)
{
    struct build *out = packer->out;
    size_t record = build_record(out, packer->type, 0), data;

    if (packer->type == 83)
        build_u64(out, 0);
    data = deflate(packer, plain, size, out);
    if (packer->type == 83) {
        build_set_u64(out, record + 8, data);
        build_zeros(out, -data % 8);
    }
    build_end(out, record);
}

static void packer_free(struct packer *packer)
{
    ZSTD_freeCStream(packer->zstd);
}

static void open_data(struct opened *opened, const struct build *data)
{
    struct build content = {.big = data->big};
    const struct build_file file = {.attrs = &attr, .attr_count = 1, .data = data};

    build_file(&content, &file);
    opened_new(opened, &content);
    assert_int_equal(opened->err, 0);
    build_free(&content);
}

/* The records must be the plain ones, and a round between any two compressed ones. */
static void expect_records(struct opened *opened, const struct build *plain)
{
    struct perfdata_record record;
    size_t at = 0;
    uint64_t events = 0, time;

    while (perfdata_next(opened->data, &record) == 1) {
        if (record.type == 68)
            continue;
        assert_int_equal(record.size, build_get_u16(plain, at + 6));
        assert_memory_equal(record.bytes, plain->bytes + at, record.size);
        assert_true(perfdata_time(opened->data, &record, &time));
        assert_int_equal(time, ++events);
        at += record.size;
    }
    assert_int_equal(at, plain->size);
    assert_int_equal(opened->reports.errors, 0);
    assert_int_equal(opened->reports.warnings, 0);
}

static void events_cut_anywhere(void **state)
{
    static const size_t chunks[] = {1, 3, 7, 8, 100, 4096, 40000};
    struct build plain = {0};
    unsigned seed = 1;

    (void)state;
    for (uint64_t i = 1; i <= 60; i++)
        put_event(&plain, i, i % 13 * 8, &seed);
    put_event(&plain, 61, 60000, &seed);
    put_event(&plain, 62, 8, &seed);
    for (size_t c = 0; c < sizeof(chunks) / sizeof(*chunks); c++) {
        for (uint32_t type = 81; type <= 83; type += 2) {
            struct build data = {0};
            struct packer packer;
            struct opened opened;

            packer_new(&packer, &data, type);
            for (size_t at = 0; at < plain.size; at += chunks[c]) {
                size_t size = plain.size - at < chunks[c] ? plain.size - at : chunks[c];
                pack(&packer, plain.bytes + at, size);
                build_end(&data, build_record(&data, 68, 0));
            }
            packer_free(&packer);
            open_data(&opened, &data);
            expect_records(&opened, &plain);
            perfdata_rewind(opened.data);
            expect_records(&opened, &plain);
            opened_free(&opened);
            build_free(&data);
        }
    }
    build_free(&plain);
}

static void samples_cut_anywhere(void **state)
{
    static const size_t chunks[] = {7, 100, 4096, 40000};
    struct build plain = {0};

    (void)state;
    for (uint64_t i = 1; i <= 1000; i++) {
        size_t record = build_record(&plain, 9, 2);
        build_u64(&plain, 0x1000 * i);
        build_u64(&plain, i % 7);
        build_u64(&plain, i);
        build_zeros(&plain, i % 13 * 8);
        build_end(&plain, record);
    }
    for (size_t c = 0; c < sizeof(chunks) / sizeof(*chunks); c++) {
        struct build data = {0};
        struct packer packer;
        struct opened opened;

        packer_new(&packer, &data, 81);
        for (size_t at = 0; at < plain.size; at += chunks[c])
            pack(&packer, plain.bytes + at,
                 plain.size - at < chunks[c] ? plain.size - at : chunks[c]);
        packer_free(&packer);
        open_data(&opened, &data);
        /* What is cut by the end of what was unpacked last is taken alone. */
        const uint64_t at_once = opened_check_samples(&opened);
        assert_true(at_once <= 1000 && (chunks[c] < 100 || at_once > 0));
        assert_true(chunks[c] < 40000 || at_once > 900);
        opened_free(&opened);
        build_free(&data);
    }
    build_free(&plain);
}

/* Little that unpacks to more than the reader holds. */
static void much_in_one_record(void **state)
{
    struct build plain = {0}, data = {0};
    struct packer packer;
    struct opened opened;

    (void)state;
    for (uint64_t i = 1; i <= 200; i++) {
        size_t record = build_record(&plain, 3, 0);
        build_zeros(&plain, 50000);
        build_u64(&plain, 7);
        build_u64(&plain, i);
        build_end(&plain, record);
    }
    packer_new(&packer, &data, 81);
    pack(&packer, plain.bytes, plain.size);
    packer_free(&packer);
    open_data(&opened, &data);
    expect_records(&opened, &plain);
    opened_free(&opened);
    build_free(&data);
    build_free(&plain);
}

/* perf up to 7.1: the 16-bit size has overflowed, further records are within the data. */
static void overflown_size(void **state)
{
    enum { FIRST = 65536 - 16 - 1 };
    struct build plain = {0};
    unsigned seed = 2;

    (void)state;
    for (uint64_t i = 1; i <= 5; i++)
        put_event(&plain, i, 40000, &seed);
    for (int with_padding = 0; with_padding < 2; with_padding++) {
        struct build packed = {0}, data = {0};
        struct packer packer;
        struct opened opened;

        packer_new(&packer, &packed, 83);
        size_t size = deflate(&packer, plain.bytes, plain.size, &packed), at = FIRST;
        assert_true(size > FIRST * 2 && size < FIRST * 4);
        build_record(&data, 83, 0);
        build_u64(&data, 0);
        build_bytes(&data, packed.bytes, FIRST);
        while (at < size) {
            size_t piece = size - at < FIRST ? size - at : FIRST;
            build_record(&data, 83, 0);
            build_set_u16(&data, data.size - 2, (uint16_t)(16 + piece));
            build_u64(&data, UINT64_C(0xdeadbeefdeadbeef)); /* nobody sets it */
            build_bytes(&data, packed.bytes + at, piece);
            at += piece;
        }
        size_t content = data.size - 16;
        build_set_u64(&data, 8, content);
        build_set_u16(&data, 6, (uint16_t)(16 + (content + 7) / 8 * 8));
        if (with_padding) {
            build_zeros(&data, -content % 8);
            build_end(&data, build_record(&data, 68, 0));
        }
        packer_free(&packer);
        open_data(&opened, &data);
        expect_records(&opened, &plain);
        opened_free(&opened);
        build_free(&data);
        build_free(&packed);
    }
    build_free(&plain);
}

/* The same without further headers: plainly a size that overflowed. */
static void overflown_size_of_one(void **state)
{
    struct build plain = {0}, packed = {0}, data = {0};
    struct packer packer;
    struct opened opened;
    unsigned seed = 3;

    (void)state;
    for (uint64_t i = 1; i <= 4; i++)
        put_event(&plain, i, 40000, &seed);
    packer_new(&packer, &packed, 83);
    size_t size = deflate(&packer, plain.bytes, plain.size, &packed);
    packer_free(&packer);
    assert_true(size > 65536);
    build_record(&data, 83, 0);
    build_u64(&data, size);
    build_bytes(&data, packed.bytes, size);
    build_zeros(&data, -size % 8);
    build_set_u16(&data, 6, (uint16_t)data.size);
    build_end(&data, build_record(&data, 68, 0));
    open_data(&opened, &data);
    expect_records(&opened, &plain);
    opened_free(&opened);
    build_free(&data);
    build_free(&packed);
    build_free(&plain);
}

static void expect_error(const struct build *data, uint64_t offset, const char *word)
{
    struct opened opened;

    open_data(&opened, data);
    assert_int_equal(opened_pass(&opened), -EBADMSG);
    assert_int_equal(opened.reports.errors, 1);
    assert_int_equal(opened.reports.offset, 104 + 144 + offset);
    assert_non_null(strstr(opened.reports.text, word));
    opened_free(&opened);
}

static void broken_streams(void **state)
{
    struct build plain = {0}, data = {0};
    struct packer packer;
    unsigned seed = 4;

    (void)state;
    size_t record = build_record(&data, 81, 0);
    build_text(&data, "this is not zstd", 8);
    build_end(&data, record);
    expect_error(&data, 0, "unpacked");

    /* Records within that cannot be there. */
    for (uint32_t type = 0; type < 100; type++) {
        bool bad = type == 66 || type == 71 || type == 81 || type == 83;
        struct opened opened;
        data.size = plain.size = 0;
        build_end(&data, build_record(&data, 68, 0));
        record = build_record(&plain, type, 0);
        build_zeros(&plain, 40);
        build_end(&plain, record);
        packer_new(&packer, &data, 81);
        pack(&packer, plain.bytes, plain.size);
        packer_free(&packer);
        if (bad) {
            expect_error(&data, 8, "within a compressed");
        } else {
            open_data(&opened, &data);
            assert_int_equal(opened_pass(&opened), 2);
            opened_free(&opened);
        }
    }
    data.size = plain.size = 0;
    put_event(&plain, 1, 16, &seed);
    build_set_u16(&plain, 6, 7);
    packer_new(&packer, &data, 83);
    pack(&packer, plain.bytes, plain.size);
    packer_free(&packer);
    expect_error(&data, 0, "7 bytes");

    /* data_size of COMPRESSED2 beyond the data. */
    build_set_u64(&data, 8, data.size - 15);
    expect_error(&data, 0, "cut");
    build_set_u64(&data, 8, UINT64_MAX);
    expect_error(&data, 0, "cut");
    build_free(&data);
    build_free(&plain);
}

static void stream_that_ends_within_a_record(void **state)
{
    struct build plain = {0}, data = {0};
    struct packer packer;
    struct opened opened;
    unsigned seed = 5;

    (void)state;
    put_event(&plain, 1, 16, &seed);
    put_event(&plain, 2, 16, &seed);
    packer_new(&packer, &data, 81);
    pack(&packer, plain.bytes, plain.size - 3);
    packer_free(&packer);
    open_data(&opened, &data);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(opened_pass(&opened), 1);
        assert_int_equal(opened.reports.errors, 0);
        assert_int_equal(opened.reports.warnings, 1);
        perfdata_rewind(opened.data);
    }
    opened_free(&opened);
    build_free(&data);
    build_free(&plain);
}

/* The copy of a compressed file has its records plain, and says so. */
static void copy_is_plain(void **state)
{
    struct build plain = {0}, data = {0}, compressed = {0}, hostname = {0}, content = {0},
                 copy = {0};
    const struct build_feature features[] = {{3, &hostname}, {27, &compressed}};
    const struct build_file file = {&attr, 1, &data, features, 2, false, false};
    struct perfdata_record record;
    struct perfdata_writer *writer;
    struct memory_file out;
    struct packer packer;
    struct opened opened;
    unsigned seed = 6;
    int got;

    (void)state;
    for (uint64_t i = 1; i <= 3000; i++) /* more than the buffer holds */
        put_event(&plain, i, 900, &seed);
    packer_new(&packer, &data, 81);
    for (size_t at = 0; at < plain.size; at += 30000)
        pack(&packer, plain.bytes + at, plain.size - at < 30000 ? plain.size - at : 30000);
    packer_free(&packer);
    build_zeros(&compressed, 20);
    build_text(&hostname, "host", 8);
    build_file(&content, &file);
    opened_new(&opened, &content);
    memory_file_new(&out, NULL);
    assert_int_equal(opened_pass(&opened), 3000);
    assert_int_equal(perfdata_writer_new(opened.data, PERFDATA_FORM_OF_INPUT, out.fd, &writer), 0);
    perfdata_rewind(opened.data);
    while ((got = perfdata_next(opened.data, &record)) == 1)
        assert_int_equal(perfdata_keep(writer, &record), 0);
    assert_int_equal(got, 0);
    assert_int_equal(perfdata_writer_finish(writer), 0);
    memory_file_read(&out, &copy);
    assert_int_equal(perfdata_writer_size(writer), copy.size);
    perfdata_writer_free(writer);
    assert_int_equal(build_get_u64(&copy, 48), plain.size);
    assert_memory_equal(copy.bytes + 104 + 144, plain.bytes, plain.size);
    assert_int_equal(build_get_u64(&copy, 72), 1 << 3);
    size_t table = 104 + 144 + plain.size;
    assert_int_equal(build_get_u64(&copy, table), table + 16);
    assert_int_equal(build_get_u64(&copy, table + 8), 8);
    assert_string_equal((char *)copy.bytes + table + 16, "host");
    assert_int_equal(copy.size, table + 16 + 8);
    memory_file_free(&out);
    opened_free(&opened);
    build_free(&plain);
    build_free(&data);
    build_free(&compressed);
    build_free(&hostname);
    build_free(&content);
    build_free(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_cut_anywhere),
        cmocka_unit_test(samples_cut_anywhere),
        cmocka_unit_test(much_in_one_record),
        cmocka_unit_test(overflown_size),
        cmocka_unit_test(overflown_size_of_one),
        cmocka_unit_test(broken_streams),
        cmocka_unit_test(stream_that_ends_within_a_record),
        cmocka_unit_test(copy_is_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
