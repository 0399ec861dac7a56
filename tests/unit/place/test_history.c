/* SPDX-License-Identifier: MIT */
/* Histories against a look at each change, and what they say of other addresses and times. */
#include "../../../src/place/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define EVENTS_MAX 2500
/* All is between these, which are asked for, too. */
#define LOW  95
#define HIGH 175

struct past {
    struct event events[EVENTS_MAX]; /* by time */
    size_t count;
    struct history history;
};

/* The last of them at or before `time` that covers the address. */
static const struct event *latest(const struct past *past, uint64_t address, uint64_t time)
{
    for (size_t i = past->count; i-- > 0;) {
        const struct event *event = &past->events[i];
        if (event->is_change && event->time <= time && event->addr <= address &&
            address < event->addr + event->len)
            return event;
    }
    return NULL;
}

static void index_all(struct past *past)
{
    past->history = (struct history){0};
    for (uint32_t i = 0; i < past->count; i++)
        if (past->events[i].is_change)
            assert_int_equal(history_add(&past->history, i), 0);
    assert_int_equal(history_index(&past->history, past->events), 0);
}

static uint64_t random_within(uint64_t low, uint64_t high)
{
    return low + (uint64_t)rand() % (high - low);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The answer is right, and so it is wherever it says that it is the same. */
static void check(struct past *past, uint64_t address, uint64_t time)
{
    struct history_box box;
    const struct event *found = history_find(&past->history, address, time, &box);

    assert_ptr_equal(found, latest(past, address, time));
    assert_true(box.start <= address && address < box.end);
    assert_true(box.since <= time && time < box.until);
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t other = random_within(box.start, smaller(box.end, HIGH + 1));
        const uint64_t then = random_within(box.since, smaller(box.until, time + 50));
        assert_ptr_equal(found, latest(past, other, then));
    }
}

static void random_histories_match_a_list(void **state)
{
    static struct past past;

    (void)state;
    srand(2);
    for (unsigned round = 0; round < 120; round++) {
        past.count = round;
        for (size_t i = 0; i < past.count; i++) {
            struct event *event = &past.events[i];
            *event = (struct event){.time = (i ? event[-1].time : 0) + (uint64_t)rand() % 2,
                                    .addr = 100 + (uint64_t)rand() % 50,
                                    .len = 1 + (uint32_t)rand() % 20,
                                    .is_change = rand() % 4 > 0};
        }
        index_all(&past);
        for (uint64_t address = LOW; address < HIGH; address++)
            for (uint64_t time = 0; time < round / 2 + 5; time++)
                check(&past, address, time);
        for (unsigned i = 0; i < 2000; i++)
            check(&past, random_within(LOW, HIGH), random_within(0, round / 2 + 5));
        history_clear(&past.history);
    }
}

/* One address is used over and over, by code that ever less often reaches the last of its bytes;
 * beside it is code of which the same blocks have some. */
static void old_changes_are_found_below_many(void **state)
{
    static struct past past;

    (void)state;
    srand(3);
    past.count = EVENTS_MAX;
    for (size_t i = 0; i < past.count; i++) {
        const uint32_t most = 1 + 30 / (1 + (uint32_t)i / 100);
        const bool is_beside = i < EVENTS_MAX / 2 && i % 3 == 0;
        past.events[i] = (struct event){.time = 10 + i,
                                        .addr = is_beside ? 140 : 100,
                                        .len = 1 + (uint32_t)rand() % most,
                                        .is_change = true};
    }
    index_all(&past);
    assert_int_equal(past.history.node_count, 2);
    assert_true(past.history.level_count > 1);
    for (unsigned i = 0; i < 20000; i++)
        check(&past, random_within(LOW, HIGH), random_within(0, 20 + EVENTS_MAX));
    history_clear(&past.history);
}

static void the_whole_address_space_is_asked_for(void **state)
{
    static struct past past;
    struct history_box box;

    (void)state;
    past.count = 2;
    past.events[0] = (struct event){.time = 5, .addr = 0, .len = 10, .is_change = true};
    past.events[1] =
        (struct event){.time = UINT64_MAX, .addr = UINT64_MAX - 9, .len = 9, .is_change = true};
    index_all(&past);
    assert_ptr_equal(history_find(&past.history, 0, 5, &box), &past.events[0]);
    assert_int_equal(box.end, 10);
    assert_null(history_find(&past.history, UINT64_MAX - 1, 5, &box));
    assert_int_equal(box.until, UINT64_MAX);
    assert_ptr_equal(history_find(&past.history, UINT64_MAX - 1, UINT64_MAX, &box),
                     &past.events[1]);
    assert_null(history_find(&past.history, UINT64_MAX, UINT64_MAX, &box));
    history_clear(&past.history);
}

static void an_empty_history_finds_nothing(void **state)
{
    struct history history = {0};
    struct history_box box;

    (void)state;
    assert_int_equal(history_index(&history, NULL), 0);
    assert_null(history_find(&history, 5, 5, &box));
    assert_null(history_find(&history, UINT64_MAX, UINT64_MAX, &box));
    history_clear(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories_match_a_list),
        cmocka_unit_test(old_changes_are_found_below_many),
        cmocka_unit_test(the_whole_address_space_is_asked_for),
        cmocka_unit_test(an_empty_history_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
