/* SPDX-License-Identifier: MIT */
/* Records one by one: their fields, what is left out, and where reading goes on. */
#include "builder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct load plain = {
    .time = 5000, .addr = 0x7f0000001000, .index = 3, .name = "plain", .size = 20};

struct reading {
    struct reports reports;
    struct jitdump *dump;
    struct jitdump_reader *reader;
    struct jitdump_record record;
};

static void start(struct reading *reading, struct builder *builder)
{
    *reading = (struct reading){0};
    reports_init(&reading->reports);
    assert_int_equal(jitdump_open(write_dump(builder), &reading->reports.diag, &reading->dump), 0);
    assert_int_equal(jitdump_reader_new(reading->dump, &reading->reports.diag, &reading->reader),
                     0);
}

static void expect(struct reading *reading, uint32_t id, size_t offset)
{
    assert_int_equal(jitdump_reader_next(reading->reader, &reading->record), 1);
    assert_int_equal(reading->record.id, id);
    assert_int_equal(reading->record.offset, offset);
}

static void finish(struct reading *reading)
{
    assert_int_equal(jitdump_reader_next(reading->reader, &reading->record), 0);
    assert_int_equal(jitdump_reader_next(reading->reader, &reading->record), 0);
    jitdump_reader_free(reading->reader);
    jitdump_free(reading->dump);
}

static void fields_of_all_types(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct builder builder;
        struct reading r;
        builder_init(&builder, big_endian);
        put_header(&builder);
        size_t load = put_load(&builder, &plain);
        size_t move = put_move(&builder, 6000, 77, 0x123456789abcdef0, 0x4000, 0x50);
        size_t debug = put_debug(&builder, 7000, 0x7f0000001000);
        size_t usual = put_unwinding(&builder, 8000, 68, 20, false);
        size_t first = put_unwinding(&builder, 8001, 192, 12, true);
        size_t empty = put_unwinding(&builder, 8002, 20, 20, false);
        size_t unknown = put_prefix(&builder, 99, 24, 8500);
        put_fill(&builder, 0xff, 8);
        size_t close = put_close(&builder, 9000);
        size_t after = put_load(&builder, &plain);

        start(&r, &builder);
        expect(&r, JITDUMP_LOAD, load);
        assert_int_equal(r.record.time, 5000);
        assert_int_equal(r.record.total_size, 56 + 6 + 20);
        assert_int_equal(r.record.load.pid, 100);
        assert_int_equal(r.record.load.tid, 101);
        assert_int_equal(r.record.load.addr, 0x7f0000001000);
        assert_int_equal(r.record.load.size, 20);
        assert_int_equal(r.record.load.index, 3);
        assert_int_equal(r.record.load.name_size, 5);
        assert_string_equal(r.record.load.name, "plain");
        assert_true(r.record.load.has_bytes);
        assert_int_equal(r.record.load.code_delta, 62);
        expect(&r, JITDUMP_MOVE, move);
        assert_int_equal(r.record.time, 6000);
        assert_int_equal(r.record.move.pid, 77);
        assert_int_equal(r.record.move.tid, 78);
        assert_int_equal(r.record.move.old_addr, 0x3333);
        assert_int_equal(r.record.move.new_addr, 0x4000);
        assert_int_equal(r.record.move.size, 0x50);
        assert_int_equal(r.record.move.index, 0x123456789abcdef0);
        expect(&r, JITDUMP_DEBUG_INFO, debug);
        assert_int_equal(r.record.debug.addr, 0x7f0000001000);
        assert_int_equal(r.record.debug.entries, 1);
        expect(&r, JITDUMP_UNWINDING_INFO, usual);
        assert_int_equal(r.record.unwinding.size, 68);
        assert_int_equal(r.record.unwinding.header_size, 20);
        assert_int_equal(r.record.unwinding.mapped_size, 0);
        assert_false(r.record.unwinding.header_first);
        expect(&r, JITDUMP_UNWINDING_INFO, first);
        assert_true(r.record.unwinding.header_first);
        expect(&r, JITDUMP_UNWINDING_INFO, empty);
        assert_false(r.record.unwinding.header_first);
        expect(&r, 99, unknown);
        assert_int_equal(r.record.total_size, 24);
        /* A record of 16 bytes ends nothing: forked children write CLOSE in mid-file. */
        expect(&r, JITDUMP_CLOSE, close);
        expect(&r, JITDUMP_LOAD, after);
        finish(&r);
        assert_int_equal(r.reports.warnings, 0);
        assert_int_equal(r.reports.notes, 1);
        builder_done(&builder);
    }
}

