/* SPDX-License-Identifier: MIT */
/*
 * An index of which another reader has made a part is the one that a single reader makes, with the
 * same reports in the same order, wherever that part begins.
 */
#include "../../../src/jitdump/reader.h"
#include "../../../src/jitdump/split.h"

#include "builder.h"

#include "jitinject/diag_list.h"

#include "jitdump/fixtures.h"

#include <stdlib.h>
#include <string.h>

struct result {
    struct jitdump_index index;
    struct diag_list reports;
    bool joined;
};

static void clear(struct result *result)
{
    jitdump_index_clear(&result->index);
    diag_list_clear(&result->reports);
}

static struct result build(struct jitdump *dump, struct jitdump_split *split)
{
    struct result result = {0};
    const struct diag diag = diag_list_sink(&result.reports);

    assert_int_equal(jitdump_index_build_split(dump, split, 3, &diag, &result.index), 0);
    assert_false(result.reports.lost);
    return result;
}

/* As if a helper had read all that it can, from `from` on, before the builder comes there. */
static struct result build_from(struct jitdump *dump, uint64_t from)
{
    struct jitdump_split split = {.dump = dump,
                                  .position = 1,
                                  .seam = UINT64_MAX,
                                  .lock = PTHREAD_MUTEX_INITIALIZER,
                                  .changed = PTHREAD_COND_INITIALIZER};
    struct jitdump_reader *reader;
    struct jitdump_record record;

    assert_int_equal(jitdump_reader_new(dump, NULL, &reader), 0);
    int status = jitdump_reader_next(reader, &record);
    if (status > 0)
        status = branch_begin(&split.branch, dump, 3, from, reader->times.first);
    jitdump_reader_free(reader);
    if (status > 0) {
        split.seam = split.branch.start;
        split.state = SPLIT_DONE;
    }
    while (status > 0)
        status = branch_next(&split.branch);
    assert_int_equal(status, 0);
    /* What it does not join stays where it is until the end. */
    const size_t pieces = split.branch.index.count;
    struct result result = build(dump, &split);
    result.joined = pieces > 0 && result.index.block_count > 1;
    branch_clear(&split.branch);
    return result;
}

static void add_text(void *context, const struct diag_report *report)
{
    struct builder *text = context;

    put_u64(text, report->offset);
    put_u32(text, report->severity);
    put_bytes(text, report->text, strlen(report->text) + 1);
}

static void expect_same_reports(const struct result *a, const struct result *b)
{
    struct builder texts[2];

    for (size_t i = 0; i < 2; i++) {
        const struct diag diag = {.report = add_text, .context = &texts[i]};
        builder_init(&texts[i], false);
        diag_list_replay(i ? &b->reports : &a->reports, &diag);
    }
    assert_int_equal(texts[0].size, texts[1].size);
    if (texts[0].size)
        assert_memory_equal(texts[0].bytes, texts[1].bytes, texts[0].size);
    builder_done(&texts[0]);
    builder_done(&texts[1]);
}

static void expect_same(const struct result *a, const struct result *b)
{
    assert_int_equal(a->index.count, b->index.count);
    for (size_t i = 0; i < a->index.count; i++)
        assert_memory_equal(jitdump_index_code(&a->index, i), jitdump_index_code(&b->index, i),
                            sizeof(struct code));
    assert_memory_equal(&a->index.stats, &b->index.stats, sizeof(a->index.stats));
    assert_int_equal(a->index.lines.has_lines, b->index.lines.has_lines);
    assert_int_equal(a->index.lines.bias, b->index.lines.bias);
    expect_same_reports(a, b);
}

/* Pieces in runs are those that come one by one. */
static void expect_runs(const struct jitdump_index *index)
{
    for (size_t i = 0, count; i < index->count; i += count) {
        struct code *codes = jitdump_index_run(index, i, &count);
        assert_true(count > 0 && count <= index->count - i);
        for (size_t k = 0; k < count; k++)
            assert_ptr_equal(&codes[k], jitdump_index_code(index, i + k));
    }
}

/* How many of the parts could be used, of those that begin each `step` bytes. */
static size_t try_all(const char *path, uint64_t step)
{
    struct jitdump *dump;
    size_t joined = 0;

    assert_int_equal(jitdump_open(path, NULL, &dump), 0);
    struct result whole = build(dump, NULL);
    for (uint64_t from = 40 + next_random() % step; from < jitdump_size(dump); from += step) {
        struct result parts = build_from(dump, from);
        expect_same(&whole, &parts);
        expect_runs(&parts.index);
        joined += parts.joined;
        clear(&parts);
    }
    clear(&whole);
    jitdump_free(dump);
    return joined;
}

