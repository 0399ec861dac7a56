/* SPDX-License-Identifier: MIT */
/* What is a perf.data file, and what is said about what is none. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct build_attr one_attr = {.type = 1,
                                           .config = 0,
                                           .sample_type = IP | TID | TIME | IDENTIFIER,
                                           .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2,
                                           .ids = {11, 12},
                                           .id_count = 2};

static void a_round(struct build *data)
{
    build_end(data, build_record(data, PERFDATA_FINISHED_ROUND, 0));
}

/* The smallest file: one attr, one record, the ARCH feature. */
static void small_file(struct build *out, bool big, const struct build_attr *attr)
{
    struct build data = {.big = big}, arch = {.big = big};
    const struct build_feature features[] = {{6, &arch}};

    out->big = big;
    a_round(&data);
    build_u32(&arch, 64);
    build_text(&arch, "aarch64", 64);
    const struct build_file file = {attr, 1, &data, features, 1, false, false};
    build_file(out, &file);
    build_free(&data);
    build_free(&arch);
}

static void header_of_either_byte_order(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build content = {0};
        struct build_attr attr = one_attr;
        struct opened opened;
        size_t count;

        attr.flags |= FLAG_USE_CLOCKID;
        attr.clockid = -3;
        small_file(&content, big, &attr);
        opened_new(&opened, &content);
        assert_int_equal(opened.err, 0);
        assert_int_equal(perfdata_swapped(opened.data),
                         big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
        assert_string_equal(perfdata_arch(opened.data), "aarch64");

        const struct perfdata_attr *got = perfdata_attrs(opened.data, &count);
        assert_int_equal(count, 1);
        assert_int_equal(got->type, 1);
        assert_int_equal(got->size, 128);
        assert_int_equal(got->sample_type, IP | TID | TIME | IDENTIFIER);
        assert_true(got->flags == (FLAG_SAMPLE_ID_ALL | FLAG_MMAP2 | FLAG_USE_CLOCKID));
        assert_true(got->sample_id_all && got->tracks_mmap && got->use_clockid);
        assert_int_equal(got->clockid, -3);
        assert_int_equal(got->id_count, 2);
        assert_int_equal(got->ids[0], 11);
        assert_int_equal(got->ids[1], 12);
        assert_true(got->takes_samples);
        assert_int_equal(opened_pass(&opened), 1);
        assert_int_equal(opened.reports.errors, 0);
        opened_free(&opened);
        build_free(&content);
    }
}

