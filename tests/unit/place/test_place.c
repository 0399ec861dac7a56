/* SPDX-License-Identifier: MIT */
#include "../../../src/place/place_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "found.h"
#include "mapping.h"

#define HEAP UINT64_C(0x7f0000000000)

static bool same_index(void *context, const struct code *a, const struct code *b)
{
    (void)context;
    return a->name == b->name;
}

static struct place *new_place(void)
{
    const struct place_options options = {.same_code = same_index};
    struct place *place;

    assert_int_equal(place_new(&options, &place), 0);
    return place;
}

static struct code piece(uint64_t time, uint64_t addr, uint64_t size)
{
    return (struct code){.time = time, .addr = addr, .size = size, .name = time, .pid = 7};
}

static void run(struct place *place, struct code *codes, size_t count)
{
    assert_int_equal(place_add_codes(place, codes, count), 0);
    assert_int_equal(place_run(place), 0);
}

static void side_by_side_is_one_file_and_few_events(void **state)
{
    const size_t count = 200000;
    struct code *codes = calloc(count, sizeof(*codes));
    struct place *place = new_place();
    size_t files;

    (void)state;
    assert_non_null(codes);
    for (size_t i = 0; i < count; i++)
        codes[i] = piece(1000 + i, HEAP + 320 * i, 300);
    run(place, codes, count);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 1);
    assert_int_equal(file->extent_count, 1);
    assert_int_equal(file->code_count, count);
    assert_true(place_event_count(place) <= 3);
    place_free(place);
    free(codes);
}

static void code_far_apart_is_one_file_a_window(void **state)
{
    struct code codes[] = {piece(10, 0x18c4000, 64), piece(20, HEAP, 64), piece(30, 0x18c5000, 64),
                           piece(40, HEAP + 0x1000000, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    run(place, codes, 4);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 2);
    assert_int_equal(file[0].extents[0].addr, 0x18c4000);
    assert_int_equal(file[0].code_count, 2);
    assert_int_equal(file[1].extents[0].addr, HEAP);
    assert_int_equal(file[1].extent_count, 2);
    place_free(place);
}

static void generations_beyond_the_layers_share_a_file(void **state)
{
    struct code codes[76];
    struct place *place = new_place();
    size_t files, rows;

    (void)state;
    for (size_t i = 0; i < 76; i++)
        codes[i] = piece(10 + i, HEAP, 64);
    run(place, codes, 76);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 65);
    for (size_t i = 0; i < 64; i++) {
        assert_true(file[i].mirrors);
        assert_int_equal(file[i].code_count, 1);
    }
    assert_false(file[64].mirrors);
    assert_int_equal(file[64].code_count, 12);
    assert_int_equal(place_processes(place, &rows)->beyond_layers, 12);
    place_free(place);
}

static void the_same_code_again_is_one_piece(void **state)
{
    struct code codes[] = {piece(10, HEAP, 64), piece(20, HEAP, 64), piece(30, HEAP, 64)};
    struct place *place = new_place();
    size_t files, rows;

    (void)state;
    codes[1].name = codes[0].name;
    run(place, codes, 3);
    place_files(place, &files);
    assert_int_equal(files, 2);
    assert_int_equal(place_processes(place, &rows)->repeated, 1);
    assert_int_equal(place_processes(place, &rows)->codes, 2);
    place_free(place);
}

/* Events over `addr` at or after `from`. */
static size_t events_over(const struct place *place, uint64_t addr, uint64_t from)
{
    size_t found = 0;

    for (size_t i = 0; i < place_event_count(place); i++) {
        const struct place_event event = place_event(place, i);
        found += event.time >= from && event.addr <= addr && addr - event.addr < event.len;
    }
    return found;
}

