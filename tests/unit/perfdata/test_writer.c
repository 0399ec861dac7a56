/* SPDX-License-Identifier: MIT */
/* Writing what was read: with records left out, put in, and all that moves because of it. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct build_attr attrs[] = {
    {.sample_type = IP | TID | TIME | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {101, 102},
     .id_count = 2},
    {.sample_type = IP | TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER,
     .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2,
     .ids = {201, 202},
     .id_count = 2},
};

struct copying {
    struct opened opened;
    struct memory_file out;
    struct perfdata_writer *writer;
};

/* Opens, makes the first pass, and starts the copy. */
static void copying_new(struct copying *copying, const struct build *content)
{
    opened_new(&copying->opened, content);
    assert_int_equal(copying->opened.err, 0);
    assert_true(opened_pass(&copying->opened) >= 0);
    memory_file_new(&copying->out, NULL);
    assert_int_equal(perfdata_writer_new(copying->opened.data, PERFDATA_FORM_OF_INPUT,
                                         copying->out.fd, &copying->writer),
                     0);
    perfdata_rewind(copying->opened.data);
}

/* Copies up to `count` records, but for those of type `without`. */
static void copy_records(struct copying *copying, uint64_t count, uint32_t without)
{
    struct perfdata_record record;

    while (count-- && perfdata_next(copying->opened.data, &record) == 1)
        if (record.type != without)
            assert_int_equal(perfdata_keep(copying->writer, &record), 0);
}

/* Ends the copy; what was written goes to `copy`. */
static void copying_end(struct copying *copying, struct build *copy)
{
    assert_int_equal(perfdata_writer_finish(copying->writer), 0);
    memory_file_read(&copying->out, copy);
    assert_int_equal(perfdata_writer_size(copying->writer), copy->size);
    perfdata_writer_free(copying->writer);
    opened_free(&copying->opened);
    memory_file_free(&copying->out);
}

static void expect_equal(const struct build *a, const struct build *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void put_record(struct build *data, uint32_t type, size_t body)
{
    size_t record = build_record(data, type, 0);

    for (size_t i = 0; i < body; i++) {
        uint8_t byte = (uint8_t)(type + i * 7);
        build_bytes(data, &byte, 1);
    }
    build_end(data, record);
}

static void put_auxtrace(struct build *data, size_t payload)
{
    size_t record = build_record(data, 71, 0);

    build_u64(data, payload);
    build_zeros(data, 32);
    build_end(data, record);
    for (size_t i = 0; i < payload; i++) {
        uint8_t byte = (uint8_t)(i * 13 + payload);
        build_bytes(data, &byte, 1);
    }
}

/* One file after another with a bit of everything; kept whole, the copy is the same file. */
static void keeping_all_changes_nothing(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bool big = variant & 1, large = variant & 2;
        struct build content = {.big = big}, data = {.big = big}, feature = {.big = big},
                     copy = {.big = big};
        struct copying copying;
        const struct build_feature features[] = {
            {1, &feature}, {2, &feature}, {63, &feature}, {64, &feature}, {200, &feature}};
        const struct build_file file = {attrs, 2, &data, features, 5, false, false};

        build_text(&feature, "some feature", 4);
        for (size_t i = 0; i < (large ? 40000 : 20); i++)
            put_record(&data, 3, i % 100);
        put_auxtrace(&data, large ? 3 << 20 : 100);
        put_record(&data, 68, 0);
        build_file(&content, &file);
        copying_new(&copying, &content);
        copy_records(&copying, UINT64_MAX, 0);
        copying_end(&copying, &copy);
        expect_equal(&content, &copy);
        build_free(&content);
        build_free(&data);
        build_free(&feature);
        build_free(&copy);
    }
}