static void attrs_of_other_sizes(void **state)
{
    static const struct {
        uint32_t size;
        bool unsaid;
    } cases[] = {{64, true}, {64, false}, {72, false}, {136, false}, {144, false}, {4096, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct build content = {0};
        struct build_attr attr = one_attr;
        struct opened opened;
        size_t count;

        attr.size = cases[i].size;
        attr.size_unsaid = cases[i].unsaid;
        attr.clockid = 4;
        small_file(&content, false, &attr);
        opened_new(&opened, &content);
        assert_int_equal(opened.err, 0);
        const struct perfdata_attr *got = perfdata_attrs(opened.data, &count);
        assert_int_equal(count, 1);
        assert_int_equal(got->size, cases[i].size);
        assert_int_equal(got->clockid, cases[i].size < 96 ? 0 : 4);
        assert_int_equal(got->ids[1], 12);
        opened_free(&opened);
        build_free(&content);
    }
}

static void dummy_takes_no_samples(void **state)
{
    struct build content = {0};
    struct build_attr attr = one_attr;
    struct opened opened;
    size_t count;

    (void)state;
    attr.config = 9;
    small_file(&content, false, &attr);
    opened_new(&opened, &content);
    assert_false(perfdata_attrs(opened.data, &count)->takes_samples);
    opened_free(&opened);
    build_free(&content);
}

static void attrs_behind_the_data(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_file file = {
        .attrs = &one_attr, .attr_count = 1, .data = &data, .attrs_behind = true};
    struct opened opened;
    size_t count;

    (void)state;
    a_round(&data);
    build_file(&content, &file);
    opened_new(&opened, &content);
    assert_int_equal(opened.err, 0);
    assert_int_equal(perfdata_attrs(opened.data, &count)->ids[1], 12);
    assert_int_equal(opened_pass(&opened), 1);
    assert_null(perfdata_arch(opened.data));
    opened_free(&opened);
    build_free(&content);
    build_free(&data);
}

static void old_header_has_no_features(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_file file = {
        .attrs = &one_attr, .attr_count = 1, .data = &data, .old_header = true};
    struct opened opened;

    (void)state;
    a_round(&data);
    build_file(&content, &file);
    opened_new(&opened, &content);
    assert_int_equal(opened.err, 0);
    assert_int_equal(opened_pass(&opened), 1);
    opened_free(&opened);
    build_free(&content);
    build_free(&data);
}

static void expect_refusal(const struct build *content, int err, uint64_t offset, const char *word)
{
    struct opened opened;

    opened_new(&opened, content);
    assert_int_equal(opened.err, err);
    assert_int_equal(opened.reports.errors, 1);
    assert_int_equal(opened.reports.offset, offset);
    assert_non_null(strstr(opened.reports.text, word));
    opened_free(&opened);
}

static void what_is_no_perf_data(void **state)
{
    struct build content = {0};

    (void)state;
    expect_refusal(&content, -EBADMSG, 0, "empty");
    build_text(&content, "#!/bin/sh\n# a script that somebody gave by mistake\n", 8);
    expect_refusal(&content, -EBADMSG, 0, "not a perf.data");
    memcpy(content.bytes, "PERFFILE", 8);
    expect_refusal(&content, -EBADMSG, 0, "2.6.36");
    build_free(&content);
}

static void impossible_headers(void **state)
{
    static const struct {
        size_t at;
        uint64_t value, offset;
        const char *word;
    } cases[] = {
        {8, 96, 8, "96 bytes"},         /* header size */
        {16, 0, 16, "0 bytes"},         /* attr size */
        {24, 90, 24, "list of events"}, /* attrs within the header */
        {24, UINT64_MAX - 10, 24, "list of events"},
        {32, UINT64_MAX, 24, "list of events"},
        {40, 96, 40, "not all in the file"}, /* data within the header */
        {40, UINT64_MAX - 3, 40, "not all in the file"},
        {48, 1 << 20, 40, "not all in the file"},
        {48, UINT64_MAX, 40, "not all in the file"},
        {24, 200, 24, "within the data"},              /* attrs over the data */
        {104 + 16 + 128, 264, 248, "within the data"}, /* ids over the data */
        {104 + 16 + 128, 1 << 20, 248, "ids"},
        {104 + 16 + 136, UINT64_MAX - 7, 248, "ids"},
        {264 + 8, 1 << 20, 272, "feature 6"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct build content = {0};
        small_file(&content, false, &one_attr);
        build_set_u64(&content, cases[i].at, cases[i].value);
        expect_refusal(&content, -EBADMSG, cases[i].offset, cases[i].word);
        build_free(&content);
    }
}

/* Each list of ids lies within the file; but no file has an id twice. */
static void more_ids_than_the_file_holds(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_attr attrs[] = {one_attr, one_attr};
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};
    const size_t entry = 104 + 32; /* of the first one, behind the ids of both */

    (void)state;
    a_round(&data);
    build_file(&content, &file);
    for (size_t i = 0; i < 2; i++) {
        build_set_u64(&content, entry + i * 144 + 128, 0);
        build_set_u64(&content, entry + i * 144 + 136, content.size / 2 / 8 * 8 + 8);
    }
    expect_refusal(&content, -EBADMSG, entry + 144 + 128, "more ids");
    build_free(&content);
    build_free(&data);
}

static void ids_at_different_places(void **state)
{
    struct build content = {0}, data = {0};
    const struct build_attr attrs[] = {
        {.sample_type = IP | TID | TIME | ID,
         .flags = FLAG_SAMPLE_ID_ALL,
         .ids = {1},
         .id_count = 1},
        {.sample_type = TID | TIME | ID, .flags = FLAG_SAMPLE_ID_ALL, .ids = {2}, .id_count = 1},
    };
    const struct build_file file = {.attrs = attrs, .attr_count = 2, .data = &data};

    (void)state;
    a_round(&data);
    build_file(&content, &file);
    expect_refusal(&content, -EBADMSG, 104 + 16 + 144, "different places");
    build_free(&content);
    build_free(&data);
}

static void what_is_no_regular_file(void **state)
{
    char directory[] = "/tmp/test-perfdata-XXXXXX", absent[64];
    struct perfdata *data;
    struct reports reports;
    struct diag diag = reports_diag(&reports);

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(absent, sizeof(absent), "%s/absent", directory);
    assert_int_equal(perfdata_open(directory, NULL, &diag, &data), -ENOENT);
    assert_int_equal(perfdata_open(absent, NULL, &diag, &data), -ENOENT);
    assert_null(data);
    assert_int_equal(reports.errors, 2);
    rmdir(directory);
}

static void file_of_another_user(void **state)
{
    struct build content = {0};
    struct memory_file file;
    struct reports reports;
    struct diag diag = reports_diag(&reports);
    struct perfdata *data;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    small_file(&content, false, &one_attr);
    memory_file_new(&file, &content);
    assert_int_equal(fchown(file.fd, 12345, 12345), 0);
    assert_int_equal(perfdata_open(file.path, NULL, &diag, &data), -EPERM);
    assert_non_null(strstr(reports.text, "-f"));
    const struct perfdata_options options = {.force = true};
    assert_int_equal(perfdata_open(file.path, &options, &diag, &data), 0);
    perfdata_free(data);
    memory_file_free(&file);
    build_free(&content);
}

/* Cut anywhere, a file is refused, with a word about it. */
static void cut_anywhere(void **state)
{
    struct build content = {0};

    (void)state;
    small_file(&content, false, &one_attr);
    for (size_t size = 0; size < content.size; size++) {
        struct build cut = {0};
        struct opened opened;
        build_bytes(&cut, content.bytes, size);
        opened_new(&opened, &cut);
        assert_int_equal(opened.err, -EBADMSG);
        assert_int_equal(opened.reports.errors, 1);
        opened_free(&opened);
        build_free(&cut);
    }
    build_free(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_of_either_byte_order),
        cmocka_unit_test(attrs_of_other_sizes),
        cmocka_unit_test(dummy_takes_no_samples),
        cmocka_unit_test(attrs_behind_the_data),
        cmocka_unit_test(old_header_has_no_features),
        cmocka_unit_test(what_is_no_perf_data),
        cmocka_unit_test(impossible_headers),
        cmocka_unit_test(more_ids_than_the_file_holds),
        cmocka_unit_test(ids_at_different_places),
        cmocka_unit_test(what_is_no_regular_file),
        cmocka_unit_test(file_of_another_user),
        cmocka_unit_test(cut_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