static void anonymous_mappings_that_add_nothing_are_dropped(void **state)
{
    struct code codes[] = {piece(100, HEAP + 64, 64)};
    struct place *place = new_place();
    size_t count;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x10000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    /* A protection change over part of it, then the heap grows, then again over part. */
    assert_int_equal(add_mapping(place, 7, 200, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
    assert_int_equal(add_mapping(place, 7, 300, HEAP, 0x20000, 0, PLACE_ANONYMOUS, 0, 3), 0);
    assert_int_equal(add_mapping(place, 7, 400, HEAP, 0x20000, 0, PLACE_ANONYMOUS, 0, 4), 0);
    /* Another process's is none of ours. */
    assert_int_equal(add_mapping(place, 8, 400, HEAP, 0x20000, 0, PLACE_ANONYMOUS, 0, 5), 0);
    assert_int_equal(add_mapping(place, 8, 500, HEAP, 0x20000, 0, PLACE_ANONYMOUS, 0, 6), 0);
    run(place, codes, 1);
    const uint64_t *dropped = place_dropped(place, &count);
    assert_int_equal(count, 2);
    assert_int_equal(dropped[0], 2);
    assert_int_equal(dropped[1], 4);
    /* Mapped at first, and again after record 3 hid it. */
    assert_int_equal(events_over(place, HEAP + 64, 0), 2);
    assert_int_equal(events_over(place, HEAP + 64, 300), 1);
    place_free(place);
}

/* Times in a damaged recording may be any. */
static void the_end_of_time_is_not_before_its_beginning(void **state)
{
    struct code code = piece(100, HEAP, 64);
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, UINT64_MAX, HEAP, 0x20000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    run(place, &code, 1);
    assert_int_equal(events_over(place, HEAP, 0), 2);
    assert_int_equal(events_over(place, HEAP, UINT64_MAX), 1);
    place_free(place);
}

static void a_file_takes_what_it_covers(void **state)
{
    struct code codes[] = {piece(100, HEAP, 0x3000)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, 200, HEAP + 0x1000, 0x1000, 0, PLACE_FILE, 1, 1), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 7, HEAP + 0x1800, 150), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x1800, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 7, HEAP + 0x2800, 250), PLACE_NAMED);
    place_free(place);
}

/* As of a damaged recording. */
static void a_file_over_all_addresses_is_few_events(void **state)
{
    const uint64_t far = UINT64_C(3) << 32;
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, 200, HEAP - far, far + 32, 0, PLACE_FILE, 1, 1), 0);
    assert_int_equal(add_mapping(place, 7, 300, 8, UINT64_C(1) << 52, 0, PLACE_FILE, 1, 2), 0);
    run(place, codes, 1);
    assert_true(place->event_count < 10);
    assert_int_equal(found_at(place, 7, HEAP + 31, 150), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 31, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 7, HEAP + 32, 250), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 32, 350), PLACE_ELSEWHERE);
    place_free(place);
}