static void code_without_bytes(void **state)
{
    struct builder builder;
    struct reading r;
    struct load load = plain;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    load.no_bytes = true;
    size_t none = put_load(&builder, &load);
    size_t short_by_one = put_load(&builder, &plain);
    set_u64(&builder, short_by_one + 40, plain.size + 1);
    size_t last = put_load(&builder, &plain);

    start(&r, &builder);
    expect(&r, JITDUMP_LOAD, none);
    assert_false(r.record.load.has_bytes);
    assert_int_equal(r.record.load.size, 20);
    assert_string_equal(r.record.load.name, "plain");
    expect(&r, JITDUMP_LOAD, short_by_one);
    assert_false(r.record.load.has_bytes);
    assert_int_equal(r.record.load.size, 21);
    expect(&r, JITDUMP_LOAD, last);
    assert_true(r.record.load.has_bytes);
    finish(&r);
    assert_int_equal(r.reports.warnings, 0);
    builder_done(&builder);
}

static void slack_around_the_code(void **state)
{
    static const uint8_t zero_first[20] = {[19] = 9}, zero_last[20] = {9}, zeros[20] = {0};
    static const struct {
        size_t before, after;
        const void *code; /* NULL: no zeros in it */
        uint32_t delta;   /* behind the name's NUL */
    } cases[] = {
        {0, 0, NULL, 0},       {8, 0, NULL, 8},         {0, 8, NULL, 0},       {3, 0, NULL, 3},
        {0, 10000, NULL, 0},   {10000, 0, NULL, 10000}, {8, 0, zero_first, 8}, /* first 8 all zero,
                                                                                  last 8 not */
        {0, 8, zero_last, 0},  /* last 8 all zero, first 8 not */
        {0, 8, zeros, 8},      /* undecided: the end, as perf does */
        {0, 8, zero_first, 8}, /* both ends zero: undecided */
        {4, 4, NULL, 8},       /* padding on both sides: undecided */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct builder builder;
        struct reading r;
        struct load load = plain;
        builder_init(&builder, false);
        put_header(&builder);
        load.slack_before = cases[i].before;
        load.slack_after = cases[i].after;
        load.code = cases[i].code;
        size_t offset = put_load(&builder, &load);
        start(&r, &builder);
        expect(&r, JITDUMP_LOAD, offset);
        assert_true(r.record.load.has_bytes);
        assert_int_equal(r.record.load.code_delta, 62 + cases[i].delta);
        finish(&r);
        builder_done(&builder);
    }
}

static void names_of_any_length(void **state)
{
    static const size_t lengths[] = {0, 1, 4038, 4039, 4040, 4041, 1048519, 1048520, 3000000};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct builder builder;
        struct reading r;
        struct load load = plain;
        char *name = malloc(lengths[i] + 1);
        assert_non_null(name);
        for (size_t at = 0; at < lengths[i]; at++)
            name[at] = (char)code_pattern(i, at);
        name[lengths[i]] = '\0';
        load.name = name;
        builder_init(&builder, false);
        put_header(&builder);
        size_t before = put_load(&builder, &plain);
        size_t offset = put_load(&builder, &load);
        size_t after = put_load(&builder, &plain);
        start(&r, &builder);
        expect(&r, JITDUMP_LOAD, before);
        expect(&r, JITDUMP_LOAD, offset);
        assert_int_equal(r.record.load.name_size, lengths[i]);
        assert_memory_equal(r.record.load.name, name, lengths[i] + 1);
        assert_int_equal(r.record.load.code_delta, 57 + lengths[i]);
        expect(&r, JITDUMP_LOAD, after);
        finish(&r);
        builder_done(&builder);
        free(name);
    }
}

