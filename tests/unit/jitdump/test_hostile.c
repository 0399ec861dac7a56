/* SPDX-License-Identifier: MIT */
/* Damaged and malicious dumps: nothing crashes, nothing takes long, every piece is within bounds.
 */
#include "builder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A dump that has everything. */
static void build_rich(struct builder *builder, bool big_endian)
{
    builder_init(builder, big_endian);
    put_header(builder);
    put_unwinding(builder, 1000, 192, 12, true);
    for (uint64_t i = 0; i < 4; i++)
        put_debug(builder, 1001, 0x1000 * (i + 1));
    for (uint64_t i = 0; i < 8; i++) {
        const struct load load = {.time = 1002 + i,
                                  .addr = 0x1000 * (i % 6 + 1),
                                  .index = i,
                                  .name = "some function",
                                  .size = 40,
                                  .slack_before = i % 3};
        put_unwinding(builder, 1002 + i, i % 2 ? 20 : 68, 20, false);
        put_load(builder, &load);
        put_move(builder, 1010 + i, 100, i, 0x100000 * i, 0);
    }
    put_prefix(builder, 17, 40, 2000);
    put_fill(builder, 1, 24);
    put_close(builder, 3000);
}

/* What a user of the index relies on without looking. */
static void check_bounds(const struct opened *opened)
{
    uint64_t size = jitdump_size(opened->dump);

    for (size_t i = 0; i < opened->index.count; i++) {
        const struct code *code = jitdump_index_code(&opened->index, i);
        uint8_t id[4];
        assert_true(code->size <= INT_MAX);
        assert_true(code->addr <= UINT64_MAX - code->size);
        assert_true(code->name >= 40 + 56 && code->name < size);
        assert_true(code->name + code->name_size < size);
        if (!(code->flags & CODE_NO_BYTES))
            assert_true(code->name + code->code_delta + code->size <= size);
        assert_true(code->debug + 32 <= size && code->unwind + 40 <= size);
        assert_true(code->unwind_size % 8 == 0 && code->unwind_size <= size + 8);
        assert_true((code->unwind != 0) == (code->unwind_size != 0));
        if (code->debug) {
            assert_int_equal(pread(jitdump_fd(opened->dump), id, 4, (off_t)code->debug), 4);
            assert_int_equal(id[0] + id[3], JITDUMP_DEBUG_INFO);
        }
    }
}

static void use(const char *path)
{
    struct opened opened = {0};
    struct jitdump_record record;

    reports_init(&opened.reports);
    if (jitdump_open(path, &opened.reports.diag, &opened.dump) < 0) {
        assert_null(opened.dump);
        assert_true(opened.reports.warnings > 0);
        return;
    }
    assert_int_equal(jitdump_index_build(opened.dump, 1, &opened.reports.diag, &opened.index), 0);
    check_bounds(&opened);
    for (size_t i = 0; i + 1 < opened.index.count; i++)
        jitdump_same_code(opened.dump, jitdump_index_code(&opened.index, i), opened.dump,
                          jitdump_index_code(&opened.index, i + 1));

    /* The records lie one behind another, within the file. */
    struct jitdump_reader *reader;
    uint64_t end = 40;
    assert_int_equal(jitdump_reader_new(opened.dump, NULL, &reader), 0);
    while (jitdump_reader_next(reader, &record) > 0) {
        assert_true(record.offset >= end && record.total_size >= 16);
        end = record.offset + record.total_size;
        assert_true(end <= jitdump_size(opened.dump));
        if (record.id == JITDUMP_LOAD)
            assert_int_equal(strlen(record.load.name), record.load.name_size);
    }
    jitdump_reader_free(reader);
    close_index(&opened);
}