static void a_load_counts_from_when_its_memory_came(void **state)
{
    struct code codes[] = {piece(1000, HEAP, 64), piece(2000, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(place_add_dump(place, 7, 300), 0);
    assert_int_equal(add_mapping(place, 7, 500, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    run(place, codes, 2);
    assert_int_equal(place_event(place, 0).time, 501);
    assert_int_equal(found_at(place, 7, HEAP, 900), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP, 400), PLACE_UNNAMED);
    /* The second occupant counts from its own time: the first one was there. */
    assert_int_equal(events_over(place, HEAP, 1500), 1);
    assert_int_equal(events_over(place, HEAP, 2000), 1);
    place_free(place);
}

/* Code is not older than the dump that tells of it: the first one of those of the program. */
static void a_load_is_not_older_than_its_dump(void **state)
{
    for (unsigned after_exec = 0; after_exec < 2; after_exec++) {
        struct code codes[] = {piece(1000, HEAP, 64)};
        struct place *place = new_place();
        (void)state;
        if (after_exec)
            assert_int_equal(place_add_exec(place, 7, 50), 0);
        assert_int_equal(add_mapping(place, 7, 40, 0x400000, 0x1000, 0, PLACE_FILE, 1, 1), 0);
        assert_int_equal(add_mapping(place, 7, 100, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
        assert_int_equal(place_add_dump(place, 7, 400), 0);
        assert_int_equal(place_add_dump(place, 7, 300), 0);
        assert_int_equal(place_add_dump(place, 7, 500), 0);
        run(place, codes, 1);
        assert_int_equal(found_at(place, 7, HEAP, 300), PLACE_UNNAMED);
        assert_int_equal(found_at(place, 7, HEAP, 301), PLACE_NAMED);
        place_free(place);
    }
}

/* Pieces begin and end at any byte. */
static void small_pieces_have_their_bytes(void **state)
{
    /* The last ones are so far away that there is no bit for each byte. */
    struct code codes[] = {piece(100, HEAP + 0x21, 5), piece(110, HEAP + 0x2d, 1),
                           piece(120, HEAP + 0x3f, 2), piece(130, HEAP + 0x100000, 64),
                           piece(140, HEAP + 0x200000, 64)};
    struct place *place = new_place();

    (void)state;
    run(place, codes, 5);
    for (uint64_t at = 0x20; at < 0x48; at++) {
        const bool named = (at >= 0x21 && at < 0x26) || at == 0x2d || at == 0x3f || at == 0x40;
        assert_int_equal(found_at(place, 7, HEAP + at, 200), named ? PLACE_NAMED : PLACE_UNNAMED);
    }
    place_free(place);
}

/* V8's builtins lie in the text of its own binary. */
static void code_over_a_library_stays_together(void **state)
{
    struct code codes[] = {piece(100, HEAP + 0x1000, 64), piece(110, HEAP + 0x3000, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x8000, 0, PLACE_FILE, 1, 1), 0);
    run(place, codes, 2);
    assert_int_equal(place_files(place, &files)->extent_count, 2);
    assert_int_equal(files, 1);
    assert_int_equal(events_over(place, HEAP + 0x2000, 0), 0);
    place_free(place);
}

/* libdw takes all from a file's first to its last address for it. */
static void no_library_lies_within_a_file(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    assert_int_equal(add_mapping(place, 7, 60, HEAP - 0x9000, 0x4000, 0, PLACE_FILE, 2, 2), 0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(file->head_size, 0x1000);
    assert_true(file->extents[0].offset <= 0x5000);
    assert_true(file->tables_offset >= 0x1000);
    assert_true(file->tables_offset + file->tables_size <= file->extents[0].offset);
    /* The first page and the tables behind it, and the code. */
    assert_int_equal(place_event_count(place), 2);
    place_free(place);
}

static void a_library_in_a_gap_splits_the_window(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(110, HEAP + 0x3000, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP + 0x1000, 0x1000, 0, PLACE_FILE, 1, 1), 0);
    run(place, codes, 2);
    place_files(place, &files);
    assert_int_equal(files, 2);
    assert_int_equal(events_over(place, HEAP + 0x1800, 0), 0);
    place_free(place);
}

static void tables_get_addresses_that_nothing_has(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    /* Something lies where they would go. */
    assert_int_equal(add_mapping(place, 7, 60, HEAP - 0x2000, 0x1000, 0, PLACE_DATA, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 60, HEAP - 0x10000, 0x2000, 0, PLACE_ANONYMOUS, 0, 3),
                     0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    const uint64_t bias = file->extents[0].offset - file->extents[0].addr;
    assert_true(file->tables_size >= 100 + 8);
    assert_true(file->tables_offset - bias + file->tables_size <= HEAP - 0x2000);
    assert_int_equal(events_over(place, file->tables_offset - bias, 0), 1);
    assert_true(file->end >= file->tables_offset + file->tables_size);
    place_free(place);
}

/* Each function has a row in the index of the tables, too. */
static void tables_have_room_for_their_index(void **state)
{
    struct code codes[600];
    struct place *place = new_place();
    size_t files;

    (void)state;
    for (size_t i = 0; i < 600; i++) {
        codes[i] = piece(100 + i, HEAP + 64 * i, 64);
        codes[i].unwind = 1000 + i;
        codes[i].unwind_size = 12;
    }
    run(place, codes, 600);
    assert_int_equal(place_files(place, &files)->tables_size, 0x4000); /* 600 * (16 + 8) + 64 */
    place_free(place);
}

static void tables_go_above_where_nothing_is_free_below(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    assert_int_equal(add_mapping(place, 7, 60, 0x1000, HEAP - 0x1000, 0, PLACE_FILE, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 60, HEAP, 0x10000, 0, PLACE_ANONYMOUS, 0, 3), 0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    const uint64_t bias = file->extents[0].offset - file->extents[0].addr;
    assert_int_equal(file->head_size, 0);
    assert_int_equal(file->tables_offset - bias, HEAP + 0x10000);
    assert_int_equal(file->end, file->tables_offset + file->tables_size);
    assert_int_equal(events_over(place, HEAP + 0x10000, 0), 1);
    place_free(place);
}

static void without_room_there_are_no_tables(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    assert_int_equal(add_mapping(place, 7, 60, 0x1000, HEAP - 0x1000, 0, PLACE_FILE, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 60, HEAP + 0x1000, HEAP, 0, PLACE_FILE, 3, 3), 0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(file->head_size, 0);
    assert_int_equal(file->tables_offset, 0);
    assert_int_equal(file->tables_size, 0);
    assert_int_equal(place_event_count(place), 1);
    place_free(place);
}

/* Readers look up addresses in memory more often than in data of files, which most often are gone.
 */
static void rooms_are_rather_over_data_than_over_memory(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, 0x1000, HEAP - 0x41000, 0, PLACE_FILE, 1, 1), 0);
    assert_int_equal(add_mapping(place, 7, 60, HEAP - 0x40000, 0x20000, 0, PLACE_DATA, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 70, HEAP - 0x20000, 0x30000, 0, PLACE_ANONYMOUS, 0, 3),
                     0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(file->head_size, 0x1000);
    assert_int_equal(file->extents[0].offset, 0x21000);
    place_free(place);
}

/* start + bias = offset. */
static uint64_t bias_of(const struct place_file *file)
{
    return file->extents[0].offset - file->extents[0].addr;
}

static uint64_t tables_addr(const struct place_file *file)
{
    return file->tables_offset - bias_of(file);
}

/* perf 7 knows of two files at one address only the one that it saw first. */
static void layers_have_one_base_and_the_tables_of_all(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(110, HEAP + 0x30020, 64),
                           piece(120, HEAP + 0x30000, 64), piece(130, HEAP + 0x50000, 64),
                           piece(140, 2 * HEAP, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        codes[i].unwind = 1000 + i;
        codes[i].unwind_size = i == 3 ? 0 : 100;
    }
    codes[1].debug = 2000;
    run(place, codes, 5);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 3);
    const struct place_file *const layers[] = {&file[0], &file[2]}, *const other = &file[1];
    assert_true(layers[0]->has_debug && layers[1]->has_debug);
    assert_int_equal(bias_of(layers[0]), bias_of(layers[1]));
    assert_int_equal(layers[0]->tables_offset, layers[1]->tables_offset);
    assert_int_equal(layers[0]->tables_size, layers[1]->tables_size);
    assert_true(layers[0]->tables_size >= 3 * 100 + 512);
    assert_true(tables_addr(layers[0]) + layers[0]->tables_size <= HEAP);
    assert_int_equal(events_over(place, tables_addr(layers[0]), 0), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(layers[i]->table_code_count, 4);
        assert_ptr_equal(layers[i]->table_codes[0], &codes[0]);
        assert_ptr_equal(layers[i]->table_codes[1], &codes[2]);
        assert_ptr_equal(layers[i]->table_codes[2], &codes[1]);
        assert_ptr_equal(layers[i]->table_codes[3], &codes[3]);
    }
    /* What is of another region has nothing to do with that. */
    assert_int_equal(other->table_code_count, 1);
    assert_ptr_equal(other->table_codes[0], &codes[4]);
    place_free(place);
}

/* ... unless that would fill the disk. */
static void large_tables_are_only_in_their_own_file(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(110, HEAP + 0x30000, 64),
                           piece(120, HEAP + 0x30020, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        codes[i].unwind = 1000 + i;
        codes[i].unwind_size = 24 << 20;
    }
    run(place, codes, 3);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 2);
    assert_int_equal(bias_of(&file[0]), bias_of(&file[1]));
    assert_true(tables_addr(&file[0]) + file[0].tables_size <= tables_addr(&file[1]));
    /* Again, since the first page of the other file lies over that of this one. */
    assert_int_equal(events_over(place, tables_addr(&file[0]), 0), 2);
    assert_int_equal(events_over(place, tables_addr(&file[1]), 0), 1);
    assert_true(tables_addr(&file[1]) + file[1].tables_size <= HEAP);
    assert_int_equal(file[0].table_code_count, 2);
    assert_int_equal(file[1].table_code_count, 1);
    assert_false(file[0].has_debug);
    assert_ptr_equal(file[1].table_codes[0], &codes[2]);
    place_free(place);
}

/* V8's builtins: its text is a library here. */
static void code_in_a_library_has_the_base_of_that(void **state)
{
    struct code codes[] = {piece(100, HEAP + 0x5000, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 40, HEAP - 0x8000, 0x1000, 0, PLACE_FILE, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 50, HEAP + 0x3000, 0x8000, 0x2000, PLACE_FILE, 1, 1), 0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(bias_of(file), 0 - (HEAP + 0x1000));
    assert_int_equal(file->head_size, 0);
    place_free(place);
}

/* ... where that leaves room for the header of the file. */
static void code_where_a_library_begins_does_not(void **state)
{
    for (uint64_t page = 0; page < 2; page++) {
        const uint64_t addr = HEAP + 0x1000 * page + 0x40;
        struct code codes[] = {piece(100, addr, 64)};
        struct place *place = new_place();
        size_t files;
        (void)state;
        assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x8000, 0, PLACE_FILE, 1, 1), 0);
        run(place, codes, 1);
        assert_int_equal(place_files(place, &files)->extents[0].offset,
                         page ? addr - HEAP : PLACE_TEXT_OFFSET + 0x40);
        place_free(place);
    }
}

/* A runtime reserves memory around its code, and changes it later on. */
static void tables_go_into_reserved_memory_and_stay_there(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    const uint64_t around = UINT64_C(0x20000000);
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    assert_int_equal(add_mapping(place, 7, 50, HEAP - around, 2 * around, 0, PLACE_ANONYMOUS, 0, 1),
                     0);
    assert_int_equal(
        add_mapping(place, 7, 200, HEAP - around, 2 * around, 0, PLACE_ANONYMOUS, 0, 2), 0);
    assert_int_equal(
        add_mapping(place, 7, 300, HEAP - around - 0x1000, 2 * around, 0, PLACE_ANONYMOUS, 0, 3),
        0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(file->head_size, 0x1000);
    assert_int_equal(events_over(place, tables_addr(file), 0), 2);
    assert_int_equal(events_over(place, tables_addr(file), 300), 1);
    assert_int_equal(events_over(place, HEAP, 300), 1);
    place_free(place);
}

/* The memory below the code is given away and reserved anew before there is any code: from then on
 * that would hide what came with the memory of the code. */
static void tables_outlive_memory_that_is_newer_than_that_of_the_code(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    const uint64_t around = UINT64_C(0x20000000);
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    assert_int_equal(add_mapping(place, 7, 50, HEAP - around, 2 * around, 0, PLACE_ANONYMOUS, 0, 1),
                     0);
    assert_int_equal(
        add_mapping(place, 7, 60, HEAP - 2 * around, 2 * around, 0, PLACE_ANONYMOUS, 0, 2), 0);
    run(place, codes, 1);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(events_over(place, HEAP, 51), 1);
    assert_int_equal(events_over(place, 0 - bias_of(file), 61), 1);
    assert_int_equal(events_over(place, tables_addr(file), 61), 1);
    place_free(place);
}

static void tables_of_a_child_leave_its_parents_alone(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(300, HEAP + 0x100, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].unwind_size = 100;
    codes[1].unwind_size = 100;
    codes[1].pid = 8;
    /* The child is known before its parent. */
    assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
    run(place, codes, 2);
    const struct place_file *file = place_files(place, &files);
    assert_int_equal(files, 2);
    const uint64_t first = tables_addr(&file[0]), second = tables_addr(&file[1]);
    assert_true(first + file[0].tables_size <= second || second + file[1].tables_size <= first);
    place_free(place);
}

/* A library that the parent, or its parent, loads over that memory when the child has left. */
static void a_child_has_no_library_that_its_parent_loads_later(void **state)
{
    for (uint32_t pid = 8; pid < 10; pid++) {
        struct code codes[] = {piece(400, HEAP + 0x20000, 64)};
        struct place *place = new_place();
        size_t files;
        (void)state;
        codes[0].unwind_size = 100;
        codes[0].pid = pid;
        assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
        assert_int_equal(place_add_fork(place, 9, 8, 300), 0);
        assert_int_equal(add_mapping(place, 7, 250, HEAP, 0x40000, 0, PLACE_FILE, 1, 1), 0);
        run(place, codes, 1);
        const struct place_file *file = place_files(place, &files);
        assert_int_equal(files, 1);
        assert_int_equal(file->head_size, 0x1000);
        assert_true(file->tables_size >= 100 + 8);
        assert_int_equal(events_over(place, tables_addr(file), 0), 1);
        place_free(place);
    }
}

/* Nor its base, where there is no room below the code. */
static void a_child_has_no_base_of_a_later_library(void **state)
{
    struct code codes[] = {piece(300, HEAP + 0x20000, 64)};
    struct place *place = new_place();
    size_t files;

    (void)state;
    codes[0].pid = 8;
    assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
    assert_int_equal(add_mapping(place, 8, 250, 0x1000, HEAP + 0x1f000, 0, PLACE_FILE, 2, 2), 0);
    assert_int_equal(add_mapping(place, 7, 400, HEAP, 0x40000, 0, PLACE_FILE, 1, 1), 0);
    run(place, codes, 1);
    assert_int_equal(place_files(place, &files)->extents[0].offset, PLACE_TEXT_OFFSET);
    assert_int_equal(files, 1);
    place_free(place);
}

static void a_child_keeps_inherited_code(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(300, HEAP + 0x100, 64)};
    struct place *place = new_place();
    size_t count;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
    assert_int_equal(add_mapping(place, 8, 250, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
    codes[1].pid = 8;
    run(place, codes, 2);
    assert_int_equal(found_at(place, 8, HEAP, 350), PLACE_NAMED);
    assert_int_equal(found_at(place, 8, HEAP + 0x100, 350), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x100, 350), PLACE_UNNAMED);
    place_dropped(place, &count);
    assert_int_equal(count, 1);
    place_free(place);
}

/* A file came and went in the middle of a heap: code of before and after does not meet. */
static void nothing_is_early_where_a_file_was(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(110, HEAP + 0x1100, 64),
                           piece(400, HEAP + 0x1800, 64), piece(410, HEAP + 0x2000, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x3000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    assert_int_equal(add_mapping(place, 7, 200, HEAP + 0x1000, 0x1000, 0, PLACE_FILE, 9, 2), 0);
    assert_int_equal(add_mapping(place, 7, 300, HEAP, 0x3000, 0, PLACE_ANONYMOUS, 0, 3), 0);
    run(place, codes, 4);
    assert_int_equal(found_at(place, 7, HEAP + 0x1800, 150), PLACE_UNNAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x1100, 105), PLACE_UNNAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x1100, 150), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x1800, 250), PLACE_ELSEWHERE);
    assert_int_not_equal(found_at(place, 7, HEAP + 0x1100, 350), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x1800, 405), PLACE_NAMED);
    assert_int_not_equal(found_at(place, 7, HEAP + 0x1100, 405), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP, 405), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x2000, 305), PLACE_NAMED);
    place_free(place);
}