/* More code than the buffer holds, and records that lie across its end at every distance. */
static void code_larger_than_the_buffer(void **state)
{
    struct builder builder;
    struct reading r;
    size_t offsets[60], count = 0;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (size_t i = 0; i < 20; i++) {
        struct load load = plain;
        load.index = i;
        load.size = ((size_t)1 << 20) - 200 + i * 16;
        offsets[count++] = put_load(&builder, &load);
        offsets[count++] = put_debug(&builder, 1, 2);
        offsets[count++] = put_load(&builder, &plain);
    }
    start(&r, &builder);
    for (size_t i = 0; i < count; i++) {
        expect(&r, i % 3 == 1 ? JITDUMP_DEBUG_INFO : JITDUMP_LOAD, offsets[i]);
        if (i % 3 != 1)
            assert_string_equal(r.record.load.name, "plain");
    }
    finish(&r);
    assert_int_equal(r.reports.warnings, 0);
    builder_done(&builder);
}

/* Each invalid record stands between two good ones and costs nothing but itself. */
static void invalid_records_are_left_out(void **state)
{
    enum {
        SHORT_LOAD,
        SHORT_MOVE,
        SHORT_DEBUG,
        SHORT_UNWINDING,
        NO_NAME_END,
        WRAPS,
        WRAPS_BY_ONE,
        TOO_LARGE,
        HUGE_SIZE,
        UNWINDING_TOO_LONG,
        UNWINDING_HEADER_TOO_LONG,
        KINDS
    };

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct builder builder;
        struct reading r;
        size_t bad = 0;
        builder_init(&builder, kind % 2);
        put_header(&builder);
        size_t before = put_load(&builder, &plain);
        switch (kind) {
        case SHORT_LOAD:
            bad = put_prefix(&builder, 0, 56, 5000);
            put_fill(&builder, 0xaa, 40);
            break;
        case SHORT_MOVE:
            bad = put_prefix(&builder, 1, 63, 5000);
            put_fill(&builder, 0xaa, 47);
            break;
        case SHORT_DEBUG:
            bad = put_prefix(&builder, 2, 31, 5000);
            put_fill(&builder, 0xaa, 15);
            break;
        case SHORT_UNWINDING:
            bad = put_prefix(&builder, 4, 39, 5000);
            put_fill(&builder, 0xaa, 23);
            break;
        case NO_NAME_END:
            bad = put_load(&builder, &plain);
            builder.bytes[bad + 61] = 'x';
            break;
        case WRAPS:
            bad = put_load(&builder, &plain);
            set_u64(&builder, bad + 32, UINT64_MAX - 4);
            break;
        case WRAPS_BY_ONE:
            bad = put_load(&builder, &plain);
            set_u64(&builder, bad + 32, UINT64_MAX - 19);
            break;
        case TOO_LARGE:
            bad = put_load(&builder, &plain);
            set_u64(&builder, bad + 40, UINT64_C(0x80000000));
            break;
        case HUGE_SIZE:
            bad = put_load(&builder, &plain);
            set_u64(&builder, bad + 40, UINT64_MAX);
            break;
        case UNWINDING_TOO_LONG:
            bad = put_unwinding(&builder, 5000, 68, 20, false);
            set_u64(&builder, bad + 16, 73);
            break;
        case UNWINDING_HEADER_TOO_LONG:
            bad = put_unwinding(&builder, 5000, 68, 20, false);
            set_u64(&builder, bad + 24, 69);
            break;
        }
        size_t after = put_load(&builder, &plain);
        put_load(&builder, &plain);
        start(&r, &builder);
        expect(&r, JITDUMP_LOAD, before);
        expect(&r, JITDUMP_LOAD, after);
        assert_int_equal(jitdump_reader_next(r.reader, &r.record), 1);
        finish(&r);
        assert_int_equal(r.reports.warnings, 1);
        assert_int_equal(r.reports.last_offset, bad);
        builder_done(&builder);
    }
}

/* Many invalid records are not many reports. */
static void reports_are_few(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (int i = 0; i < 5000; i++) {
        size_t bad = put_load(&builder, &plain);
        set_u64(&builder, bad + 40, UINT64_MAX);
    }
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 0);
    assert_int_equal(opened.index.stats.invalid_records, 5000);
    assert_in_range(opened.reports.warnings, 1, 100);
    close_index(&opened);
    builder_done(&builder);
}

