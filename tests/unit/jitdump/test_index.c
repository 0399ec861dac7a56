/* SPDX-License-Identifier: MIT */
/* Pieces of code: which tables belong to which, moves, and sameness. */
#include "builder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t load_at(struct builder *builder, uint64_t time, uint64_t addr, uint64_t index)
{
    const struct load load = {.time = time, .addr = addr, .index = index, .name = "fn", .size = 32};

    return put_load(builder, &load);
}

static void start(struct builder *builder)
{
    builder_init(builder, false);
    put_header(builder);
}

static void fields_of_a_piece(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct builder builder;
        struct opened opened;
        const struct load load = {.time = 9000,
                                  .addr = 0x7f0000001000,
                                  .index = UINT64_C(0x1ffffffff),
                                  .name = "JS:*fib /tmp/a.js:2:13",
                                  .size = 33,
                                  .slack_before = 7,
                                  .pid = 4242};
        builder_init(&builder, big_endian);
        put_header(&builder);
        put_close(&builder, 1);
        size_t debug = put_debug(&builder, 8000, load.addr);
        size_t unwinding = put_unwinding(&builder, 8500, 65, 20, false);
        size_t offset = put_load(&builder, &load);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(opened.index.count, 1);
        const struct code *code = jitdump_index_code(&opened.index, 0);
        assert_int_equal(code->time, 9000);
        assert_int_equal(code->addr, 0x7f0000001000);
        assert_int_equal(code->size, 33);
        assert_int_equal(code->name, offset + 56);
        assert_int_equal(code->debug, debug);
        assert_int_equal(code->unwind, unwinding);
        assert_int_equal(code->unwind_size, 48); /* 65 - 20, to a multiple of 8 */
        assert_int_equal(code->pid, 4242);
        assert_int_equal(code->name_size, 22);
        assert_int_equal(code->code_delta, 23 + 7);
        assert_int_equal(code->source, 5);
        assert_int_equal(code->flags, 0);
        check_pattern(&opened, code);

        const struct jitdump_stats *stats = &opened.index.stats;
        assert_int_equal(stats->loads, 1);
        assert_int_equal(stats->debug_infos, 1);
        assert_int_equal(stats->unwinding_infos, 1);
        assert_int_equal(stats->closes, 1);
        assert_int_equal(stats->code_bytes, 33);
        assert_int_equal(stats->first_time, 9000);
        assert_int_equal(stats->last_time, 9000);
        assert_int_equal(stats->debug_unpaired, 0);
        assert_int_equal(stats->others, 1); /* the header is of another pid */
        close_index(&opened);
        builder_done(&builder);
    }
}

static void code_without_bytes_is_kept(void **state)
{
    struct builder builder;
    struct opened opened;
    struct load load = {.time = 7, .addr = 0x1000, .name = "stub", .size = INT_MAX};

    (void)state;
    start(&builder);
    load.no_bytes = true;
    put_load(&builder, &load);
    load.size = 0;
    load.no_bytes = false;
    put_load(&builder, &load);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 2);
    assert_int_equal(jitdump_index_code(&opened.index, 0)->flags, CODE_NO_BYTES);
    assert_int_equal(jitdump_index_code(&opened.index, 0)->size, INT_MAX);
    assert_int_equal(jitdump_index_code(&opened.index, 0)->name_size, 4);
    assert_int_equal(jitdump_index_code(&opened.index, 1)->flags, 0);
    assert_int_equal(jitdump_index_code(&opened.index, 1)->size, 0);
    assert_int_equal(opened.index.stats.code_bytes, 0);
    assert_int_equal(opened.index.stats.others, 0);
    close_index(&opened);
    builder_done(&builder);
}