/* What was mapped there before there was any code says nothing of code: it is one mapping. */
static void a_file_of_before_costs_no_mappings(void **state)
{
    struct code codes[] = {piece(400, HEAP, 64), piece(500, HEAP + 0x100, 64),
                           piece(600, HEAP + 0x200, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x1000, 0, PLACE_DATA, 9, 1), 0);
    assert_int_equal(add_mapping(place, 7, 300, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
    run(place, codes, 3);
    assert_int_equal(place_event_count(place), 2); /* the first page, and the code */
    assert_int_equal(place_event(place, 1).addr, HEAP);
    assert_int_equal(place_event(place, 1).time, 301);
    place_free(place);
}

static void another_program_runs_no_old_code(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();
    size_t count;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    assert_int_equal(place_add_exec(place, 7, 200), 0);
    assert_int_equal(add_mapping(place, 7, 210, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 7, HEAP, 150), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP, 250), PLACE_UNLOGGED);
    /* perf keeps what the old program had mapped, so the new memory has to stay over it. */
    place_dropped(place, &count);
    assert_int_equal(count, 0);
    place_free(place);
}

static void a_child_runs_no_inherited_code_after_an_exec(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(place_add_fork(place, 8, 7, 200), 0);
    assert_int_equal(place_add_exec(place, 8, 300), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 8, HEAP, 250), PLACE_NAMED);
    assert_int_equal(found_at(place, 8, HEAP, 350), PLACE_ELSEWHERE);
    place_free(place);
}