/* Of a dump that is cut anywhere, whatever is whole is read, and the place of the cut is told. */
static void cut_at_every_byte(void **state)
{
    struct builder builder;
    size_t ends[16], count = 0;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    ends[count++] = builder.size;
    put_unwinding(&builder, 1, 68, 20, false);
    ends[count++] = builder.size;
    put_load(&builder, &plain);
    ends[count++] = builder.size;
    put_debug(&builder, 2, plain.addr);
    ends[count++] = builder.size;
    put_load(&builder, &plain);
    ends[count++] = builder.size;
    put_move(&builder, 3, 100, 3, 0x9000, 0);
    ends[count++] = builder.size;
    put_close(&builder, 4);
    ends[count++] = builder.size;

    for (size_t size = 40; size <= builder.size; size++) {
        struct opened opened;
        size_t whole = 0;
        while (whole + 1 < count && ends[whole + 1] <= size)
            whole++;
        open_index(&opened, write_dump_cut(&builder, size));
        const struct jitdump_stats *stats = &opened.index.stats;
        assert_int_equal(stats->loads + stats->moves + stats->debug_infos + stats->unwinding_infos +
                             stats->closes,
                         whole);
        assert_int_equal(stats->cut_bytes, size - ends[whole]);
        assert_int_equal(stats->skipped_bytes, 0);
        assert_int_equal(opened.reports.warnings, 0);
        close_index(&opened);
    }
    builder_done(&builder);
}

static void put_foreign(struct builder *builder, int kind, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        switch (kind) {
        case 0: /* text */
            put_fill(builder, (uint8_t)('a' + i % 26), 1);
            break;
        case 1:
            put_fill(builder, 0, 1);
            break;
        default: /* small numbers, each like the id or the size of a record */
            put_fill(builder, (uint8_t)(i % 4 == 3 && !builder->big_endian ? 0 : i * 7 % 20), 1);
            break;
        }
    }
}

/* Foreign bytes of any kind and length cost nothing but themselves. */
static void foreign_bytes_between_records(void **state)
{
    static const size_t sizes[] = {1, 2, 15, 16, 17, 34, 63, 64, 65, 1000, 70000, 2500000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (int kind = 0; kind < 6; kind++) {
            struct builder builder;
            struct opened opened;
            builder_init(&builder, kind % 2);
            put_header(&builder);
            put_load(&builder, &plain);
            put_unwinding(&builder, 5000, 68, 20, false);
            size_t from = builder.size;
            put_foreign(&builder, kind / 2, sizes[i]);
            put_unwinding(&builder, 5001, 68, 20, false);
            size_t after = put_load(&builder, &plain);
            open_index(&opened, write_dump(&builder));
            assert_int_equal(opened.index.count, 2);
            assert_int_equal(jitdump_index_code(&opened.index, 1)->name, after + 56);
            assert_int_equal(opened.index.stats.skipped_bytes, sizes[i]);
            assert_int_equal(opened.index.stats.unwinding_infos, 2);
            assert_int_equal(opened.index.stats.invalid_records, 0);
            assert_int_equal(opened.index.stats.cut_bytes, 0);
            assert_int_equal(opened.reports.warnings, 1);
            assert_int_equal(opened.reports.last_offset, from);
            close_index(&opened);
            builder_done(&builder);
        }
    }
}

/* As if a part of another dump had got in between: whole records, but of another month. */
static void records_of_another_time_are_foreign(void **state)
{
    struct builder builder;
    struct opened opened;
    struct load foreign = plain;

    (void)state;
    foreign.time = plain.time + ((uint64_t)1 << 50);
    builder_init(&builder, false);
    put_header(&builder);
    put_load(&builder, &plain); /* from which times are known */
    put_load(&builder, &plain);
    const size_t from = builder.size;
    put_fill(&builder, 'x', 20);
    put_load(&builder, &foreign);
    put_load(&builder, &foreign);
    const size_t after = put_load(&builder, &plain);
    put_close(&builder, plain.time);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 3);
    assert_int_equal(jitdump_index_code(&opened.index, 2)->name, after + 56);
    assert_int_equal(opened.index.stats.skipped_bytes, after - from);
    close_index(&opened);
    builder_done(&builder);
}

