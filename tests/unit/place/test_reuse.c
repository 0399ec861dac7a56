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
#define SINCE 100
#define MAX   40

static bool same_name(void *context, const struct code *a, const struct code *b)
{
    (void)context;
    return a->size == b->size && a->name == b->name;
}

static struct place *new_place(void)
{
    const struct place_options options = {.same_code = same_name};
    struct place *place;

    assert_int_equal(place_new(&options, &place), 0);
    return place;
}

static struct code piece(uint32_t pid, uint64_t addr, uint64_t size, uint64_t name)
{
    return (struct code){.pid = pid, .addr = addr, .size = size, .name = name};
}

/* Marks `count` pieces that are there from SINCE on. */
static void mark(struct place *place, struct code *codes, size_t count)
{
    struct code *list[MAX];
    uint64_t since[MAX];

    for (size_t i = 0; i < count; i++) {
        list[i] = &codes[i];
        since[i] = SINCE;
    }
    assert_int_equal(place_mark_reused(place, list, since, count), 0);
}

static bool is_reused(const struct code *code)
{
    return code->flags & CODE_REUSED;
}

static void neighbours_share_nothing(void **state)
{
    struct code codes[] = {piece(7, HEAP, 64, 0), piece(7, HEAP + 64, 64, 1), piece(8, HEAP, 64, 2),
                           piece(7, HEAP + 32, 0, 3)};
    struct place *place = new_place();

    (void)state;
    mark(place, codes, 4);
    for (size_t i = 0; i < 4; i++)
        assert_false(is_reused(&codes[i]));
    place_free(place);
}

static void the_same_code_again_is_no_other(void **state)
{
    struct code codes[] = {piece(7, HEAP, 64, 0), piece(7, HEAP, 64, 0), piece(7, HEAP, 64, 0)};
    struct place *place = new_place();

    (void)state;
    mark(place, codes, 3);
    for (size_t i = 0; i < 3; i++)
        assert_false(is_reused(&codes[i]));
    /* Until something covers a part of it. */
    struct code more[] = {codes[0], codes[1], codes[2], piece(7, HEAP + 63, 1, 1),
                          piece(7, HEAP + 64, 64, 2)};
    mark(place, more, 5);
    for (size_t i = 0; i < 4; i++)
        assert_true(is_reused(&more[i]));
    assert_false(is_reused(&more[4]));
    place_free(place);
}

static void a_file_counts_if_it_came_later(void **state)
{
    struct code codes[] = {piece(7, HEAP, 64, 0), piece(7, HEAP + 0x1000, 64, 1),
                           piece(7, HEAP + 0x2000, 64, 2), piece(8, HEAP + 0x1000, 64, 3)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, SINCE, HEAP, 64, 0, PLACE_FILE, 1, 1), 0);
    assert_int_equal(add_mapping(place, 7, SINCE + 1, HEAP + 0x103f, 64, 0, PLACE_DATA, 1, 2), 0);
    assert_int_equal(add_mapping(place, 7, SINCE + 1, HEAP + 0x2000, 64, 0, PLACE_ANONYMOUS, 0, 3),
                     0);
    mark(place, codes, 4);
    assert_false(is_reused(&codes[0]));
    assert_true(is_reused(&codes[1]));
    assert_false(is_reused(&codes[2]));
    assert_false(is_reused(&codes[3]));
    place_free(place);
}