static void damaged_bytes(void **state)
{
    (void)state;
    random_begin(20240607);
    for (unsigned round = 0; round < 4000; round++) {
        struct builder builder;
        build_rich(&builder, round % 2);
        unsigned changes = 1 + next_random() % 4;
        while (changes--) {
            size_t at = next_random() % builder.size;
            switch (next_random() % 4) {
            case 0:
                builder.bytes[at] ^= (uint8_t)(1u << next_random() % 8);
                break;
            case 1:
                builder.bytes[at] = (uint8_t)next_random();
                break;
            case 2:
                builder.bytes[at] = 0xff;
                break;
            default: /* bytes that went missing */
                memmove(builder.bytes + at, builder.bytes + at + 1, builder.size - at - 1);
                builder.size--;
                break;
            }
        }
        use(write_dump(&builder));
        builder_done(&builder);
    }
}

/* One damaged byte costs few records: those it is in, and their neighbours at the most. */
static void one_damaged_byte_costs_little(void **state)
{
    struct builder builder;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (uint64_t i = 0; i < 12; i++) {
        const struct load load = {
            .time = 1000 + i, .addr = 0x1000 * i, .index = i, .name = "fn", .size = 24};
        put_load(&builder, &load);
    }
    for (size_t at = 40; at < builder.size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct opened opened;
            builder.bytes[at] ^= (uint8_t)(1u << bit);
            open_index(&opened, write_dump(&builder));
            assert_in_range(opened.index.count, 11, 12);
            check_bounds(&opened);
            close_index(&opened);
            builder.bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
    builder_done(&builder);
}

static double seconds_of(struct builder *builder)
{
    struct timespec from, to;

    write_dump(builder);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    use(builder->path);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

enum attack {
    STARTS_EVERYWHERE, /* half plausible records, one in another */
    GAPS_EVERYWHERE,   /* a record, foreign bytes, a record, ... */
    LONG_RECORDS,      /* sizes that lead far away, at every few bytes */
    ONLY_DEBUG_INFO,   /* lines of code that never comes */
    ONE_NAME,          /* a name that never ends */
    UNKNOWN_CHAINS,
    MANY_MOVES,
    ATTACKS,
};

static void build_attack(struct builder *builder, enum attack attack, size_t size)
{
    const struct load load = {.time = 1000, .addr = 0x1000, .name = "n", .size = 8};

    builder_init(builder, false);
    put_header(builder);
    put_load(builder, &load);
    if (attack == ONE_NAME) {
        put_prefix(builder, 0, (uint32_t)size, 1000);
        put_fill(builder, 'n', size - 16);
    }
    for (uint64_t i = 0; builder->size < size; i++) {
        switch (attack) {
        case STARTS_EVERYWHERE:
            put_prefix(builder, 3, 20, 1000);
            break;
        case GAPS_EVERYWHERE:
            put_load(builder, &load);
            put_fill(builder, 'x', 20);
            break;
        case LONG_RECORDS:
            put_prefix(builder, 0, (uint32_t)(size / 2), 1000);
            put_u32(builder, 100);
            put_u32(builder, 100);
            put_fill(builder, 0, 40);
            break;
        case ONLY_DEBUG_INFO:
            put_prefix(builder, 2, 32, 1000);
            put_u64(builder, i << 20);
            put_u64(builder, 0);
            break;
        case UNKNOWN_CHAINS:
            put_prefix(builder, 77, 16, 1000);
            break;
        case MANY_MOVES:
            put_move(builder, 1001, 100, 0, i << 8, 0);
            break;
        default:
            break;
        }
    }
}

/* Eight times the bytes must not take much more than eight times as long. */
static void work_is_linear(void **state)
{
    (void)state;
    for (enum attack attack = 0; attack < ATTACKS; attack++) {
        struct builder small, large;
        build_attack(&small, attack, (size_t)1 << 20);
        build_attack(&large, attack, (size_t)1 << 23);
        double short_time = seconds_of(&small);
        double long_time = seconds_of(&large);
        if (long_time > 0.2 + 24 * short_time)
            fail_msg("attack %d: %f s for 1 MiB, %f s for 8 MiB", (int)attack, short_time,
                     long_time);
        builder_done(&small);
        builder_done(&large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(one_damaged_byte_costs_little),
        cmocka_unit_test(work_is_linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