/* Each LOAD of the dump has these DEBUG_INFO, by offset. */
static void expect_debug(struct builder *builder, const size_t *debug, size_t count,
                         uint64_t unpaired)
{
    struct opened opened;

    open_index(&opened, write_dump(builder));
    assert_int_equal(opened.index.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(jitdump_index_code(&opened.index, i)->debug, debug[i]);
    assert_int_equal(opened.index.stats.debug_unpaired, unpaired);
    close_index(&opened);
    builder_done(builder);
}

/* LLVM: all tables of a module, then all its code, in another order. */
static void debug_info_of_a_module(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    put_unwinding(&builder, 1, 192, 12, true);
    size_t a = put_debug(&builder, 1, 0xa000);
    size_t b = put_debug(&builder, 1, 0xb000);
    size_t c = put_debug(&builder, 1, 0xc000);
    load_at(&builder, 2, 0xb000, 0);
    load_at(&builder, 2, 0xc000, 1);
    load_at(&builder, 2, 0xa000, 2);
    expect_debug(&builder, (size_t[]){b, c, a}, 3, 0);
}

/* V8: DEBUG_INFO, UNWINDING_INFO, LOAD; code that has no lines comes in between. */
static void debug_info_before_its_load(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    put_unwinding(&builder, 1, 20, 20, false);
    load_at(&builder, 1, 0x1000, 0);
    size_t debug = put_debug(&builder, 2, 0x2000);
    put_unwinding(&builder, 2, 20, 20, false);
    load_at(&builder, 2, 0x2000, 1);
    load_at(&builder, 3, 0x3000, 2);
    size_t other = put_debug(&builder, 4, 0x4000);
    load_at(&builder, 4, 0x4000, 3);
    expect_debug(&builder, (size_t[]){0, debug, 0, other}, 4, 0);
}

/* Two threads: another LOAD comes in between. */
static void debug_info_is_matched_by_address(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    size_t a = put_debug(&builder, 1, 0xa000);
    load_at(&builder, 1, 0xb000, 0);
    load_at(&builder, 2, 0xa000, 1);
    expect_debug(&builder, (size_t[]){0, a}, 2, 0);
}

static void versions_at_one_address_get_their_own(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    size_t first = put_debug(&builder, 1, 0xa000);
    load_at(&builder, 1, 0xa000, 0);
    size_t second = put_debug(&builder, 2, 0xa000);
    load_at(&builder, 2, 0xa000, 1);
    load_at(&builder, 3, 0xa000, 2);
    put_debug(&builder, 4, 0xa000); /* replaced by the next */
    size_t third = put_debug(&builder, 4, 0xa000);
    load_at(&builder, 4, 0xa000, 3);
    expect_debug(&builder, (size_t[]){first, second, 0, third}, 4, 1);
}

/* Behind its LOAD, where no LOAD of that address follows. */
static void debug_info_after_its_load(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    load_at(&builder, 1, 0xa000, 0);
    size_t a = put_debug(&builder, 1, 0xa000);
    load_at(&builder, 2, 0xb000, 1);
    load_at(&builder, 2, 0xb000, 2);
    size_t b = put_debug(&builder, 2, 0xb000);
    expect_debug(&builder, (size_t[]){a, 0, b}, 3, 0);
}

/* ... but the nearest one has its own already. */
static void debug_info_does_not_go_further_back(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    load_at(&builder, 1, 0xa000, 0);
    size_t own = put_debug(&builder, 2, 0xa000);
    load_at(&builder, 2, 0xa000, 1);
    put_debug(&builder, 3, 0xa000);
    expect_debug(&builder, (size_t[]){0, own}, 2, 1);
}

/* The LOAD that the last DEBUG_INFO belongs to may be what was cut off. */
static void debug_info_before_a_cut(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    load_at(&builder, 1, 0xa000, 0);
    put_debug(&builder, 2, 0xa000);
    load_at(&builder, 2, 0xa000, 1);
    builder.size -= 1;
    expect_debug(&builder, (size_t[]){0}, 1, 1);
}

static void debug_info_of_another_address_goes_by_order(void **state)
{
    struct builder builder;

    (void)state;
    start(&builder);
    size_t near = put_debug(&builder, 1, 0x1234);
    put_unwinding(&builder, 1, 20, 20, false);
    load_at(&builder, 1, 0xa000, 0);
    put_debug(&builder, 2, 0x5678); /* never loaded, and not directly before a LOAD */
    size_t b = put_debug(&builder, 2, 0xb000);
    load_at(&builder, 2, 0xb000, 1);
    load_at(&builder, 3, 0xc000, 2);
    put_debug(&builder, 4, 0x9999); /* never loaded, and the LOAD behind it has its own */
    load_at(&builder, 4, 0xd000, 3);
    size_t d = put_debug(&builder, 4, 0xd000);
    struct opened opened;
    open_index(&opened, write_dump(&builder));
    assert_int_equal(jitdump_index_code(&opened.index, 0)->debug, near);
    assert_int_equal(jitdump_index_code(&opened.index, 1)->debug, b);
    assert_int_equal(jitdump_index_code(&opened.index, 2)->debug, 0);
    /* 0xd000 has a table by address, which counts more than the one in front. */
    assert_int_equal(jitdump_index_code(&opened.index, 3)->debug, d);
    assert_int_equal(opened.index.stats.debug_unpaired, 2);
    close_index(&opened);
    builder_done(&builder);
}

static void unwinding_info_goes_to_the_next_load(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    start(&builder);
    load_at(&builder, 1, 0xa000, 0);
    size_t usual = put_unwinding(&builder, 2, 68, 20, false);
    put_debug(&builder, 2, 0xb000);
    load_at(&builder, 2, 0xb000, 1);
    load_at(&builder, 3, 0xc000, 2);
    put_unwinding(&builder, 4, 20, 20, false); /* a header alone: no table */
    load_at(&builder, 4, 0xd000, 3);
    size_t group = put_unwinding(&builder, 5, 192, 12, true);
    load_at(&builder, 5, 0xe000, 4);
    load_at(&builder, 5, 0xf000, 5);
    put_unwinding(&builder, 6, 64, 20, false);
    size_t replaced = put_unwinding(&builder, 6, 61, 20, false);
    load_at(&builder, 6, 0x10000, 6);
    load_at(&builder, 7, 0x11000, 7);
    open_index(&opened, write_dump(&builder));

    const size_t unwind[] = {0, usual, 0, 0, group, group, replaced, 0};
    const uint32_t sizes[] = {0, 48, 0, 0, 192, 192, 48, 0};
    assert_int_equal(opened.index.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(jitdump_index_code(&opened.index, i)->unwind, unwind[i]);
        assert_int_equal(jitdump_index_code(&opened.index, i)->unwind_size, sizes[i]);
    }
    close_index(&opened);
    builder_done(&builder);
}

static void expect_moved(const struct code *code, const struct code *load, uint64_t time,
                         uint64_t addr, uint64_t size)
{
    assert_int_equal(code->flags, load->flags | CODE_MOVED);
    assert_int_equal(code->time, time);
    assert_int_equal(code->addr, addr);
    assert_int_equal(code->size, size);
    assert_int_equal(code->name, load->name);
    assert_int_equal(code->debug, load->debug);
    assert_int_equal(code->unwind, load->unwind);
    assert_int_equal(code->unwind_size, load->unwind_size);
    assert_int_equal(code->pid, load->pid);
    assert_int_equal(code->name_size, load->name_size);
    assert_int_equal(code->code_delta, load->code_delta);
    assert_int_equal(code->source, 5);
}

static void moves(void **state)
{
    const uint64_t wide = UINT64_C(0x1fffffff0), full = UINT64_MAX;

    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, big_endian);
        put_header(&builder);
        put_move(&builder, 1, 100, 1, 0xdead000, 32); /* not loaded yet */
        put_unwinding(&builder, 10, 68, 20, false);
        load_at(&builder, 10, 0x1000, wide);
        load_at(&builder, 11, 0x2000, wide & UINT32_MAX);
        load_at(&builder, 12, 0x3000, full);
        put_move(&builder, 20, 100, wide, 0x11000, 32);
        put_move(&builder, 21, 100, wide, 0x21000, 0);    /* a chain; size 0: the LOAD's */
        put_move(&builder, 22, 100, full, 0x13000, 20);   /* a part */
        put_move(&builder, 23, 100, full, 0x23000, 4096); /* more than there is */
        put_move(&builder, 24, 200, wide, 0xdead000, 32); /* another pid */
        put_move(&builder, 25, 100, 77, 0xdead000, 32);   /* another index */
        load_at(&builder, 30, 0x4000, wide);              /* the index again */
        put_move(&builder, 31, 100, wide, 0x14000, 32);
        put_move(&builder, 32, 100, wide, UINT64_MAX - 31, 32); /* beyond the address space */
        put_debug(&builder, 33, 0x1000);                        /* found at the end only */
        open_index(&opened, write_dump(&builder));

        const struct code *codes = jitdump_index_code(&opened.index, 0);
        assert_int_equal(opened.index.count, 9);
        assert_int_not_equal(codes[0].debug, 0);
        assert_int_not_equal(codes[0].unwind, 0);
        expect_moved(&codes[3], &codes[0], 20, 0x11000, 32);
        expect_moved(&codes[4], &codes[0], 21, 0x21000, 32);
        expect_moved(&codes[5], &codes[2], 22, 0x13000, 20);
        expect_moved(&codes[6], &codes[2], 23, 0x23000, 32);
        assert_int_equal(codes[7].flags, 0);
        expect_moved(&codes[8], &codes[7], 31, 0x14000, 32);
        check_pattern(&opened, &codes[4]);
        assert_int_equal(opened.index.stats.moves, 9);
        assert_int_equal(opened.index.stats.moves_unresolved, 3);
        assert_int_equal(opened.index.stats.invalid_records, 1);
        assert_int_equal(opened.index.stats.first_time, 1);
        assert_int_equal(opened.index.stats.last_time, 32);
        assert_int_equal(opened.index.stats.code_bytes, 4 * 32);
        close_index(&opened);
        builder_done(&builder);
    }
}

