/* SPDX-License-Identifier: MIT */
#include "jitinject/rangemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define SPACE 3000
#define UNSET UINT32_MAX

/* The map must say of each address what an array of addresses says. */
static void check_against(const struct rangemap *map, const uint32_t *values,
                          const uint64_t *stamps)
{
    uint64_t expected = 0;
    struct rangemap_at at = rangemap_find(map, 0);

    for (const struct range *range; (range = rangemap_get(map, at)); rangemap_next(map, &at)) {
        assert_true(range->start < range->end);
        assert_true(range->start >= expected);
        for (; expected < range->start; expected++)
            assert_int_equal(values[expected], UNSET);
        for (; expected < range->end; expected++) {
            assert_int_equal(values[expected], range->value);
            assert_int_equal(stamps[expected], range->stamp);
        }
    }
    for (; expected < SPACE; expected++)
        assert_int_equal(values[expected], UNSET);
}

static void random_changes_match_an_array(void **state)
{
    uint32_t values[SPACE];
    uint64_t stamps[SPACE] = {0};
    struct rangemap map = {0}, copy = {0};

    (void)state;
    srand(1);
    for (size_t i = 0; i < SPACE; i++)
        values[i] = UNSET;
    for (unsigned step = 0; step < 20000; step++) {
        const uint64_t start = (uint64_t)rand() % SPACE;
        const uint64_t longest = step % 500 == 0 ? SPACE : 6;
        uint64_t end = start + (uint64_t)rand() % (longest + 1);
        const uint32_t value = (uint32_t)rand() % 3;
        const uint64_t stamp = (uint64_t)rand() % 2;
        const bool unset = rand() % 4 == 0;

        end = end > SPACE ? SPACE : end;
        if (unset)
            assert_int_equal(rangemap_unset(&map, start, end), 0);
        else
            assert_int_equal(rangemap_set(&map, start, end, value, stamp), 0);
        for (uint64_t at = start; at < end; at++) {
            values[at] = unset ? UNSET : value;
            stamps[at] = stamp;
        }
        if (step % 97 == 0)
            check_against(&map, values, stamps);

        const uint64_t low = (uint64_t)rand() % SPACE, high = low + (uint64_t)rand() % 5;
        bool any = false;
        for (uint64_t at = low; at < high && at < SPACE; at++)
            any |= values[at] != UNSET;
        assert_int_equal(rangemap_overlaps(&map, low, high), any);
    }
    check_against(&map, values, stamps);
    assert_int_equal(rangemap_copy(&copy, &map), 0);
    rangemap_clear(&map);
    check_against(&copy, values, stamps);
    rangemap_clear(&copy);
}

static void neighbours_become_one(void **state)
{
    struct rangemap map = {0};

    (void)state;
    assert_int_equal(rangemap_set(&map, 0, 10, 7, 1), 0);
    assert_int_equal(rangemap_set(&map, 20, 30, 7, 1), 0);
    assert_false(rangemap_holds(&map, 5, 25));
    assert_int_equal(rangemap_set(&map, 10, 20, 7, 1), 0);
    assert_true(rangemap_holds(&map, 0, 30));
    assert_false(rangemap_holds(&map, 0, 31));
    rangemap_clear(&map);
}

static void walks_backwards(void **state)
{
    struct rangemap map = {0};
    struct rangemap_at at;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(rangemap_set(&map, 10 * i, 10 * i + 5, (uint32_t)i, 0), 0);
    at = rangemap_find(&map, UINT64_MAX - 1);
    assert_null(rangemap_get(&map, at));
    for (uint64_t i = 1000; i-- > 0;)
        assert_int_equal(rangemap_previous(&map, &at)->value, i);
    assert_null(rangemap_previous(&map, &at));
    rangemap_clear(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_match_an_array),
        cmocka_unit_test(neighbours_become_one),
        cmocka_unit_test(walks_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
