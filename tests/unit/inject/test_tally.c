/* SPDX-License-Identifier: MIT */
/* What samples tell: the same whether they are counted in one go or in two. */
#include "../../../src/inject/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void add(struct tally *tally, const struct perfdata_sample *list, size_t count)
{
    struct perfdata_samples samples = {.list = list, .count = count, .first_time = UINT64_MAX};

    for (size_t i = 0; i < count; i++) {
        if (!perfdata_is_time(list[i].time))
            continue;
        if (list[i].time < samples.first_time)
            samples.first_time = list[i].time;
        if (list[i].time > samples.last_time)
            samples.last_time = list[i].time;
    }
    assert_int_equal(tally_samples(tally, &samples), 0);
}

static bool has(const struct tally *tally, uint32_t pid)
{
    return rangemap_overlaps(&tally->processes, pid, pid + UINT64_C(1));
}

static const struct perfdata_sample list[] = {
    {.pid = 100, .time = 5000}, {.pid = 101, .time = 4000}, {.pid = 7, .time = 0},
    {.pid = 7, .time = ~0ull},  {.pid = 102, .time = 9000}, {.pid = UINT32_MAX, .time = 3000},
};
#define COUNT (sizeof(list) / sizeof(list[0]))

/* Times that are none do not count; neighbours among pids become one range. */
static void expect_all(const struct tally *tally)
{
    assert_int_equal(tally->samples, COUNT);
    assert_true(tally->timed);
    assert_int_equal(tally->first_time, 3000);
    assert_int_equal(tally->last_time, 9000);
    assert_true(has(tally, 7) && has(tally, 100) && has(tally, 101) && has(tally, 102));
    assert_true(has(tally, UINT32_MAX));
    assert_false(has(tally, 0) || has(tally, 8) || has(tally, 99) || has(tally, 103));
}

static void in_one_go(void **state)
{
    (void)state;
    struct tally tally = {.with_processes = true};

    add(&tally, list, COUNT);
    expect_all(&tally);
    tally_clear(&tally);
}

static void in_two(void **state)
{
    (void)state;
    for (size_t first = 0; first <= COUNT; first++) {
        struct tally tally = {.with_processes = true}, other = {.with_processes = true};

        add(&tally, list, first);
        add(&other, list + first, COUNT - first);
        assert_int_equal(tally_add(&tally, &other), 0);
        expect_all(&tally);
        tally_clear(&other);
        tally_clear(&tally);
    }
}

static void without_times(void **state)
{
    (void)state;
    struct tally tally = {0}, other = {0};

    add(&tally, list + 2, 2);
    add(&other, list + 2, 1);
    assert_int_equal(tally_add(&tally, &other), 0);
    assert_int_equal(tally.samples, 3);
    assert_false(tally.timed);
    assert_int_equal(tally.first_time, 0);
    assert_int_equal(tally.last_time, 0);
    assert_false(has(&tally, 7)); /* nobody asked */
    tally_clear(&other);
    tally_clear(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_go),
        cmocka_unit_test(in_two),
        cmocka_unit_test(without_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