static void a_pid_used_again_has_other_code(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64), piece(600, HEAP + 0x100, 64)};
    struct place *place = new_place();
    size_t files, rows;

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    assert_int_equal(place_add_fork(place, 7, 1, 500), 0);
    assert_int_equal(add_mapping(place, 7, 510, HEAP, 0x1000, 0, PLACE_ANONYMOUS, 0, 2), 0);
    run(place, codes, 2);
    assert_int_equal(found_at(place, 7, HEAP, 400), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x100, 400), PLACE_UNNAMED);
    assert_int_equal(found_at(place, 7, HEAP, 700), PLACE_UNNAMED);
    assert_int_equal(found_at(place, 7, HEAP + 0x100, 700), PLACE_NAMED);
    const struct place_file *file = place_files(place, &files);
    const struct place_process *row = place_processes(place, &rows);
    assert_int_equal(files, 2);
    assert_int_equal(file[0].number, 0);
    assert_int_equal(file[1].number, 1);
    assert_int_equal(rows, 1);
    assert_int_equal(row->codes, 2);
    assert_int_equal(row->files, 2);
    place_free(place);
}

/* Times may be off, as where a dump has another clock than the recording. */
static void pieces_go_to_the_program_that_wrote_them(void **state)
{
    struct code codes[] = {piece(150, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 7, 50, 0x400000, 0x1000, 0, PLACE_FILE, 1, 1), 0);
    assert_int_equal(place_add_exec(place, 7, 200), 0);
    assert_int_equal(place_add_dump(place, 7, 220), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 7, HEAP, 250), PLACE_NAMED);
    assert_true(place_event_count(place) > 0);
    assert_true(place_event(place, 0).time > 200);
    place_free(place);
}