static void pipe_form(void **state)
{
    struct build content = {0}, copy = {0}, expected = {0};
    struct copying copying;
    size_t record;

    (void)state;
    build_pipe(&content);
    record = build_record(&content, 64, 0);
    build_attr(&content, &attrs[0]);
    build_u64(&content, 101);
    build_end(&content, record);
    record = build_record(&content, 66, 0);
    build_u32(&content, 24);
    build_end(&content, record);
    build_zeros(&content, 24);
    put_record(&content, 3, 40);
    put_record(&content, 80, 37);
    build_bytes(&expected, content.bytes, content.size);
    /* What the copy is not: compressed, in a directory. */
    for (uint64_t feature = 24; feature <= 27; feature += 3) {
        record = build_record(&content, 80, 0);
        build_u64(&content, feature);
        build_zeros(&content, 20);
        build_end(&content, record);
    }
    put_record(&content, 68, 0);
    put_record(&expected, 68, 0);

    copying_new(&copying, &content);
    copy_records(&copying, UINT64_MAX, 0);
    copying_end(&copying, &copy);
    expect_equal(&expected, &copy);
    build_free(&content);
    build_free(&copy);
    build_free(&expected);
}

static void records_left_out(void **state)
{
    struct build content = {0}, data = {0}, expected = {0}, copy = {0};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct copying copying;
    size_t at = 104 + 32 + 288;

    (void)state;
    for (size_t i = 0; i < 3000; i++) {
        put_record(&data, 3 + (uint32_t)(i % 7 == 3), i % 900);
        if (i % 7 != 3)
            put_record(&expected, 3, i % 900);
    }
    build_file(&content, &file);
    copying_new(&copying, &content);
    copy_records(&copying, UINT64_MAX, 4);
    copying_end(&copying, &copy);
    assert_int_equal(build_get_u64(&copy, 40), at);
    assert_int_equal(build_get_u64(&copy, 48), expected.size);
    assert_int_equal(copy.size, at + expected.size);
    assert_memory_equal(copy.bytes + at, expected.bytes, expected.size);
    build_free(&content);
    build_free(&data);
    build_free(&expected);
    build_free(&copy);
}

static const struct perfdata_mapping jit = {.addr = 0x7f1234567000,
                                            .len = 0x5000,
                                            .pgoff = 0x10000,
                                            .inode = 0xabcdef0123,
                                            .inode_generation = 1,
                                            .pid = 4242,
                                            .tid = 4243,
                                            .major = 8,
                                            .minor = 1,
                                            .prot = 5,
                                            .flags = 2,
                                            .filename = "/tmp/jit-1.so",
                                            .filename_size = 13};

/* The record that perf_event.h asks for, before its sample id. */
static size_t put_mmap2(struct build *out)
{
    size_t record = build_record(out, 10, 2);

    build_u32(out, 4242);
    build_u32(out, 4243);
    build_u64(out, 0x7f1234567000);
    build_u64(out, 0x5000);
    build_u64(out, 0x10000);
    build_u32(out, 8);
    build_u32(out, 1);
    build_u64(out, 0xabcdef0123);
    build_u64(out, 1);
    build_u32(out, 5);
    build_u32(out, 2);
    build_text(out, "/tmp/jit-1.so", 8);
    return record;
}

static void expect_mapping(const struct build_attr *list, size_t count, struct build *expected)
{
    struct build content = {.big = expected->big}, data = {.big = expected->big},
                 copy = {.big = expected->big};
    const struct build_file file = {.attrs = list, .attr_count = count, .data = &data};
    struct copying copying;

    put_record(&data, 68, 0);
    size_t at = build_file(&content, &file);
    copying_new(&copying, &content);
    assert_int_equal(perfdata_write_mapping(copying.writer, &jit, 987654321), 0);
    copy_records(&copying, UINT64_MAX, 0);
    copying_end(&copying, &copy);
    put_record(expected, 68, 0);
    assert_int_equal(build_get_u64(&copy, 48), expected->size);
    assert_memory_equal(copy.bytes + at, expected->bytes, expected->size);
    build_free(&content);
    build_free(&data);
    build_free(&copy);
    build_free(expected);
}

static void mapping_events(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build expected = {.big = big};
        size_t record = put_mmap2(&expected);

        /* The attr that has the mappings, though it is the second; its first id. */
        build_u32(&expected, 4242);
        build_u32(&expected, 4243);
        build_u64(&expected, 987654321);
        build_u64(&expected, 201); /* ID */
        build_u64(&expected, 201); /* STREAM_ID */
        build_u64(&expected, 0);   /* CPU */
        build_u64(&expected, 201); /* IDENTIFIER */
        build_end(&expected, record);
        expect_mapping(attrs, 2, &expected);

        const struct build_attr only_time = {.sample_type = IP | TIME,
                                             .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP};
        record = put_mmap2(&expected);
        build_u64(&expected, 987654321);
        build_end(&expected, record);
        expect_mapping(&only_time, 1, &expected);

        const struct build_attr no_tail = {.sample_type = IP | TID | TIME, .flags = FLAG_MMAP};
        record = put_mmap2(&expected);
        build_end(&expected, record);
        expect_mapping(&no_tail, 1, &expected);
    }
}

