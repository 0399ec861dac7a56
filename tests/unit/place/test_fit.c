/* SPDX-License-Identifier: MIT */
#include "jitinject/place.h"

#include "mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAP  UINT64_C(0x7f0000000000)
#define AHEAD INT64_C(-7000000) /* of the mappings' clock, in all tests */

static struct place *new_place(void)
{
    const struct place_options options = {0};
    struct place *place;

    assert_int_equal(place_new(&options, &place), 0);
    return place;
}

/* The clock of the mappings when that of the pieces shows `time`. */
static uint64_t ahead(uint64_t time)
{
    return time + (uint64_t)AHEAD;
}

static void map(struct place *place, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size)
{
    assert_int_equal(add_mapping(place, pid, time, addr, size, 0, PLACE_ANONYMOUS, 0, time), 0);
}

static struct code piece(uint32_t pid, uint64_t time, uint64_t addr)
{
    return (struct code){.pid = pid, .time = time, .addr = addr, .size = 64};
}

static struct place_fit *new_fit(struct place *place, struct code *codes, size_t count)
{
    struct code *list[16];
    struct place_fit *fit;

    for (size_t i = 0; i < count; i++)
        list[i] = &codes[i];
    assert_int_equal(place_fit_new(place, list, count, &fit), 0);
    return fit;
}

static void memory_code_and_samples_bound_it(void **state)
{
    struct code codes[] = {piece(7, 10000100, HEAP), piece(7, 10000900, HEAP + 64),
                           piece(7, 20000000, HEAP), piece(7, 30000050, HEAP + 0x1000)};
    struct place *place = new_place();

    (void)state;
    map(place, 7, ahead(10000000), HEAP, 0x1000);
    map(place, 7, ahead(30000000), HEAP, 0x2000); /* new are its last 0x1000 bytes only */
    struct place_fit *fit = new_fit(place, codes, 4);
    assert_false(place_fit_bounds(fit, 0).has_high);
    place_fit_sample(fit, 7, HEAP + 70, ahead(10001900));
    place_fit_sample(fit, 7, HEAP + 10, ahead(20000010)); /* in the second, which hardly began */
    place_fit_sample(fit, 7, HEAP + 128, ahead(1));       /* behind all code */
    place_fit_sample(fit, 8, HEAP + 70, ahead(1));        /* another process */
    const struct place_bounds bounds = place_fit_bounds(fit, 0);
    assert_true(bounds.has_low && bounds.has_high);
    assert_int_equal(bounds.low, AHEAD - 50);
    assert_int_equal(bounds.high, AHEAD + 1000);
    place_fit_free(fit);
    place_free(place);
}

static void old_memory_tells_nothing(void **state)
{
    struct code codes[] = {piece(7, 1000, HEAP), piece(7, 2000, HEAP + 0x1000)};
    struct place *place = new_place();

    (void)state;
    map(place, 7, 0, HEAP, 0x1000);
    map(place, 7, 8000000, HEAP + 0x2000, 0x1000); /* behind the second piece */
    map(place, 7, 9000000, HEAP, 0x1000);
    struct place_fit *fit = new_fit(place, codes, 2);
    assert_false(place_fit_bounds(fit, 0).has_low);
    assert_false(place_fit_bounds(fit, 1).has_low); /* no such dump */
    place_fit_free(fit);
    place_free(place);
}

/* A child's first mapping of an address may be of memory that it has from its parent. */
static void inherited_memory_tells_nothing(void **state)
{
    struct code codes[] = {piece(7, 8000000, HEAP), piece(9, 9000000, HEAP + 0x1000)};
    struct place *place = new_place();

    (void)state;
    codes[1].source = 1;
    assert_int_equal(place_add_fork(place, 8, 7, ahead(8500000)), 0);
    assert_int_equal(place_add_fork(place, 9, 8, ahead(8600000)), 0);
    map(place, 7, ahead(7900000), HEAP, 0x1000);
    map(place, 9, ahead(9500000), HEAP + 0x1000, 0x1000);
    struct place_fit *fit = new_fit(place, codes, 2);
    assert_true(place_fit_bounds(fit, 0).has_low);
    assert_false(place_fit_bounds(fit, 1).has_low);
    place_fit_free(fit);
    place_free(place);
}

static void dumps_are_judged_apart(void **state)
{
    struct code codes[] = {piece(7, 8000000, HEAP), piece(8, 8000000, HEAP)};
    struct place *place = new_place();

    (void)state;
    codes[1].source = 3;
    map(place, 7, ahead(7900000), HEAP, 0x1000);
    map(place, 8, 42, HEAP, 0x1000);
    struct place_fit *fit = new_fit(place, codes, 2);
    place_fit_sample(fit, 7, HEAP, ahead(8000100));
    place_fit_sample(fit, 8, HEAP, 50);
    assert_int_equal(place_fit_bounds(fit, 0).low, AHEAD - 100000);
    assert_int_equal(place_fit_bounds(fit, 0).high, AHEAD + 100);
    assert_int_equal(place_fit_bounds(fit, 3).low, 42 - 8000000);
    assert_int_equal(place_fit_bounds(fit, 3).high, 50 - 8000000);
    assert_false(place_fit_bounds(fit, 2).has_high);
    place_fit_free(fit);
    /* It leaves nothing behind. */
    assert_int_equal(place_add_codes(place, codes, 2), 0);
    assert_int_equal(place_run(place), 0);
    place_free(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_code_and_samples_bound_it),
        cmocka_unit_test(old_memory_tells_nothing),
        cmocka_unit_test(inherited_memory_tells_nothing),
        cmocka_unit_test(dumps_are_judged_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
