/* SPDX-License-Identifier: MIT */
/* Names without times: where they hold, and since when. */
#include "jitinject/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "found.h"
#include "mapping.h"

#define HEAP       UINT64_C(0x7f0000000000)
#define MAP_SOURCE 3

struct made {
    struct place *place;
    uint64_t records;
    char text[4096];
};

static bool same_name(void *context, const struct code *a, const struct code *b)
{
    (void)context;
    return a->source == b->source && a->name == b->name;
}

static void begin(struct made *made)
{
    const struct place_options options = {.same_code = same_name};

    *made = (struct made){0};
    assert_int_equal(place_new(&options, &made->place), 0);
}

static void map(struct made *made, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size,
                enum place_mapping_kind kind)
{
    assert_int_equal(add_mapping(made->place, pid, time, addr, size, 0, kind,
                                 kind != PLACE_ANONYMOUS, made->records++),
                     0);
}

/* Names are numbers: symbols[i] is called by `name`. */
static struct code_symbol symbol(uint64_t addr, uint32_t size, uint64_t name)
{
    return (struct code_symbol){.addr = addr, .size = size, .name = name, .name_size = 1};
}

static void add(struct made *made, uint32_t pid, const struct code_symbol *symbols, size_t count)
{
    assert_int_equal(place_add_snapshot(made->place, pid, UINT64_MAX, MAP_SOURCE, symbols, count),
                     0);
}

/* All pieces in the files, as "pid time addr-HEAP size name;", in the order of the files. */
static const char *pieces(struct made *made)
{
    size_t count, used = 0;

    assert_int_equal(place_run(made->place), 0);
    const struct place_file *files = place_files(made->place, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < files[i].code_count; k++) {
            const struct code *code = files[i].codes[k];
            if (code->source == MAP_SOURCE)
                assert_int_equal(code->flags & CODE_NO_BYTES, CODE_NO_BYTES);
            used += (size_t)snprintf(
                made->text + used, sizeof(made->text) - used, "%u %llu %llx %x %llu;", code->pid,
                (unsigned long long)code->time, (unsigned long long)(code->addr - HEAP), code->size,
                (unsigned long long)code->name);
        }
    }
    return made->text;
}

static bool is_named(const struct made *made, uint32_t pid, uint64_t addr, uint64_t time)
{
    return found_at(made->place, pid, addr, time) == PLACE_NAMED;
}

static void from_the_time_that_memory_is_there(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0x100, 0x40, 1),
                                          symbol(HEAP + 0x200, 0x40, 2)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP, 0x10000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 2);
    assert_string_equal(pieces(&made), "7 501 100 40 1;7 501 200 40 2;");
    assert_false(is_named(&made, 7, HEAP + 0x110, 499));
    assert_true(is_named(&made, 7, HEAP + 0x110, 501));
    assert_false(is_named(&made, 7, HEAP + 0x150, 501));
    assert_false(is_named(&made, 8, HEAP + 0x110, 501));
    place_free(made.place);
}

/* A heap that grows downwards and upwards, and is told of as a whole. */
static void what_is_new_of_memory_that_was_there_in_part(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0x100, 0x40, 1),
                                          symbol(HEAP + 0x1100, 0x40, 2),
                                          symbol(HEAP + 0x2100, 0x40, 3)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP + 0x1000, 0x1000, PLACE_ANONYMOUS);
    map(&made, 7, 600, HEAP, 0x3000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 3);
    assert_string_equal(pieces(&made), "7 601 100 40 1;7 501 1100 40 2;7 601 2100 40 3;");
    place_free(made.place);
}

/* As of memory that perf found when it was attached. */
static void from_the_beginning(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0x100, 0x40, 1)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 0, HEAP, 0x10000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 1);
    assert_string_equal(pieces(&made), "7 1 100 40 1;");
    place_free(made.place);
}

/* V8 has its builtins in the map, which are in node's own file, and bytecode, which nobody maps. */
static void not_in_files_and_not_elsewhere(void **state)
{
    const struct code_symbol symbols[] = {
        symbol(HEAP, 0x40, 1), symbol(HEAP + 0xff0, 0x20, 2), /* from the file into the memory */
        symbol(HEAP + 0x1ff8, 0x10, 3),                       /* beyond it */
        symbol(HEAP + 0x100000, 0x10, 4),                     /* nothing is known of there */
    };
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP, 0x1000, PLACE_FILE);
    map(&made, 7, 600, HEAP + 0x1000, 0x1000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 4);
    assert_string_equal(pieces(&made), "7 601 1000 10 2;7 601 1ff8 8 3;");
    assert_false(is_named(&made, 7, HEAP + 0x10, 1000));
    place_free(made.place);
}

static void a_file_hides_them_until_memory_is_there_again(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0x1000, 0x40, 1),
                                          symbol(HEAP + 0x3000, 0x40, 2)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP, 0x10000, PLACE_ANONYMOUS);
    map(&made, 7, 1000, HEAP, 0x2000, PLACE_FILE);
    map(&made, 7, 2000, HEAP, 0x10000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 2);
    assert_string_equal(pieces(&made), "7 501 1000 40 1;7 501 3000 40 2;");
    assert_true(is_named(&made, 7, HEAP + 0x1000, 999));
    assert_false(is_named(&made, 7, HEAP + 0x1000, 1500));
    assert_true(is_named(&made, 7, HEAP + 0x1000, 2001));
    assert_true(is_named(&made, 7, HEAP + 0x3000, 1500));
    place_free(made.place);
}