static void programs_that_do_nothing_cost_little(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    for (uint64_t i = 0; i < 200000; i++)
        assert_int_equal(place_add_exec(place, 7, 200 + i), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 7, HEAP, 150), PLACE_NAMED);
    assert_int_equal(found_at(place, 7, HEAP, 300000), PLACE_ELSEWHERE);
    place_free(place);
}

/* Processes without pieces, beside one that has some: memory is told from files, as forks leave it.
 */
static void code_that_nobody_logged_is_told(void **state)
{
    struct code codes[] = {piece(100, HEAP, 64)};
    struct place *place = new_place();

    (void)state;
    assert_int_equal(add_mapping(place, 8, 50, HEAP, 0x4000, 0, PLACE_ANONYMOUS, 0, 1), 0);
    assert_int_equal(add_mapping(place, 8, 60, HEAP + 0x2000, 0x1000, 0, PLACE_FILE, 1, 2), 0);
    assert_int_equal(place_add_fork(place, 9, 8, 200), 0);
    assert_int_equal(add_mapping(place, 9, 210, HEAP, 0x1000, 0, PLACE_FILE, 2, 3), 0);
    run(place, codes, 1);
    assert_int_equal(found_at(place, 7, HEAP, 250), PLACE_NAMED);
    assert_int_equal(found_at(place, 8, HEAP, 250), PLACE_UNLOGGED);
    assert_int_equal(found_at(place, 8, HEAP + 0x2000, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 8, HEAP + 0x4000, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 9, HEAP, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 9, HEAP + 0x1000, 250), PLACE_UNLOGGED);
    assert_int_equal(found_at(place, 9, HEAP + 0x2000, 250), PLACE_ELSEWHERE);
    assert_int_equal(found_at(place, 10, HEAP, 250), PLACE_ELSEWHERE);
    place_free(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(side_by_side_is_one_file_and_few_events),
        cmocka_unit_test(code_far_apart_is_one_file_a_window),
        cmocka_unit_test(generations_beyond_the_layers_share_a_file),
        cmocka_unit_test(the_same_code_again_is_one_piece),
        cmocka_unit_test(anonymous_mappings_that_add_nothing_are_dropped),
        cmocka_unit_test(the_end_of_time_is_not_before_its_beginning),
        cmocka_unit_test(a_file_takes_what_it_covers),
        cmocka_unit_test(a_file_over_all_addresses_is_few_events),
        cmocka_unit_test(a_load_counts_from_when_its_memory_came),
        cmocka_unit_test(a_load_is_not_older_than_its_dump),
        cmocka_unit_test(small_pieces_have_their_bytes),
        cmocka_unit_test(code_over_a_library_stays_together),
        cmocka_unit_test(no_library_lies_within_a_file),
        cmocka_unit_test(a_library_in_a_gap_splits_the_window),
        cmocka_unit_test(tables_get_addresses_that_nothing_has),
        cmocka_unit_test(tables_have_room_for_their_index),
        cmocka_unit_test(tables_go_above_where_nothing_is_free_below),
        cmocka_unit_test(without_room_there_are_no_tables),
        cmocka_unit_test(rooms_are_rather_over_data_than_over_memory),
        cmocka_unit_test(layers_have_one_base_and_the_tables_of_all),
        cmocka_unit_test(large_tables_are_only_in_their_own_file),
        cmocka_unit_test(code_in_a_library_has_the_base_of_that),
        cmocka_unit_test(code_where_a_library_begins_does_not),
        cmocka_unit_test(tables_go_into_reserved_memory_and_stay_there),
        cmocka_unit_test(tables_outlive_memory_that_is_newer_than_that_of_the_code),
        cmocka_unit_test(tables_of_a_child_leave_its_parents_alone),
        cmocka_unit_test(a_child_has_no_library_that_its_parent_loads_later),
        cmocka_unit_test(a_child_has_no_base_of_a_later_library),
        cmocka_unit_test(a_child_keeps_inherited_code),
        cmocka_unit_test(nothing_is_early_where_a_file_was),
        cmocka_unit_test(a_file_of_before_costs_no_mappings),
        cmocka_unit_test(another_program_runs_no_old_code),
        cmocka_unit_test(a_child_runs_no_inherited_code_after_an_exec),
        cmocka_unit_test(a_pid_used_again_has_other_code),
        cmocka_unit_test(pieces_go_to_the_program_that_wrote_them),
        cmocka_unit_test(programs_that_do_nothing_cost_little),
        cmocka_unit_test(code_that_nobody_logged_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