static void names_of_any_length(void **state)
{
    struct build content = {0}, data = {0}, copy = {0};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct copying copying;
    char name[PATH_MAX + 1];

    (void)state;
    put_record(&data, 68, 0);
    build_file(&content, &file);
    copying_new(&copying, &content);
    memset(name, 'x', sizeof(name));
    for (size_t size = 0; size < PATH_MAX; size += size < 20 ? 1 : 291) {
        struct perfdata_mapping mapping = jit;
        mapping.filename = name;
        mapping.filename_size = size;
        assert_int_equal(perfdata_write_mapping(copying.writer, &mapping, 5), 0);
    }
    struct perfdata_mapping mapping = jit;
    mapping.filename = name;
    mapping.filename_size = PATH_MAX - 1;
    assert_int_equal(perfdata_write_mapping(copying.writer, &mapping, 5), 0);
    mapping.filename_size = PATH_MAX;
    assert_int_equal(perfdata_write_mapping(copying.writer, &mapping, 5), -ENAMETOOLONG);
    copying_end(&copying, &copy);

    size_t at = build_get_u64(&copy, 40), end = at + build_get_u64(&copy, 48), last = 0;
    for (; at < end; at += build_get_u16(&copy, at + 6)) {
        assert_int_equal(build_get_u16(&copy, at + 6) % 8, 0);
        last = strnlen((char *)copy.bytes + at + 72, end - at);
    }
    assert_int_equal(at, end);
    assert_int_equal(last, PATH_MAX - 1);
    build_free(&content);
    build_free(&data);
    build_free(&copy);
}

/* Where a feature of the copy is. */
static size_t feature_at(const struct build *file, unsigned feature, size_t *size)
{
    size_t at = build_get_u64(file, 40) + build_get_u64(file, 48);

    for (unsigned bit = 0; bit < feature; bit++)
        at += build_get_u64(file, 72 + bit / 64 * 8) >> bit % 64 & 1 ? 16 : 0;
    assert_true(build_get_u64(file, 72 + feature / 64 * 8) >> feature % 64 & 1);
    *size = build_get_u64(file, at + 8);
    return build_get_u64(file, at);
}

static void expect_feature(const struct build *file, unsigned feature, const struct build *payload)
{
    size_t size, at = feature_at(file, feature, &size);

    assert_int_equal(size, payload->size);
    assert_true(at + size <= file->size);
    assert_memory_equal(file->bytes + at, payload->bytes, size);
}

static void features_move(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build content = {.big = big}, data = {.big = big}, copy = {.big = big},
                     host = {.big = big}, odd = {.big = big}, none = {.big = big},
                     last = {.big = big};
        const struct build_feature features[] = {{3, &host},  {24, &none},  {27, &none},
                                                 {100, &odd}, {130, &none}, {255, &last}};
        const struct build_file file = {attrs, 2, &data, features, 6, false, false};
        struct copying copying;

        build_text(&host, "host", 64);
        build_bytes(&odd, "odd", 3);
        build_bytes(&last, "the last one", 12);
        put_record(&data, 3, 40);
        build_file(&content, &file);
        copying_new(&copying, &content);
        perfdata_write_mapping(copying.writer, &jit, 5);
        copy_records(&copying, UINT64_MAX, 0);
        copying_end(&copying, &copy);
        expect_feature(&copy, 3, &host);
        expect_feature(&copy, 100, &odd);
        expect_feature(&copy, 130, &none);
        expect_feature(&copy, 255, &last);
        assert_true(build_get_u64(&copy, 72) == 1 << 3);
        assert_true(build_get_u64(&copy, 80) == UINT64_C(1) << (100 - 64));
        build_free(&content);
        build_free(&data);
        build_free(&copy);
        build_free(&host);
        build_free(&odd);
        build_free(&last);
    }
}

