/* SPDX-License-Identifier: MIT */
#include "jitinject/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "found.h"
#include "mapping.h"

#define HEAP   UINT64_C(0x7f0000000000)
#define SIZE   UINT64_C(0x1000)
#define MEMORY 77

enum { MASTER = 7, FIRST = 8, SECOND = 9, STRANGER = 10 };

static struct place *new_place(void)
{
    const struct place_options options = {0};
    struct place *place;

    assert_int_equal(place_new(&options, &place), 0);
    return place;
}

static void map(struct place *place, uint32_t pid, uint64_t time, uint64_t memory)
{
    assert_int_equal(add_mapping(place, pid, time, HEAP, SIZE, 0, PLACE_ANONYMOUS, memory, time),
                     0);
}

/* Two workers with the memory of their master. */
static struct place *new_family(uint64_t memory)
{
    struct place *place = new_place();

    map(place, MASTER, 10, memory);
    assert_int_equal(place_add_fork(place, FIRST, MASTER, 20), 0);
    assert_int_equal(place_add_fork(place, SECOND, MASTER, 21), 0);
    return place;
}

static void run(struct place *place, struct code *codes, size_t count)
{
    assert_int_equal(place_add_codes(place, codes, count), 0);
    assert_int_equal(place_run(place), 0);
}

static bool is_named(struct place *place, uint32_t pid, uint64_t time)
{
    return found_at(place, pid, HEAP, time) == PLACE_NAMED;
}

/* The file over HEAP in a process at a time, as one who reads the events has it; -1: none. */
static int file_of(const struct place *place, uint32_t pid, uint64_t time)
{
    int file = -1;

    for (size_t i = 0; i < place_event_count(place); i++) {
        const struct place_event event = place_event(place, i);
        if (event.time <= time && event.pid == pid && event.addr <= HEAP &&
            HEAP - event.addr < event.len)
            file = (int)event.file;
    }
    return file;
}

static struct code piece(uint64_t time, uint32_t pid)
{
    return (struct code){.time = time, .addr = HEAP, .size = 64, .name = time, .pid = pid};
}

static void code_of_one_is_there_for_all(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(40, SECOND)};
    struct place *place = new_family(MEMORY);
    size_t files;

    (void)state;
    run(place, codes, 2);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 2);
    for (uint32_t pid = MASTER; pid <= SECOND; pid++) {
        assert_true(is_named(place, pid, 35));
        assert_ptr_equal(file[file_of(place, pid, 35)].codes[0], &codes[0]);
        assert_ptr_equal(file[file_of(place, pid, 45)].codes[0], &codes[1]);
    }
    place_free(place);
}

static void private_memory_is_not_shared(void **state)
{
    struct code code = piece(30, FIRST);
    struct place *place = new_family(0);

    (void)state;
    run(place, &code, 1);
    assert_true(is_named(place, FIRST, 35));
    assert_false(is_named(place, MASTER, 35));
    assert_false(is_named(place, SECOND, 35));
    place_free(place);
}

/* It has its own memory over the one that it inherited. */
static void who_has_other_memory_there_does_not_get_it(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(40, SECOND)};
    struct place *place = new_family(MEMORY);
    size_t files;

    (void)state;
    map(place, SECOND, 25, 0);
    run(place, codes, 2);
    const struct place_file *file = place_files(place, &files);
    assert_ptr_equal(file[file_of(place, MASTER, 45)].codes[0], &codes[0]);
    assert_ptr_equal(file[file_of(place, FIRST, 45)].codes[0], &codes[0]);
    assert_ptr_equal(file[file_of(place, SECOND, 45)].codes[0], &codes[1]);
    assert_int_not_equal(file_of(place, SECOND, 35), file_of(place, MASTER, 35));
    place_free(place);
}

static void who_became_another_program_does_not_get_it(void **state)
{
    struct code code = piece(30, FIRST);
    struct place *place = new_family(MEMORY);

    (void)state;
    assert_int_equal(place_add_exec(place, SECOND, 25), 0);
    map(place, SECOND, 26, 0);
    run(place, &code, 1);
    assert_true(is_named(place, MASTER, 35));
    assert_false(is_named(place, SECOND, 35));
    assert_int_equal(file_of(place, SECOND, 35), -1);
    place_free(place);
}

