/* SPDX-License-Identifier: MIT */
/* Reading from a second place: together, two readers see what one sees. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

#define RECORDS   600
#define A_ROUND   20 /* records */
#define ROUND     68
#define AUXTRACE  71
#define ROUND_U64 UINT64_C(0x0008000000000044) /* the end of a round, as a word */

static const struct build_attr timed = {.sample_type = IP | TID | TIME,
                                        .flags = FLAG_SAMPLE_ID_ALL | FLAG_MMAP2};

struct seen {
    uint64_t number, offset;
    uint32_t type;
};

struct list {
    struct seen seen[2 * RECORDS];
    size_t count;
    int64_t end; /* 0, or the error */
    struct reports reports;
};

static void put_sample(struct build *data, uint64_t ip)
{
    const size_t record = build_record(data, 9, 2);

    build_u64(data, ip);
    build_u32(data, 100);
    build_u32(data, 101);
    build_u64(data, 1000);
    build_end(data, record);
}

static void put_exit(struct build *data)
{
    const size_t record = build_record(data, 4, 0);

    build_zeros(data, 24 + 16);
    build_end(data, record);
}

static void put_round(struct build *data)
{
    build_end(data, build_record(data, ROUND, 0));
}

/* Rounds of samples, with something else among them now and then. */
static void put_records(struct build *data, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (i % A_ROUND == A_ROUND - 1)
            put_round(data);
        else if (i % 7 == 3)
            put_exit(data);
        else
            put_sample(data, i);
}

static void open_with(struct opened *opened, const struct build *data)
{
    struct build content = {.big = data->big};
    const struct build_file file = {.attrs = &timed, .attr_count = 1, .data = data};

    build_file(&content, &file);
    opened_new(opened, &content);
    assert_int_equal(opened->err, 0);
    build_free(&content);
}

static void note(struct list *list, uint64_t first, const struct perfdata_record *record)
{
    assert_true(list->count < sizeof(list->seen) / sizeof(list->seen[0]));
    list->seen[list->count++] = (struct seen){first + record->number, record->offset, record->type};
}

/* What one reader sees. */
static void read_alone(const struct build *data, struct list *list)
{
    struct perfdata_record record;
    struct opened opened;

    *list = (struct list){0};
    open_with(&opened, data);
    while ((list->end = perfdata_next(opened.data, &record)) > 0)
        note(list, 0, &record);
    list->reports = opened.reports;
    opened_free(&opened);
}

/* What a branch sees from `offset` on, samples one by one; those of a batch are of one size. */
static void read_branch(struct perfdata *branch, uint64_t offset, struct list *list)
{
    struct perfdata_samples samples;
    struct perfdata_record record;

    for (;;) {
        if (perfdata_next_samples(branch, &samples)) {
            for (size_t i = 0; i < samples.count; i++) {
                note(list, 0,
                     &(struct perfdata_record){
                         .number = list->count, .offset = offset, .type = PERFDATA_SAMPLE});
                offset += samples.size / samples.count;
            }
        } else if (perfdata_next_plain(branch, &record)) {
            note(list, 0, &record);
            offset = record.offset + record.size;
        } else {
            return;
        }
    }
}

/* What two see, of which the second begins once the first has read `before` records. Returns
 * whether they met. */
static bool read_together(const struct build *data, size_t before, struct list *list)
{
    struct list behind = {0};
    struct perfdata_record record;
    struct perfdata *branch = NULL;
    struct opened opened;
    uint64_t offset = 0;
    bool met = false;

    *list = (struct list){0};
    open_with(&opened, data);
    while ((list->end = perfdata_next(opened.data, &record)) > 0) {
        note(list, 0, &record);
        if (branch && record.offset == offset) {
            const uint64_t first = perfdata_branch_join(opened.data, branch);
            assert_int_equal(first, record.number);
            for (size_t i = 1; i < behind.count; i++) {
                list->seen[list->count] = behind.seen[i];
                list->seen[list->count++].number += first;
            }
            met = true;
            perfdata_free(branch);
            branch = NULL;
        } else if (list->count == before) {
            assert_int_equal(perfdata_branch(opened.data, &branch), 0);
            offset = perfdata_branch_begin(branch);
            if (offset != UINT64_MAX)
                read_branch(branch, offset, &behind);
        }
    }
    list->reports = opened.reports;
    perfdata_free(branch);
    opened_free(&opened);
    return met;
}