static void auxtrace_index(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build content = {.big = big}, data = {.big = big}, copy = {.big = big},
                     index = {.big = big}, expected = {.big = big};
        const struct build_feature features[] = {{18, &index}};
        const struct build_file file = {attrs, 2, &data, features, 1, false, false};
        struct copying copying;
        const size_t start = 104 + 32 + 288;
        size_t aux[2], size;

        put_record(&data, 4, 24); /* 32 bytes, to go */
        aux[0] = start + data.size;
        put_auxtrace(&data, 4096);
        put_record(&data, 3, 8);
        aux[1] = start + data.size;
        put_auxtrace(&data, 64);
        build_u64(&index, 3);
        build_u64(&index, aux[0]);
        build_u64(&index, 48);
        build_u64(&index, aux[1] + 8); /* nothing is there */
        build_u64(&index, 48);
        build_u64(&index, aux[1]);
        build_u64(&index, 48);
        build_file(&content, &file);
        copying_new(&copying, &content);
        copy_records(&copying, 3, 4);
        assert_int_equal(perfdata_write_mapping(copying.writer, &jit, 5), 0);
        copy_records(&copying, UINT64_MAX, 4);
        copying_end(&copying, &copy);

        build_u64(&expected, 2);
        build_u64(&expected, aux[0] - 32);
        build_u64(&expected, 48);
        build_u64(&expected, aux[1] - 32 + 72 + 16 + 48);
        build_u64(&expected, 48);
        expect_feature(&copy, 18, &expected);
        size_t at = feature_at(&copy, 18, &size);
        for (int i = 0; i < 2; i++) {
            size_t record = build_get_u64(&copy, at + 8 + (size_t)i * 16);
            assert_int_equal(build_get_u32(&copy, record), 71);
            assert_int_equal(build_get_u64(&copy, record + 8), i ? 64 : 4096);
            assert_memory_equal(copy.bytes + record, content.bytes + aux[i], i ? 112 : 4144);
        }
        build_free(&content);
        build_free(&data);
        build_free(&copy);
        build_free(&index);
        build_free(&expected);
    }
}

static const uint8_t build_id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static void put_build_id(struct build *out, uint32_t type, const char *name, size_t padding)
{
    size_t record = build_record(out, type, 2 | 1 << 15);

    build_u32(out, UINT32_MAX);
    build_bytes(out, build_id, 20);
    build_bytes(out, (const uint8_t[]){20, 0, 0, 0}, 4);
    build_bytes(out, name, strlen(name) + 1);
    build_zeros(out, padding);
    build_end(out, record);
}

static void build_ids(void **state)
{
    (void)state;
    for (int variant = 0; variant < 6; variant++) {
        bool big = variant & 1, has_rows = variant >= 2, others = variant < 4;
        struct build content = {.big = big}, data = {.big = big}, copy = {.big = big},
                     rows = {.big = big}, host = {.big = big}, expected = {.big = big};
        const struct build_feature features[] = {{1, &host}, {2, &rows}, {3, &host}, {200, &host}};
        const struct build_feature no_rows[] = {{1, &host}, {3, &host}, {200, &host}};
        const struct build_feature only_rows[] = {{2, &rows}};
        const struct build_file file = {attrs,
                                        2,
                                        &data,
                                        !others    ? only_rows
                                        : has_rows ? features
                                                   : no_rows,
                                        !others    ? 1
                                        : has_rows ? 4
                                                   : 3,
                                        false,
                                        false};
        struct copying copying;

        build_text(&host, "host", 64);
        put_build_id(&rows, 0, "[kernel.kallsyms]", 46);
        put_record(&data, 3, 40);
        build_file(&content, &file);
        copying_new(&copying, &content);
        copy_records(&copying, UINT64_MAX, 0);
        assert_int_equal(perfdata_write_build_id(copying.writer, build_id, "/a/jit-1.so"), 0);
        assert_int_equal(perfdata_write_build_id(copying.writer, build_id, "/a/jit-10.so"), 0);
        copying_end(&copying, &copy);
        if (has_rows)
            build_bytes(&expected, rows.bytes, rows.size);
        put_build_id(&expected, 67, "/a/jit-1.so", 0); /* 36 + 12 = 48 */
        put_build_id(&expected, 67, "/a/jit-10.so", 7);
        expect_feature(&copy, 2, &expected);
        if (others) {
            expect_feature(&copy, 1, &host);
            expect_feature(&copy, 3, &host);
            expect_feature(&copy, 200, &host);
        }
        build_free(&content);
        build_free(&data);
        build_free(&copy);
        build_free(&rows);
        build_free(&host);
        build_free(&expected);
    }
}

