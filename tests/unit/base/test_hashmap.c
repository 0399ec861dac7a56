/* SPDX-License-Identifier: MIT */
/* The table against a plain array that does the same slowly. */
#include "jitinject/hashmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 64, PIDS = 4, STEPS = 200000 };

struct model {
    bool there[KEYS][PIDS];
    uint64_t value[KEYS][PIDS];
    size_t count;
};

/* Keys of all sizes, many of which differ in high bits only. */
static uint64_t key_of(unsigned number)
{
    return number % 2 ? number : (uint64_t)number << 57 | number;
}

static void compare(const struct hashmap *map, const struct model *model)
{
    assert_int_equal(map->count, model->count);
    for (unsigned key = 0; key < KEYS; key++) {
        for (unsigned pid = 0; pid < PIDS; pid++) {
            const uint64_t *value = hashmap_find(map, key_of(key), pid);
            assert_int_equal(value != NULL, model->there[key][pid]);
            if (value)
                assert_int_equal(*value, model->value[key][pid]);
        }
    }
}

static void behaves_as_its_model(void **state)
{
    static struct model model;
    struct hashmap map = {0};

    (void)state;
    srand(1);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned key = (unsigned)rand() % KEYS, pid = (unsigned)rand() % PIDS;
        uint64_t value = 0;
        if (rand() % 2) {
            value = (uint64_t)rand();
            assert_int_equal(hashmap_put(&map, key_of(key), pid, value), 0);
            model.count += !model.there[key][pid];
            model.there[key][pid] = true;
            model.value[key][pid] = value;
        } else {
            assert_int_equal(hashmap_take(&map, key_of(key), pid, &value), model.there[key][pid]);
            if (model.there[key][pid])
                assert_int_equal(value, model.value[key][pid]);
            model.count -= model.there[key][pid];
            model.there[key][pid] = false;
        }
        if (step % 500 == 0)
            compare(&map, &model);
    }
    compare(&map, &model);
    hashmap_clear(&map);
    assert_null(hashmap_find(&map, 1, 1));
}

static void holds_many(void **state)
{
    struct hashmap map = {0};

    (void)state;
    for (uint64_t i = 0; i < 300000; i++)
        assert_int_equal(hashmap_put(&map, i << 32, (uint32_t)i, i), 0);
    assert_int_equal(map.count, 300000);
    for (uint64_t i = 0; i < 300000; i++)
        assert_int_equal(*hashmap_find(&map, i << 32, (uint32_t)i), i);
    hashmap_empty(&map);
    assert_int_equal(map.count, 0);
    assert_null(hashmap_find(&map, 0, 0));
    assert_int_equal(hashmap_put(&map, 0, 0, 1), 0);
    assert_int_equal(*hashmap_find(&map, 0, 0), 1);
    hashmap_clear(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_as_its_model),
        cmocka_unit_test(holds_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