/* The good record may lie anyhow across the end of the buffer, which holds 2^18 bytes. */
static void foreign_bytes_up_to_the_end_of_the_buffer(void **state)
{
    (void)state;
    for (size_t distance = 0; distance < 200; distance++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, false);
        put_header(&builder);
        put_load(&builder, &plain);
        put_fill(&builder, 'x', ((size_t)1 << 18) + 40 - distance);
        size_t after = put_load(&builder, &plain);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(opened.index.count, 2);
        assert_int_equal(jitdump_index_code(&opened.index, 1)->name, after + 56);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void foreign_bytes_at_start_and_end(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    put_fill(&builder, 'x', 100);
    size_t load = put_load(&builder, &plain);
    put_close(&builder, 5001);
    size_t end = builder.size;
    put_fill(&builder, 0, 3000);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 1);
    assert_int_equal(jitdump_index_code(&opened.index, 0)->name, load + 56);
    assert_int_equal(opened.index.stats.closes, 1);
    assert_int_equal(opened.index.stats.skipped_bytes, 3100);
    assert_int_equal(opened.index.stats.cut_bytes, 0);
    assert_int_equal(opened.reports.warnings, 2);
    assert_int_equal(opened.reports.last_offset, end);
    close_index(&opened);
    builder_done(&builder);
}

/* A record whose size leads into others, or beyond the file, does not take those with it. */
static void wrong_size_does_not_swallow_others(void **state)
{
    static const uint32_t sizes[] = {200, 5000, UINT32_MAX, 15, 0, 57, 70};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct builder builder;
        struct opened opened;
        uint64_t found = 0;
        builder_init(&builder, i % 2);
        put_header(&builder);
        for (uint64_t index = 0; index < 60; index++) {
            struct load load = plain;
            load.index = index;
            size_t offset = put_load(&builder, &load);
            if (index == 20)
                set_u32(&builder, offset + 4, sizes[i]);
        }
        open_index(&opened, write_dump(&builder));
        assert_in_range(opened.index.count, 59, 60);
        for (size_t at = 0; at < opened.index.count; at++)
            found |= UINT64_C(1) << code_index(&opened, jitdump_index_code(&opened.index, at));
        assert_int_equal(found | UINT64_C(1) << 20, (UINT64_C(1) << 60) - 1);
        assert_true(opened.reports.warnings >= 1);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void unknown_types_are_passed_over(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (uint32_t i = 0; i < 50; i++) {
        put_prefix(&builder, 5 + i * 1000, 16 + i, 1);
        put_fill(&builder, 0x77, i);
        if (i % 10 == 9)
            put_load(&builder, &plain);
    }
    open_index(&opened, write_dump(&builder));
    assert_int_equal(opened.index.count, 5);
    assert_int_equal(opened.index.stats.unknown, 50);
    assert_int_equal(opened.index.stats.skipped_bytes, 0);
    assert_int_equal(opened.reports.warnings, 0);
    assert_int_equal(opened.reports.notes, 1);
    close_index(&opened);
    builder_done(&builder);
}

/* A file that becomes shorter while it is read is an error, not a loop. */
static void file_shrinks(void **state)
{
    struct builder builder;
    struct reading r;
    int status;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (int i = 0; i < 40000; i++)
        put_load(&builder, &plain);
    start(&r, &builder);
    assert_int_equal(jitdump_reader_next(r.reader, &r.record), 1);
    assert_int_equal(truncate(builder.path, 100), 0);
    while ((status = jitdump_reader_next(r.reader, &r.record)) > 0)
        ;
    assert_true(status < 0);
    jitdump_reader_free(r.reader);
    jitdump_free(r.dump);
    builder_done(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_all_types),
        cmocka_unit_test(code_without_bytes),
        cmocka_unit_test(slack_around_the_code),
        cmocka_unit_test(names_of_any_length),
        cmocka_unit_test(code_larger_than_the_buffer),
        cmocka_unit_test(invalid_records_are_left_out),
        cmocka_unit_test(reports_are_few),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(foreign_bytes_between_records),
        cmocka_unit_test(records_of_another_time_are_foreign),
        cmocka_unit_test(foreign_bytes_up_to_the_end_of_the_buffer),
        cmocka_unit_test(foreign_bytes_at_start_and_end),
        cmocka_unit_test(wrong_size_does_not_swallow_others),
        cmocka_unit_test(unknown_types_are_passed_over),
        cmocka_unit_test(file_shrinks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