/* A shell becomes the master. */
static void who_has_become_another_program_shares(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(40, SECOND)};
    struct place *place = new_place();

    (void)state;
    map(place, MASTER, 2, 0);
    assert_int_equal(place_add_exec(place, MASTER, 5), 0);
    map(place, MASTER, 10, MEMORY);
    assert_int_equal(place_add_fork(place, FIRST, MASTER, 20), 0);
    assert_int_equal(place_add_fork(place, SECOND, MASTER, 21), 0);
    run(place, codes, 2);
    assert_true(is_named(place, SECOND, 35));
    assert_true(is_named(place, MASTER, 35));
    assert_int_equal(file_of(place, FIRST, 45), file_of(place, SECOND, 45));
    place_free(place);
}

/* As after perf came to processes that were there: it tells no forks, but all mappings. */
/* Unless a thread of it ran on; and who gets its pid is another one. */
static void who_has_ended_does_not_get_it(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(40, SECOND), piece(60, SECOND),
                           piece(80, SECOND)};
    struct place *place = new_family(MEMORY);

    (void)state;
    assert_int_equal(place_add_exit(place, FIRST, 35), 0);
    assert_int_equal(place_add_exit(place, FIRST, 50), 0);
    assert_int_equal(place_add_fork(place, FIRST, MASTER, 70), 0);
    run(place, codes, 4);
    const int first = file_of(place, FIRST, 30), second = file_of(place, FIRST, 40);
    assert_int_not_equal(first, second);
    assert_int_equal(file_of(place, FIRST, 60), second);
    assert_int_equal(file_of(place, SECOND, 60), file_of(place, MASTER, 60));
    assert_int_not_equal(file_of(place, SECOND, 60), second);
    assert_int_equal(file_of(place, FIRST, 80), file_of(place, SECOND, 80));
    place_free(place);
}

static void the_same_memory_is_enough(void **state)
{
    struct code code = piece(30, FIRST);
    struct place *place = new_place();

    (void)state;
    map(place, MASTER, 0, MEMORY);
    map(place, FIRST, 0, MEMORY);
    map(place, STRANGER, 0, MEMORY + 1);
    run(place, &code, 1);
    assert_true(is_named(place, MASTER, 35));
    assert_true(is_named(place, FIRST, 35));
    assert_false(is_named(place, STRANGER, 35));
    place_free(place);
}

static void a_later_worker_inherits_it(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(60, FIRST)};
    struct place *place = new_family(MEMORY);

    (void)state;
    assert_int_equal(place_add_fork(place, STRANGER, MASTER, 50), 0);
    run(place, codes, 2);
    assert_true(is_named(place, STRANGER, 55));
    assert_int_equal(file_of(place, STRANGER, 55), -1);
    assert_int_equal(file_of(place, STRANGER, 65), file_of(place, MASTER, 65));
    place_free(place);
}

/* Readers measure from it in each process; a later worker inherits it. */
static void each_process_has_the_first_page_of_the_file(void **state)
{
    struct code codes[] = {piece(30, FIRST), piece(60, FIRST)};
    struct place *place = new_family(MEMORY);
    unsigned pages[STRANGER + 1] = {0};

    (void)state;
    codes[1].addr = HEAP + SIZE - 64;
    map(place, SECOND, 25, 0);
    map(place, SECOND, 40, MEMORY);
    assert_int_equal(place_add_fork(place, STRANGER, MASTER, 50), 0);
    run(place, codes, 2);
    for (size_t i = 0; i < place_event_count(place); i++) {
        const struct place_event event = place_event(place, i);
        pages[event.pid] += event.offset == 0;
    }
    assert_int_equal(pages[MASTER], 1);
    assert_int_equal(pages[FIRST], 1);
    assert_int_equal(pages[SECOND], 1);
    assert_int_equal(pages[STRANGER], 0);
    place_free(place);
}

/* Whether two events of a process lead to the same addresses. */
static bool maps_twice(const struct place *place, uint32_t pid)
{
    for (size_t i = 0; i < place_event_count(place); i++)
        for (size_t k = 0; k < i; k++) {
            const struct place_event a = place_event(place, i), b = place_event(place, k);
            if (a.pid == pid && b.pid == pid && a.addr < b.addr + b.len && b.addr < a.addr + a.len)
                return true;
        }
    return false;
}

/*
 * A worker has code of its own beside memory that it shares. The only room for the first page
 * of the file with the upper code is in the lower memory, between two pieces there, which are
 * one mapping: that would be cut.
 */
