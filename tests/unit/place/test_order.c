/* SPDX-License-Identifier: MIT */
#include "../../../src/place/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT 5000

/* Pieces of random keys: `bits` of them, so that few bits make many equal ones. `name` is the
 * order that they are in at first. */
static void make(struct code *codes, struct code **list, size_t count, unsigned bits)
{
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < count; i++) {
        random ^= random << 13; /* xorshift64, Marsaglia 2003 */
        random ^= random >> 7;
        random ^= random << 17;
        const uint64_t key = random >> (64 - bits);
        codes[i] =
            (struct code){.time = key, .addr = key, .layer = (uint32_t)(key >> 32), .name = i};
        list[i] = &codes[i];
    }
}

static uint64_t key_of(const struct code *code, enum order by)
{
    return by == ORDER_TIME ? code->time : by == ORDER_ADDR ? code->addr : code->layer;
}

static void check(struct code *const *list, size_t count, enum order by)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += list[i]->name;
    assert_int_equal(sum, count * (count - 1) / 2);
    for (size_t i = 1; i < count; i++) {
        const uint64_t before = key_of(list[i - 1], by), here = key_of(list[i], by);
        assert_true(before < here || (before == here && list[i - 1]->name < list[i]->name));
    }
}

static void any_number_of_any_keys_keeps_the_order_of_equals(void **state)
{
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 34, 256, COUNT};
    static const unsigned bits[] = {1, 4, 9, 33, 40, 64};
    struct code *codes = calloc(COUNT, sizeof(*codes));
    struct code **list = calloc(COUNT, sizeof(struct code *));

    (void)state;
    assert_non_null(codes);
    assert_non_null(list);
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
        for (size_t b = 0; b < sizeof(bits) / sizeof(bits[0]); b++)
            for (enum order by = ORDER_TIME; by <= ORDER_LAYER; by++) {
                make(codes, list, counts[c], bits[b]);
                assert_int_equal(order_codes(list, counts[c], by), 0);
                check(list, counts[c], by);
            }
    free(list);
    free(codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_any_keys_keeps_the_order_of_equals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