/* Also across a generation without code of its own. */
static void a_child_shares_what_it_inherits(void **state)
{
    struct code codes[] = {piece(7, HEAP, 64, 0), piece(9, HEAP + 8, 8, 1),
                           piece(10, HEAP + 8, 8, 2), piece(7, HEAP + 64, 64, 3),
                           piece(9, HEAP + 64, 64, 3)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(place_add_fork(place, 9, 8, 300), 0);
    assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
    assert_int_equal(place_fork_time(place, 9), 300);
    assert_int_equal(place_fork_time(place, 7), 0);
    mark(place, codes, 5);
    assert_true(is_reused(&codes[0]));
    assert_true(is_reused(&codes[1]));
    assert_false(is_reused(&codes[2]));
    assert_false(is_reused(&codes[3]));
    assert_false(is_reused(&codes[4]));
    place_free(place);
}

/* Workers have an address to themselves, unless the memory is that of their master. */
static void workers_share_what_they_have_in_common(void **state)
{
    (void)state;
    for (uint64_t memory = 0; memory < 2; memory++) {
        struct code codes[] = {piece(8, HEAP, 64, 0),          piece(9, HEAP + 32, 64, 1),
                               piece(8, HEAP + 128, 64, 2),    piece(9, HEAP + 128, 64, 2),
                               piece(8, HEAP + 0x1000, 64, 3), piece(9, HEAP + 0x1000, 64, 4)};
        struct place *place = new_place();
        assert_int_equal(add_mapping(place, 7, 10, HEAP, 0x1000, 0, PLACE_ANONYMOUS, memory, 1), 0);
        assert_int_equal(add_mapping(place, 7, 10, HEAP + 0x1000, 0x1000, 0, PLACE_ANONYMOUS, 0, 2),
                         0);
        assert_int_equal(place_add_fork(place, 8, 7, 20), 0);
        assert_int_equal(place_add_fork(place, 9, 7, 21), 0);
        mark(place, codes, 6);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(is_reused(&codes[i]), memory && i < 2);
        place_free(place);
    }
}

static void a_circle_of_forks_ends(void **state)
{
    struct code codes[] = {piece(7, HEAP, 64, 0), piece(8, HEAP, 64, 1)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(place_add_fork(place, 7, 8, 200), 0);
    assert_int_equal(place_add_fork(place, 8, 7, 300), 0);
    mark(place, codes, 2);
    assert_true(is_reused(&codes[0]) && is_reused(&codes[1]));
    place_free(place);
}

struct file {
    uint32_t pid;
    uint64_t time, start, end;
};

static bool overlaps(const struct code *code, uint64_t start, uint64_t end)
{
    return code->addr < end && start < code->addr + code->size;
}

/* The rule, by looking at every pair. */
static bool expected(const struct code *codes, size_t count, size_t which, const struct file *files,
                     size_t file_count)
{
    const struct code *code = &codes[which];

    for (size_t i = 0; i < count; i++)
        if (i != which && overlaps(code, codes[i].addr, codes[i].addr + codes[i].size) &&
            !(code->addr == codes[i].addr && same_name(NULL, code, &codes[i])))
            return true;
    /* A file that hides a piece hides it from all that had that piece. */
    for (size_t i = 0; i < file_count; i++)
        for (size_t n = 0; n < count; n++)
            if (codes[n].addr == code->addr && same_name(NULL, code, &codes[n]) &&
                codes[n].pid == code->pid && files[i].pid == code->pid && files[i].time > SINCE &&
                overlaps(code, files[i].start, files[i].end))
                return true;
    return false;
}

/* A parent and its child: all of their pieces may meet. */
static void random_pieces_are_judged_as_pair_by_pair(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 3000; round++) {
        struct place *place = new_place();
        struct code codes[MAX];
        struct file files[3];
        const size_t count = 1 + (size_t)rand() % MAX;

        assert_int_equal(place_add_fork(place, 8, 7, 50), 0);
        for (size_t i = 0; i < count; i++)
            codes[i] = piece(7 + (uint32_t)rand() % 2, HEAP + (uint64_t)rand() % 400,
                             1 + (uint64_t)rand() % 12, (uint64_t)rand() % 2);
        for (size_t i = 0; i < 3; i++) {
            files[i].pid = 7 + (uint32_t)rand() % 2;
            files[i].time = SINCE - 1 + (uint64_t)rand() % 3;
            files[i].start = HEAP + (uint64_t)rand() % 400;
            files[i].end = files[i].start + 1 + (uint64_t)rand() % 20;
            assert_int_equal(add_mapping(place, files[i].pid, files[i].time, files[i].start,
                                         files[i].end - files[i].start, 0, PLACE_FILE, 1, i),
                             0);
        }
        mark(place, codes, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(is_reused(&codes[i]), expected(codes, count, i, files, 3));
        place_free(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_share_nothing),
        cmocka_unit_test(the_same_code_again_is_no_other),
        cmocka_unit_test(a_file_counts_if_it_came_later),
        cmocka_unit_test(a_child_shares_what_it_inherits),
        cmocka_unit_test(workers_share_what_they_have_in_common),
        cmocka_unit_test(a_circle_of_forks_ends),
        cmocka_unit_test(random_pieces_are_judged_as_pair_by_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