static void expect_same(const struct list *one, const struct list *two)
{
    assert_int_equal(one->count, two->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_int_equal(one->seen[i].number, two->seen[i].number);
        assert_int_equal(one->seen[i].offset, two->seen[i].offset);
        assert_int_equal(one->seen[i].type, two->seen[i].type);
    }
    assert_int_equal(one->end, two->end);
    assert_int_equal(one->reports.errors, two->reports.errors);
    assert_int_equal(one->reports.warnings, two->reports.warnings);
    assert_string_equal(one->reports.text, two->reports.text);
}

/* Whether two readers meet, wherever the second begins; they see the same in any case. */
static bool check(const struct build *data)
{
    struct list alone, together;
    bool met = true;

    read_alone(data, &alone);
    for (size_t before = 1; before < alone.count / 2; before += 13) {
        met &= read_together(data, before, &together);
        expect_same(&alone, &together);
    }
    return met;
}

static void rest_is_read(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct build data = {.big = big};

        put_records(&data, RECORDS);
        assert_true(check(&data));
        build_free(&data);
    }
}

/* A number within a record looks like the end of a round. */
static void false_rounds(void **state)
{
    (void)state;
    struct build data = {0};

    for (unsigned i = 0; i < RECORDS; i++)
        if (i % A_ROUND == 0)
            put_round(&data);
        else
            put_sample(&data, ROUND_U64);
    assert_false(check(&data));
    build_free(&data);
}

static void no_rounds(void **state)
{
    (void)state;
    struct build data = {0};

    for (unsigned i = 0; i < RECORDS; i++)
        put_sample(&data, i);
    assert_false(check(&data));
    build_free(&data);
}

/* Behind the middle comes what the second reader leaves to the first. */
static void odd_records(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct build data = {0};

        put_records(&data, RECORDS - 5 * A_ROUND);
        size_t record = build_record(&data, kind == 0 ? AUXTRACE : 90, 0);
        build_u64(&data, kind == 0 ? 64 : 0); /* bytes behind it */
        build_zeros(&data, 32);
        build_end(&data, record);
        if (kind == 0)
            put_records(&data, 2); /* its payload, of 64 bytes */
        if (kind == 2)
            build_set_u16(&data, record + 6, 4);
        put_records(&data, 5 * A_ROUND);
        if (kind == 3)
            data.size -= 4;
        assert_true(check(&data));
        build_free(&data);
    }
}

/* A record is not whole in the buffer, wherever it is. */
static void long_records(void **state)
{
    (void)state;
    struct build data = {0};

    for (unsigned i = 0; i < 60; i++) {
        const size_t record = build_record(&data, 4, 0);
        build_zeros(&data, 65528 - 8 * (i % 5) - 8);
        build_end(&data, record);
        if (i % 3 == 0)
            put_round(&data);
    }
    assert_true(check(&data));
    build_free(&data);
}

static void expect_none(const struct build *content)
{
    struct perfdata *branch;
    struct opened opened;

    opened_new(&opened, content);
    assert_int_equal(opened.err, 0);
    assert_int_equal(perfdata_branch(opened.data, &branch), -ENOTSUP);
    assert_null(branch);
    opened_free(&opened);
}

static void not_of_a_pipe(void **state)
{
    (void)state;
    struct build content = {0};

    build_pipe(&content);
    put_records(&content, RECORDS);
    expect_none(&content);
    build_free(&content);
}

static void not_of_compressed_records(void **state)
{
    (void)state;
    struct build data = {0}, content = {0}, payload = {0};
    const struct build_feature feature = {.bit = PERFDATA_FEATURE_COMPRESSED, .payload = &payload};
    const struct build_file file = {
        .attrs = &timed, .attr_count = 1, .data = &data, .features = &feature, .feature_count = 1};

    put_records(&data, RECORDS);
    build_zeros(&payload, 20);
    build_file(&content, &file);
    expect_none(&content);
    build_free(&content);
    build_free(&payload);
    build_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_is_read),
        cmocka_unit_test(false_rounds),
        cmocka_unit_test(no_rounds),
        cmocka_unit_test(odd_records),
        cmocka_unit_test(long_records),
        cmocka_unit_test(not_of_a_pipe),
        cmocka_unit_test(not_of_compressed_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