/* Forked children write into the dump of their parent and count from where it was. */
static void moves_are_per_pid(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    start(&builder);
    for (uint32_t pid = 1; pid <= 50; pid++) {
        const struct load load = {
            .time = pid, .addr = 0x1000 * pid, .index = 9, .name = "x", .size = pid, .pid = pid};
        put_load(&builder, &load);
    }
    for (uint32_t pid = 1; pid <= 50; pid++)
        put_move(&builder, 100, pid, 9, 0x100000, 0);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 100);
    assert_int_equal(opened.index.stats.others, 50);
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(jitdump_index_code(&opened.index, 50 + i)->pid, i + 1);
        assert_int_equal(jitdump_index_code(&opened.index, 50 + i)->size, i + 1);
        assert_int_equal(jitdump_index_code(&opened.index, 50 + i)->name,
                         jitdump_index_code(&opened.index, i)->name);
    }
    close_index(&opened);
    builder_done(&builder);
}

static void times_may_go_back(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    start(&builder);
    load_at(&builder, 500, 0x1000, 0);
    load_at(&builder, 300, 0x2000, 1);
    load_at(&builder, 400, 0x3000, 2);
    put_close(&builder, 900);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.stats.first_time, 300);
    assert_int_equal(opened.index.stats.last_time, 500);
    assert_int_equal(jitdump_index_code(&opened.index, 0)->time, 500);
    close_index(&opened);
    builder_done(&builder);
}