static void put_function(struct builder *builder, uint64_t number, uint64_t addr)
{
    static const char *const names[] = {"f", "a function", "another one with a longer name"};
    const struct load load = {.time = 1000 + number,
                              .addr = addr,
                              .index = number,
                              .name = names[number % 3],
                              .size = 8 + number % 40,
                              .pid = 100 + (number % 7 == 0),
                              .slack_before = number % 5 == 0 ? 3 : 0,
                              .no_bytes = number % 11 == 0};
    put_load(builder, &load);
}

/* Each function has what JITs write for it, in their orders. */
static void joins_what_jits_write(void **state)
{
    (void)state;
    random_begin(7);
    for (unsigned form = 0; form < 8; form++) {
        struct builder builder;
        builder_init(&builder, form % 2);
        put_header(&builder);
        for (uint64_t i = 0; i < 30; i += 3) {
            if (form / 2 == 3)
                put_unwinding(&builder, 1000 + i, 192, 12, true);
            for (uint64_t k = 0; k < 3 && form / 2 == 3; k++)
                put_debug(&builder, 1000 + i, 0x1000 * (i + k));
            for (uint64_t k = 0; k < 3; k++) {
                if (form / 2 == 1 || form / 2 == 2)
                    put_debug(&builder, 1000 + i + k, 0x1000 * (i + k));
                if (form / 2 == 2)
                    put_unwinding(&builder, 1000 + i + k, k ? 68 : 20, 20, false);
                put_function(&builder, i + k, 0x1000 * (i + k));
            }
        }
        const size_t joined = try_all(write_dump(&builder), 1);
        /* All but those that begin behind the last place where nothing waits. */
        assert_true(joined * 10 > builder.size * 8);
        builder_done(&builder);
    }
}

/* Once there are moves, it has to be known which piece each code_index stands for. */
static void joins_nothing_between_moves(void **state)
{
    struct builder builder;
    size_t first_move = 0;

    (void)state;
    random_begin(5);
    builder_init(&builder, false);
    put_header(&builder);
    for (uint64_t i = 0; i < 40; i++) {
        put_function(&builder, i, 0x1000 * i);
        if (i == 9)
            first_move = put_move(&builder, 1000 + i, 100, 2, 0x100000, 0);
        if (i == 39)
            put_move(&builder, 1000 + i, 100, 25, 0x200000, 0);
    }
    const size_t joined = try_all(write_dump(&builder), 1);
    assert_in_range(joined, 1, first_move);
    builder_done(&builder);
}

/* Code that is over other code, moves, tables of no code, what is no record, times of long ago. */
static void put_anything(struct builder *builder, uint64_t number, unsigned odd)
{
    const uint64_t addr = 0x1000 * (next_random() % 12 + 1);
    const uint64_t time = 1000 + number;

    switch (next_random() % 16) {
    case 0:
        put_unwinding(builder, time, 192, 12, true);
        break;
    case 1:
    case 2:
        put_unwinding(builder, time, next_random() % 2 ? 20 : 68, 20, false);
        break;
    case 3:
    case 4:
    case 5:
        put_debug(builder, time, addr);
        break;
    case 6:
        put_close(builder, time);
        break;
    default:
        put_function(builder, number, addr);
    }
    switch (odd ? next_random() % odd : 99) {
    case 0:
        put_move(builder, time, 100, next_random() % (number + 2), 0x100000 * number, 0);
        break;
    case 1:
        put_prefix(builder, 17, 24, time);
        put_fill(builder, 1, 8);
        break;
    case 2:
        put_fill(builder, next_random() % 3 ? 0xcc : 0, 1 + next_random() % 40);
        break;
    case 3:
        put_close(builder, time + (UINT64_C(1) << 50));
        break;
    case 4:
        put_prefix(builder, next_random() % 5, 30 + next_random() % 60, time);
        break;
    case 5:
        put_prefix(builder, JITDUMP_LOAD, 60, time); /* without pid, its name has no end */
        put_fill(builder, 1, 44);
        break;
    default:
        break;
    }
}