/* The bit map as a writer has it whose unsigned long has 32 bits, or back again. */
static void swap_halves_of_map(struct build *file)
{
    for (size_t at = 72; at < 104; at += 8) {
        uint64_t word = build_get_u64(file, at);
        build_set_u64(file, at, word << 32 | word >> 32);
    }
}

static void features_of_a_32_bit_machine(void **state)
{
    struct build content = {.big = true}, data = {.big = true}, copy = {.big = true},
                 host = {.big = true}, arch = {.big = true}, rows = {.big = true};
    const struct build_feature features[] = {{3, &host}, {6, &arch}, {40, &host}};
    const struct build_file file = {attrs, 2, &data, features, 3, false, false};
    struct copying copying;

    (void)state;
    build_u32(&host, 64);
    build_text(&host, "host", 64);
    build_u32(&arch, 64);
    build_text(&arch, "ppc", 64);
    put_record(&data, 3, 40);
    build_file(&content, &file);
    swap_halves_of_map(&content);
    copying_new(&copying, &content);
    assert_string_equal(perfdata_arch(copying.opened.data), "ppc");
    copy_records(&copying, UINT64_MAX, 0);
    assert_int_equal(perfdata_write_build_id(copying.writer, build_id, "/a/jit-1.so"), 0);
    copying_end(&copying, &copy);

    put_build_id(&rows, 67, "/a/jit-1.so", 0);
    swap_halves_of_map(&copy);
    expect_feature(&copy, 2, &rows);
    expect_feature(&copy, 3, &host);
    expect_feature(&copy, 6, &arch);
    expect_feature(&copy, 40, &host);
    build_free(&content);
    build_free(&data);
    build_free(&copy);
    build_free(&host);
    build_free(&arch);
    build_free(&rows);
}

static void build_id_in_pipe_form(void **state)
{
    struct build content = {0}, copy = {0};
    struct copying copying;

    (void)state;
    build_pipe(&content);
    put_record(&content, 68, 0);
    copying_new(&copying, &content);
    copy_records(&copying, UINT64_MAX, 0);
    assert_int_equal(perfdata_write_build_id(copying.writer, build_id, "/a/jit-1.so"), 0);
    copying_end(&copying, &copy);
    put_build_id(&content, 67, "/a/jit-1.so", 0);
    expect_equal(&content, &copy);
    build_free(&content);
    build_free(&copy);
}

/* Attrs and ids from behind the data are behind the longer data again. */
static void attrs_behind_the_data(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build content = {.big = big}, data = {.big = big}, copy = {.big = big},
                     host = {.big = big};
        const struct build_feature features[] = {{3, &host}};
        const struct build_file file = {attrs, 2, &data, features, 1, true, false};
        struct copying copying;
        struct opened again;
        size_t count;

        build_text(&host, "host", 64);
        put_record(&data, 3, 40);
        build_file(&content, &file);
        copying_new(&copying, &content);
        copy_records(&copying, UINT64_MAX, 0);
        for (int i = 0; i < 100; i++)
            perfdata_write_mapping(copying.writer, &jit, 5);
        copying_end(&copying, &copy);
        expect_feature(&copy, 3, &host);
        opened_new(&again, &copy);
        assert_int_equal(again.err, 0);
        const struct perfdata_attr *got = perfdata_attrs(again.data, &count);
        assert_int_equal(count, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(got[i].sample_type, attrs[i].sample_type);
            assert_int_equal(got[i].id_count, 2);
            assert_int_equal(got[i].ids[0], attrs[i].ids[0]);
            assert_int_equal(got[i].ids[1], attrs[i].ids[1]);
        }
        assert_int_equal(opened_pass(&again), 101);
        opened_free(&again);
        build_free(&content);
        build_free(&data);
        build_free(&copy);
        build_free(&host);
    }
}