static void files_lie_beside_what_others_map(void **state)
{
    static const uint64_t memories[][2] = {{MEMORY, 0}, {0, MEMORY}}; /* the lower, the upper */
    const uint64_t upper = HEAP + PLACE_TEXT_OFFSET + 8 * SIZE;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct code codes[] = {piece(30, FIRST), piece(31, FIRST), piece(32, FIRST)};
        struct place *place = new_place();

        codes[1].addr = HEAP + 15 * SIZE;
        codes[2].addr = upper;
        assert_int_equal(add_mapping(place, MASTER, 8, HEAP - SIZE, SIZE, 0, PLACE_FILE, 1, 8), 0);
        assert_int_equal(add_mapping(place, MASTER, 10, HEAP, upper - HEAP, 0, PLACE_ANONYMOUS,
                                     memories[i][0], 10),
                         0);
        assert_int_equal(
            add_mapping(place, MASTER, 11, upper, SIZE, 0, PLACE_ANONYMOUS, memories[i][1], 11), 0);
        assert_int_equal(place_add_fork(place, FIRST, MASTER, 20), 0);
        run(place, codes, 3);
        assert_int_equal(file_of(place, FIRST, 40), memories[i][0] ? 0 : 1);
        assert_false(maps_twice(place, FIRST));
        place_free(place);
    }
}

/*
 * There is one page of room for the first page of two files: one with the memory that is
 * shared, and one with code that FIRST has for itself. Processes lie in order of appearance,
 * and MASTER, which had the memory first, before FIRST or after it.
 */
static void a_room_has_one_first_page(void **state)
{
    static const uint32_t orders[][2] = {{MASTER, FIRST}, {FIRST, MASTER}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct code codes[] = {piece(30, FIRST), piece(31, FIRST)};
        struct place *place = new_place();

        codes[0].addr = HEAP + SIZE;
        codes[1].addr = HEAP + 2 * SIZE;
        for (size_t n = 0; n < 2; n++) {
            const uint32_t pid = orders[i][n];
            const uint64_t time = pid == MASTER ? 10 : 11;
            assert_int_equal(add_mapping(place, pid, 8, HEAP - SIZE, SIZE, 0, PLACE_FILE, 1, 8), 0);
            assert_int_equal(
                add_mapping(place, pid, time, HEAP + SIZE, SIZE, 0, PLACE_ANONYMOUS, MEMORY, time),
                0);
        }
        run(place, codes, 2);
        assert_int_equal(found_at(place, MASTER, HEAP + SIZE, 35), PLACE_NAMED);
        assert_false(maps_twice(place, FIRST));
        place_free(place);
    }
}

/* One that shares the memory has inherited a file, or code on both sides of the room. */
static void files_lie_beside_what_others_inherited(void **state)
{
    const uint64_t room = HEAP - PLACE_TEXT_OFFSET;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct code codes[] = {piece(30, FIRST), piece(12, STRANGER), piece(13, STRANGER)};
        struct place *place = new_place();

        codes[1].addr = room - SIZE;
        codes[2].addr = room + SIZE;
        map(place, FIRST, 10, MEMORY);
        if (i == 0)
            assert_int_equal(add_mapping(place, STRANGER, 11, room, SIZE, 0, PLACE_FILE, 1, 11), 0);
        assert_int_equal(place_add_fork(place, SECOND, STRANGER, 20), 0);
        map(place, SECOND, 21, MEMORY);
        run(place, codes, i == 0 ? 1 : 3);
        assert_true(is_named(place, SECOND, 35));
        for (size_t n = 0; n < place_event_count(place); n++) {
            const struct place_event event = place_event(place, n);
            assert_false(event.pid == SECOND && event.addr < room + SIZE &&
                         event.addr + event.len > room);
        }
        place_free(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_one_is_there_for_all),
        cmocka_unit_test(private_memory_is_not_shared),
        cmocka_unit_test(who_has_other_memory_there_does_not_get_it),
        cmocka_unit_test(who_became_another_program_does_not_get_it),
        cmocka_unit_test(who_has_become_another_program_shares),
        cmocka_unit_test(who_has_ended_does_not_get_it),
        cmocka_unit_test(the_same_memory_is_enough),
        cmocka_unit_test(a_later_worker_inherits_it),
        cmocka_unit_test(each_process_has_the_first_page_of_the_file),
        cmocka_unit_test(files_lie_beside_what_others_map),
        cmocka_unit_test(a_room_has_one_first_page),
        cmocka_unit_test(files_lie_beside_what_others_inherited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