static void same_code(void **state)
{
    struct builder one, two;
    struct opened a, b;
    enum { SIZE = 100000 };
    uint8_t *code = malloc(SIZE);

    (void)state;
    assert_non_null(code);
    for (size_t i = 0; i < SIZE; i++)
        code[i] = code_pattern(1, i);
    struct load load = {.time = 1, .addr = 0x1000, .name = "name", .code = code, .size = SIZE};
    start(&one);
    put_load(&one, &load);
    start(&two);
    put_debug(&two, 1, 1);
    load.slack_before = 3;
    load.addr = 0x2000;
    put_load(&two, &load); /* 0: the same, elsewhere */
    code[SIZE - 1] ^= 1;
    put_load(&two, &load); /* 1: another last byte */
    code[SIZE - 1] ^= 1;
    code[0] ^= 1;
    put_load(&two, &load); /* 2: another first byte */
    code[0] ^= 1;
    load.name = "nome";
    put_load(&two, &load); /* 3: another name */
    load.name = "name2";
    put_load(&two, &load); /* 4: a longer name */
    load.name = "name";
    load.size--;
    put_load(&two, &load); /* 5: less code */
    load.size++;
    load.no_bytes = true;
    put_load(&two, &load); /* 6: no bytes */
    put_load(&two, &load); /* 7: no bytes either */
    load.name = "nom2";
    put_load(&two, &load); /* 8: no bytes, another name */
    open_index(&a, write_dump(&one));
    open_index(&b, write_dump(&two));

    const struct code *first = jitdump_index_code(&a.index, 0);
    const struct code *codes = jitdump_index_code(&b.index, 0);
    assert_int_equal(b.index.count, 9);
    assert_true(jitdump_same_code(a.dump, first, a.dump, first));
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(jitdump_same_code(a.dump, first, b.dump, &codes[i]), i == 0);
    assert_true(jitdump_same_code(b.dump, &codes[6], b.dump, &codes[7]));
    assert_false(jitdump_same_code(b.dump, &codes[7], b.dump, &codes[8]));
    assert_false(jitdump_same_code(b.dump, &codes[0], b.dump, &codes[7]));
    assert_false(jitdump_same_code(b.dump, &codes[7], b.dump, &codes[0]));
    close_index(&a);
    close_index(&b);
    builder_done(&one);
    builder_done(&two);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_a_piece),
        cmocka_unit_test(code_without_bytes_is_kept),
        cmocka_unit_test(debug_info_of_a_module),
        cmocka_unit_test(debug_info_before_its_load),
        cmocka_unit_test(debug_info_is_matched_by_address),
        cmocka_unit_test(versions_at_one_address_get_their_own),
        cmocka_unit_test(debug_info_after_its_load),
        cmocka_unit_test(debug_info_does_not_go_further_back),
        cmocka_unit_test(debug_info_before_a_cut),
        cmocka_unit_test(debug_info_of_another_address_goes_by_order),
        cmocka_unit_test(unwinding_info_goes_to_the_next_load),
        cmocka_unit_test(moves),
        cmocka_unit_test(moves_are_per_pid),
        cmocka_unit_test(times_may_go_back),
        cmocka_unit_test(same_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