/* Ids behind the data, though the attrs are before it. */
static void ids_behind_the_data(void **state)
{
    struct build content = {0}, data = {0}, copy = {0};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct copying copying;
    struct opened again;
    size_t count;

    (void)state;
    put_record(&data, 3, 40);
    build_file(&content, &file);
    build_set_u64(&content, 104 + 32 + 144 + 128, content.size);
    build_u64(&content, 301);
    build_u64(&content, 302);
    copying_new(&copying, &content);
    copy_records(&copying, UINT64_MAX, 0);
    perfdata_write_mapping(copying.writer, &jit, 5);
    copying_end(&copying, &copy);
    opened_new(&again, &copy);
    assert_int_equal(again.err, 0);
    const struct perfdata_attr *got = perfdata_attrs(again.data, &count);
    assert_int_equal(got[0].ids[1], 102);
    assert_int_equal(got[1].ids[1], 302);
    opened_free(&again);
    build_free(&content);
    build_free(&data);
    build_free(&copy);
}

static void old_header(void **state)
{
    struct build content = {0}, data = {0}, copy = {0};
    const struct build_file file = {
        .attrs = attrs, .attr_count = 2, .data = &data, .old_header = true};
    struct copying copying;

    (void)state;
    put_record(&data, 3, 40);
    build_file(&content, &file);
    copying_new(&copying, &content);
    copy_records(&copying, UINT64_MAX, 0);
    /* There is no room for features: not an error, and not written. */
    assert_int_equal(perfdata_write_build_id(copying.writer, build_id, "/a"), 0);
    copying_end(&copying, &copy);
    expect_equal(&content, &copy);
    build_free(&content);
    build_free(&data);
    build_free(&copy);
}

static void full_disk(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct perfdata_record record;
    struct perfdata_writer *writer;
    struct opened opened;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC), err = 0;

    (void)state;
    if (full < 0)
        skip();
    for (size_t i = 0; i < 100; i++)
        put_record(&data, 3, 60000);
    build_file(&content, &file);
    opened_new(&opened, &content);
    assert_int_equal(perfdata_writer_new(opened.data, PERFDATA_FORM_OF_INPUT, full, &writer), 0);
    while (!err && perfdata_next(opened.data, &record) == 1)
        err = perfdata_keep(writer, &record);
    assert_int_equal(err, -ENOSPC);
    assert_int_equal(perfdata_writer_finish(writer), -ENOSPC);
    perfdata_writer_free(writer);
    /* Without its writer the input reads on. */
    perfdata_rewind(opened.data);
    assert_int_equal(opened_pass(&opened), 100);
    opened_free(&opened);
    close(full);
    build_free(&content);
    build_free(&data);
}

/* The input may be cut by others: the error is about it, not about the output. */
static void cut_since_it_was_opened(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    struct perfdata_writer *writer;
    struct memory_file out;
    struct opened opened;

    (void)state;
    put_record(&data, 3, 100);
    build_file(&content, &file);
    opened_new(&opened, &content);
    memory_file_new(&out, NULL);
    assert_int_equal(truncate(opened.file.path, 50), 0);
    assert_int_equal(perfdata_writer_new(opened.data, PERFDATA_FORM_OF_INPUT, out.fd, &writer),
                     -EBADMSG);
    assert_int_equal(opened.reports.errors, 1);
    assert_int_equal(opened.reports.offset, 50);
    assert_non_null(strstr(opened.reports.text, "cut since it was opened"));
    memory_file_free(&out);
    opened_free(&opened);
    build_free(&content);
    build_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeping_all_changes_nothing),
        cmocka_unit_test(pipe_form),
        cmocka_unit_test(records_left_out),
        cmocka_unit_test(mapping_events),
        cmocka_unit_test(names_of_any_length),
        cmocka_unit_test(features_move),
        cmocka_unit_test(auxtrace_index),
        cmocka_unit_test(build_ids),
        cmocka_unit_test(features_of_a_32_bit_machine),
        cmocka_unit_test(build_id_in_pipe_form),
        cmocka_unit_test(attrs_behind_the_data),
        cmocka_unit_test(ids_behind_the_data),
        cmocka_unit_test(old_header),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(cut_since_it_was_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
