/* SPDX-License-Identifier: MIT */
/* The finder against a look at each piece, at every address of a span and around it. */
#include "../../../src/place/finder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BASE UINT64_C(0x7f0000000000)

struct pieces {
    struct code codes[200];
    struct code *list[200];
    size_t count;
};

/* Pieces one after the other, of sizes up to `size`, with gaps of up to `gap` bytes. */
static void make_pieces(struct pieces *pieces, uint64_t size, uint64_t gap)
{
    uint64_t at = BASE + (uint64_t)random() % 64;

    for (size_t i = 0; i < pieces->count; i++) {
        pieces->codes[i] =
            (struct code){.addr = at, .size = 1 + (uint32_t)((uint64_t)random() % size)};
        pieces->list[i] = &pieces->codes[i];
        at += pieces->codes[i].size + (uint64_t)random() % (gap + 1);
    }
}

static bool any_holds(const struct pieces *pieces, uint64_t addr)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (addr - pieces->codes[i].addr < pieces->codes[i].size)
            return true;
    return false;
}

static bool holds(const struct finder *finder, uint64_t addr)
{
    const struct place_view view = {.grid = &finder->grid};

    if (addr - finder->grid.start >= finder->grid.span)
        return false;
    if (place_grid_is_full(view.grid, addr))
        return true;
    finder_fetch_part(finder, addr);
    finder_fetch_range(finder, addr);
    return finder_search(finder, addr);
}

static void check(size_t count, uint64_t size, uint64_t gap)
{
    struct pieces pieces = {.count = count};
    struct finder *finder;

    make_pieces(&pieces, size, gap);
    assert_int_equal(finder_new(pieces.list, count, &finder), 0);
    const uint64_t end = pieces.codes[count - 1].addr + pieces.codes[count - 1].size + 100;
    for (uint64_t addr = BASE - 10; addr < end; addr++)
        if (holds(finder, addr) != any_holds(&pieces, addr))
            fail_msg("%zu pieces of up to %u bytes, gaps up to %u: wrong at +%u", count,
                     (unsigned)size, (unsigned)gap, (unsigned)(addr - BASE));
    assert_false(holds(finder, 0));
    assert_false(holds(finder, UINT64_MAX));
    finder_free(finder);
}

static void every_address(void **state)
{
    static const uint64_t sizes[] = {1, 15, 16, 100, 2000}, gaps[] = {0, 1, 15, 40, 3000};

    (void)state;
    srandom(7);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
            check(1, sizes[s], gaps[g]);
            check(2, sizes[s], gaps[g]);
            check(60, sizes[s], gaps[g]);
        }
    check(200, 16, 0);
}

/* Where there is not much code, the bits alone tell. */
static void at_hand(void **state)
{
    struct pieces pieces = {.count = 60};
    struct finder *finder;

    (void)state;
    make_pieces(&pieces, 100, 15);
    assert_int_equal(finder_new(pieces.list, pieces.count, &finder), 0);
    for (uint64_t i = 0, addr = finder->grid.start; i < finder->grid.span; i++, addr++)
        assert_int_equal(place_grid_is_full(&finder->grid, addr), any_holds(&pieces, addr));
    finder_free(finder);
}

/* Few pieces far apart: a granule is large, and memory must not follow the span. */
static void far_apart(void **state)
{
    struct code codes[] = {{.addr = BASE, .size = 64},
                           {.addr = BASE + 0x7fff0000, .size = 0x10000},
                           {.addr = BASE + 0xfffffff0, .size = 15}};
    struct code *list[] = {&codes[0], &codes[1], &codes[2]};
    struct finder *finder;

    (void)state;
    assert_int_equal(finder_new(list, 3, &finder), 0);
    assert_true(place_grid_size(&finder->grid) < 200);
    for (size_t i = 0; i < 3; i++) {
        assert_false(holds(finder, codes[i].addr - 1));
        assert_true(holds(finder, codes[i].addr));
        assert_true(holds(finder, codes[i].addr + codes[i].size - 1));
        assert_false(holds(finder, codes[i].addr + codes[i].size));
    }
    finder_free(finder);
}

static void too_far(void **state)
{
    struct code codes[] = {{.addr = BASE, .size = 1}, {.addr = BASE + UINT32_MAX, .size = 16}};
    struct code *list[] = {&codes[0], &codes[1]};
    struct finder *finder;

    (void)state;
    assert_int_equal(finder_new(list, 2, &finder), -EOVERFLOW);
    assert_null(finder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address),
        cmocka_unit_test(at_hand),
        cmocka_unit_test(far_apart),
        cmocka_unit_test(too_far),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