/* Page by page, as with mprotect: the function is there when all of its memory is. */
static void memory_bit_by_bit_is_one_piece(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0xf00, 0x200, 1)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 700, HEAP + 0x1000, 0x1000, PLACE_ANONYMOUS);
    map(&made, 7, 500, HEAP, 0x1000, PLACE_ANONYMOUS);
    map(&made, 7, 900, HEAP, 0x2000, PLACE_ANONYMOUS);
    add(&made, 7, symbols, 1);
    assert_string_equal(pieces(&made), "7 701 f00 200 1;");
    place_free(made.place);
}

static void what_a_dump_names_keeps_its_names(void **state)
{
    const struct code_symbol symbols[] = {symbol(HEAP + 0x100, 0x100, 1),
                                          symbol(HEAP + 0x300, 0x40, 2),
                                          symbol(HEAP + 0x400, 0x40, 3)};
    struct code codes[] = {
        {.time = 800, .addr = HEAP + 0x140, .size = 0x20, .name = 90, .pid = 7},
        {.time = 900, .addr = HEAP + 0x300, .size = 0x40, .name = 91, .pid = 7},
    };
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP, 0x10000, PLACE_ANONYMOUS);
    assert_int_equal(place_add_codes(made.place, codes, 2), 0);
    add(&made, 7, symbols, 3);
    assert_string_equal(pieces(&made), "7 501 100 40 1;7 800 140 20 90;7 501 160 a0 1;"
                                       "7 900 300 40 91;7 501 400 40 3;");
    place_free(made.place);
}

/* A child has the memory of its parent, and the parent's names until it has its own. */
static void forked_children(void **state)
{
    const struct code_symbol parent[] = {symbol(HEAP + 0x100, 0x40, 1),
                                         symbol(HEAP + 0x200, 0x40, 2)};
    const struct code_symbol child[] = {symbol(HEAP + 0x200, 0x40, 5),
                                        symbol(HEAP + 0x300, 0x40, 6),
                                        symbol(HEAP + 0x20100, 0x40, 7)};
    struct made made;

    (void)state;
    begin(&made);
    map(&made, 7, 500, HEAP, 0x10000, PLACE_ANONYMOUS);
    assert_int_equal(place_add_fork(made.place, 8, 7, 1000), 0);
    map(&made, 7, 1100, HEAP + 0x20000, 0x1000, PLACE_ANONYMOUS); /* not the child's */
    map(&made, 8, 1200, HEAP + 0x30000, 0x1000, PLACE_ANONYMOUS);
    add(&made, 7, parent, 2);
    add(&made, 8, child, 3);
    assert_string_equal(pieces(&made),
                        "7 501 100 40 1;7 501 200 40 2;8 1001 200 40 5;8 1001 300 40 6;");
    assert_true(is_named(&made, 8, HEAP + 0x110, 1001));
    assert_false(is_named(&made, 7, HEAP + 0x310, 2000));
    assert_true(is_named(&made, 8, HEAP + 0x310, 2000));
    place_free(made.place);
}

/* A damaged recording, in which files and memory take turns all the time. */
static void turns_are_bounded(void **state)
{
    enum { SYMBOLS = 1000, TURNS = 300 };
    static struct code_symbol symbols[SYMBOLS];
    struct made made;
    size_t count, total = 0;

    (void)state;
    begin(&made);
    for (size_t i = 0; i < SYMBOLS; i++)
        symbols[i] = symbol(HEAP + i * 0x20000, 0x40, i + 1);
    for (uint64_t i = 0; i < TURNS; i++) {
        map(&made, 7, 1000 + 20 * i, HEAP, UINT64_C(0x20000) * SYMBOLS, PLACE_ANONYMOUS);
        map(&made, 7, 1010 + 20 * i, HEAP, UINT64_C(0x20000) * SYMBOLS, PLACE_FILE);
    }
    add(&made, 7, symbols, SYMBOLS);
    assert_int_equal(place_run(made.place), 0);
    const struct place_process *rows = place_processes(made.place, &count);
    assert_int_equal(count, 1);
    total = rows[0].codes + rows[0].repeated;
    assert_int_equal(rows[0].codes, SYMBOLS);
    assert_true(total <= 8 * SYMBOLS);
    place_free(made.place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_time_that_memory_is_there),
        cmocka_unit_test(what_is_new_of_memory_that_was_there_in_part),
        cmocka_unit_test(from_the_beginning),
        cmocka_unit_test(not_in_files_and_not_elsewhere),
        cmocka_unit_test(a_file_hides_them_until_memory_is_there_again),
        cmocka_unit_test(memory_bit_by_bit_is_one_piece),
        cmocka_unit_test(what_a_dump_names_keeps_its_names),
        cmocka_unit_test(forked_children),
        cmocka_unit_test(turns_are_bounded),
    };

    return cmocka_run_group_tests_name("place-snapshot", tests, NULL, NULL);
}