static void same_for_random_dumps(void **state)
{
    size_t joined = 0;

    (void)state;
    random_begin(20250301);
    for (unsigned round = 0; round < 400; round++) {
        struct builder builder;
        const unsigned odd = round % 4 ? 6 + next_random() % 60 : 0;
        builder_init(&builder, round % 2);
        put_header(&builder);
        const uint64_t count = 5 + next_random() % 60;
        for (uint64_t i = 0; i < count; i++)
            put_anything(&builder, i, odd);
        for (unsigned i = 0; i < round % 3; i++)
            builder.bytes[40 + next_random() % (builder.size - 40)] = (uint8_t)next_random();
        const size_t cut = round % 5 ? 0 : next_random() % 60;
        joined += try_all(write_dump_cut(&builder, builder.size - cut), builder.size / 40);
        builder_done(&builder);
    }
    assert_true(joined > 1000);
}

static void same_for_recordings(void **state)
{
    static const struct {
        const char *path;
        size_t joined; /* of 12 parts, at least; the first two are too short, the third has moves */
    } dumps[] = {
        {FIXTURES "/llvm19-orc-dwarf/jit-18964.dump", 0},
        {FIXTURES "/tiny-threads/jit-31771.dump", 0},
        {FIXTURES "/tiny-move/jit-31742.dump", 0},
        {FIXTURES "/py313-fork/jit-31394.dump", 10},
        {FIXTURES "/java17/jit-15054.dump", 10},
        {FIXTURES "/qemu10/jit-19974.dump", 10},
        {FIXTURES "/jsc254/jit-17620-17563.dump", 10},
        {FIXTURES "/node-app/jit-12614.dump", 10},
        {FIXTURES "/tiny-nofp-many/jit-12598.dump", 10},
    };

    (void)state;
    random_begin(11);
    for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
        struct jitdump *dump;
        assert_int_equal(jitdump_open(dumps[i].path, NULL, &dump), 0);
        const uint64_t step = jitdump_size(dump) / 12 + 1;
        jitdump_free(dump);
        assert_true(try_all(dumps[i].path, step) >= dumps[i].joined);
    }
}

static void *help(void *split)
{
    jitdump_split_help(split);
    return NULL;
}

/* A dump that is large enough, by two threads. */
static void same_by_two_threads(void **state)
{
    struct builder builder;
    struct jitdump *dump;
    pthread_t thread;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    uint8_t *code = calloc(1, 4096);
    assert_non_null(code);
    for (uint64_t i = 0; i < 6000; i++) {
        const struct load load = {.time = 1000 + i,
                                  .addr = 0x1000 * i,
                                  .index = i,
                                  .name = "f",
                                  .code = code,
                                  .size = 4096};
        if (i == 4000)
            put_fill(&builder, 0xcc, 100);
        if (i % 2)
            put_debug(&builder, 1000 + i, 0x1000 * i);
        put_load(&builder, &load);
    }
    free(code);
    assert_int_equal(jitdump_open(write_dump(&builder), NULL, &dump), 0);
    struct result whole = build(dump, NULL);
    assert_int_equal(whole.index.count, 6000);
    assert_int_equal(whole.reports.count, 1);
    for (unsigned i = 0; i < 10; i++) {
        struct jitdump_split *split = jitdump_split_new(dump);
        assert_non_null(split);
        assert_int_equal(pthread_create(&thread, NULL, help, split), 0);
        struct result parts = build(dump, split);
        pthread_join(thread, NULL);
        expect_same(&whole, &parts);
        expect_runs(&parts.index);
        clear(&parts);
        jitdump_split_free(split);
    }
    clear(&whole);
    jitdump_free(dump);
    builder_done(&builder);
}

/* Nobody needs help with a small one. */
static void small_dumps_are_not_split(void **state)
{
    struct builder builder;
    struct jitdump *dump;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    put_function(&builder, 1, 0x1000);
    assert_int_equal(jitdump_open(write_dump(&builder), NULL, &dump), 0);
    assert_null(jitdump_split_new(dump));
    jitdump_free(dump);
    builder_done(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_what_jits_write), cmocka_unit_test(joins_nothing_between_moves),
        cmocka_unit_test(same_for_random_dumps), cmocka_unit_test(same_for_recordings),
        cmocka_unit_test(same_by_two_threads),   cmocka_unit_test(small_dumps_are_not_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
