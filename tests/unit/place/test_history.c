/* SPDX-License-Identifier: MIT */
#include "../../../src/place/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* What a reader finds that looks at every change. */
static const struct history_change *latest(const struct history_change *changes, size_t count,
                                           uint64_t address, uint64_t time)
{
    const struct history_change *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (changes[i].time <= time && changes[i].start <= address && address < changes[i].end &&
            (!found || changes[i].time >= found->time))
            found = &changes[i];
    return found;
}

static void check(const struct history *history, struct history_memo *memo,
                  const struct history_change *expected, uint64_t address, uint64_t time)
{
    const struct history_change *found = history_find(history, address, time, memo);

    assert_int_equal(!expected, !found);
    if (expected)
        assert_int_equal(expected->value, found->value);
}

static void random_histories_match_a_list(void **state)
{
    (void)state;
    srand(2);
    for (size_t count = 1; count < 120; count++) {
        struct history history = {0};
        struct history_change changes[120];

        for (size_t i = 0; i < count; i++) {
            changes[i] = (struct history_change){.time = (uint64_t)rand() % 40,
                                                 .start = 100 + (uint64_t)rand() % 50,
                                                 .value = (uint32_t)i};
            changes[i].end = changes[i].start + 1 + (uint64_t)rand() % 20;
            assert_int_equal(history_add(&history, &changes[i]), 0);
        }
        assert_int_equal(history_index(&history), 0);
        struct history_memo memo = {0};
        for (uint64_t address = 95; address < 175; address++)
            for (uint64_t time = 0; time < 42; time++)
                check(&history, &memo, latest(changes, count, address, time), address, time);
        for (unsigned i = 0; i < 2000; i++) {
            const uint64_t address = 95 + (uint64_t)rand() % 80, time = (uint64_t)rand() % 42;
            check(&history, &memo, latest(changes, count, address, time), address, time);
        }
        history_clear(&history);
    }
}

static void an_empty_history_finds_nothing(void **state)
{
    struct history history = {0};

    (void)state;
    assert_int_equal(history_index(&history), 0);
    struct history_memo memo = {0};
    assert_null(history_find(&history, 5, 5, &memo));
    assert_null(history_find(&history, UINT64_MAX, UINT64_MAX, &memo));
    history_clear(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories_match_a_list),
        cmocka_unit_test(an_empty_history_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
