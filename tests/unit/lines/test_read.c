/* SPDX-License-Identifier: MIT */
/* DEBUG_INFO records as writers leave them, read entry by entry. */
#include "table.h"

#include <string.h>

#define ADDR 0x7f0000001000u

/* A dump with one function of 0x100 bytes, and its index. */
struct example {
    struct builder builder;
    struct opened opened;
};

static void begin(struct example *example, bool big_endian)
{
    builder_init(&example->builder, big_endian);
    put_header(&example->builder);
}

static void load(struct example *example, const char *name)
{
    put_load(&example->builder,
             &(struct load){.time = 1, .addr = ADDR, .name = name, .size = 0x100});
    open_index(&example->opened, write_dump(&example->builder));
}

static const char *read_lines(struct example *example, uint64_t bias)
{
    return lines_of(&example->opened, jitdump_index_code(&example->opened.index, 0), bias);
}

static void end(struct example *example)
{
    close_index(&example->opened);
    builder_done(&example->builder);
}

static void test_entries_as_written(void **state)
{
    const struct entry entries[] = {{ADDR, 3, 0, "/src/a.js"},
                                    {ADDR + 0x11, 4, 7, "b.js"},
                                    {ADDR + 8, INT32_MAX, INT32_MAX, ""},
                                    {ADDR - 50, -1, -1, "/src/a.js"},
                                    {ADDR + 0x100, 0, 0, ""}};
    struct example example;

    (void)state;
    for (int big = 0; big < 2; big++) {
        begin(&example, big);
        put_lines(&example.builder, ADDR, entries);
        load(&example, "f");
        assert_string_equal(read_lines(&example, 0), "0 /src/a.js:3:0\n17 b.js:4:7\n"
                                                     "8 :2147483647:2147483647\n-50 /src/a.js:0:0\n"
                                                     "256 :0:0\n");
        end(&example);
    }
}

static void test_bias_is_taken_off(void **state)
{
    const struct entry entries[] = {{ADDR + 0x40, 1, 0, "a"}, {ADDR + 0x120, 2, 0, "a"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, entries);
    load(&example, "f");
    assert_string_equal(read_lines(&example, 0), "64 a:1:0\n288 a:2:0\n");
    assert_string_equal(read_lines(&example, 0x40), "0 a:1:0\n224 a:2:0\n");
    assert_string_equal(read_lines(&example, 0x50), "-16 a:1:0\n208 a:2:0\n");
    end(&example);
}

static void test_same_file_as_before(void **state)
{
    const struct entry entries[] = {{ADDR, 1, 0, "\xff"},        {ADDR + 1, 2, 0, "a.c"},
                                    {ADDR + 2, 3, 0, "\xff"},    {ADDR + 3, 4, 0, "\xff"},
                                    {ADDR + 4, 5, 0, "b.c"},     {ADDR + 5, 6, 0, "\xff"},
                                    {ADDR + 6, 7, 0, "\xff\xff"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, entries);
    load(&example, "f");
    assert_string_equal(read_lines(&example, 0), "0 :1:0\n1 a.c:2:0\n2 a.c:3:0\n3 a.c:4:0\n"
                                                 "4 b.c:5:0\n5 b.c:6:0\n6 \xff\xff:7:0\n");
    end(&example);
}

static void test_count_is_wrong(void **state)
{
    const struct entry entries[] = {{ADDR, 1, 0, "a"}, {ADDR + 4, 2, 0, "a"}};
    const struct {
        uint64_t said;
        size_t padding;
        const char *lines;
    } cases[] = {
        {2, 7, "0 a:1:0\n4 a:2:0\n"},
        {2, 300, "0 a:1:0\n4 a:2:0\n"},
        {1, 0, "0 a:1:0\n"},
        {0, 0, ""},
        {3, 0, "0 a:1:0\n4 a:2:0\n"},
        {3, 16, "0 a:1:0\n4 a:2:0\n"},
        {UINT64_MAX, 0, "0 a:1:0\n4 a:2:0\n"},
    };
    struct example example;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin(&example, false);
        put_table(&example.builder, ADDR, entries, 2, cases[i].said, cases[i].padding);
        load(&example, "f");
        assert_string_equal(read_lines(&example, 0), cases[i].lines);
        end(&example);
    }
}

static void test_name_without_end(void **state)
{
    const struct entry entries[] = {{ADDR, 1, 0, "a"}, {ADDR + 4, 2, 0, "bcdefg"}};
    struct example example;

    (void)state;
    begin(&example, false);
    const size_t at = put_lines(&example.builder, ADDR, entries);
    /* The last NUL of the record. */
    example.builder.bytes[at + 32 + 18 + 16 + 6] = 'h';
    load(&example, "f");
    assert_string_equal(read_lines(&example, 0), "0 a:1:0\n");
    end(&example);
}

#define SCRIPT "/srv/my app/main.js"

/* Writes what V8 leaves of a name: `damage` over its first bytes. */
static void clobber(struct builder *builder, size_t table, size_t count, size_t first,
                    const char *damage, size_t size)
{
    const size_t stride = 16 + strlen(SCRIPT) + 1;

    for (size_t i = first; i < count; i++)
        memcpy(builder->bytes + table + 32 + i * stride + 16, damage, size);
}

static void test_overwritten_names(void **state)
{
    static const char pointers[] = "\xe5\xac\x03\0\0\0\0\0\x90\x11\x22\x33\x44\x55\x66\x77";
    static const char no_next[] = "\0\0\0\0\0\0\0\0\x90\x11\x22\x33\x44\x55\x66\x77";
    static const char no_nul[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x90\x11\x22\x33\x44\x55\x66\x77";
    static const char *const damages[] = {pointers, no_next, no_nul};
    const struct entry entries[] = {
        {ADDR + 0x40, 2, 13, SCRIPT}, {ADDR + 0x44, 3, 5, SCRIPT}, {ADDR + 0x48, 4, 9, SCRIPT}};
    static const char *const names[] = {"JS:*get size /srv/my app/main.js:2:13",
                                        "JS:* /srv/my app/main.js:2:13",
                                        "LazyCompile:~fib /srv/my app/main.js:2:13"};
    struct example example;

    (void)state;
    for (size_t damage = 0; damage < 3; damage++) {
        for (size_t name = 0; name < 3; name++) {
            for (size_t first = 0; first < 3; first++) {
                begin(&example, name == 1);
                const size_t at = put_table(&example.builder, ADDR, entries, 3, 3, first);
                clobber(&example.builder, at, 3, first, damages[damage], 16);
                load(&example, names[name]);
                assert_string_equal(read_lines(&example, 0x40),
                                    "0 " SCRIPT ":2:13\n4 " SCRIPT ":3:5\n8 " SCRIPT ":4:9\n");
                end(&example);
            }
        }
    }
}

/* Without a name that helps, what is before the damage stays and nothing is read beyond. */
static void test_overwritten_without_help(void **state)
{
    const struct entry entries[] = {{ADDR, 2, 13, SCRIPT}, {ADDR + 4, 3, 5, SCRIPT}};
    static const char *const names[] = {"",
                                        ":",
                                        "f",
                                        "JS:*f",
                                        "JS:*f :1:2",
                                        "JS:*f /x.js:1",
                                        "JS:*f /other.js:2:13",
                                        "JS:*f /x.js:99999999999:1"};
    struct example example;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        begin(&example, false);
        const size_t at = put_lines(&example.builder, ADDR, entries);
        clobber(&example.builder, at, 2, 1, "\0\0\0", 3);
        load(&example, names[i]);
        assert_string_equal(read_lines(&example, 0), "0 " SCRIPT ":2:13\n4 :3:5\n");
        end(&example);
    }
}

/* Entries of inlined functions have other files, of other sizes. */
static void test_overwritten_among_others(void **state)
{
    const struct entry entries[] = {
        {ADDR, 2, 13, SCRIPT}, {ADDR + 4, 100, 5, "node:internal/util"}, {ADDR + 8, 4, 9, SCRIPT}};
    struct example example;

    (void)state;
    begin(&example, false);
    const size_t at = put_lines(&example.builder, ADDR, entries);
    memcpy(example.builder.bytes + at + 32 + 16, "\x10\0\0\0", 4);
    memcpy(example.builder.bytes + example.builder.size - strlen(SCRIPT) - 1, "\x10\0\0\0", 4);
    load(&example, "JS:*f " SCRIPT ":2:13");
    assert_string_equal(read_lines(&example, 0),
                        "0 " SCRIPT ":2:13\n4 node:internal/util:100:5\n8 " SCRIPT ":4:9\n");
    end(&example);
}

/* Sparkplug's offsets are those of bytecode; were they ever right, they would be used. */
static void test_baseline_code(void **state)
{
    const struct entry bytecode[] = {{ADDR + 0x40, 4, 1, SCRIPT},
                                     {ADDR + 0x40 + 0x30, 9, 1, SCRIPT}};
    const struct entry code[] = {{ADDR + 0x40, 4, 1, SCRIPT}, {ADDR + 0x40 + 0xf0, 9, 1, SCRIPT}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, bytecode);
    load(&example, "JS:^f " SCRIPT ":2:13");
    assert_string_equal(read_lines(&example, 0x40), "0 " SCRIPT ":2:13\n");
    end(&example);

    begin(&example, false);
    put_lines(&example.builder, ADDR, code);
    load(&example, "JS:^f " SCRIPT ":2:13");
    assert_string_equal(read_lines(&example, 0x40), "0 " SCRIPT ":4:1\n240 " SCRIPT ":9:1\n");
    end(&example);

    begin(&example, false);
    put_lines(&example.builder, ADDR, bytecode);
    load(&example, "JS:*f " SCRIPT ":2:13");
    assert_string_equal(read_lines(&example, 0x40), "0 " SCRIPT ":4:1\n48 " SCRIPT ":9:1\n");
    end(&example);
}

static void test_moved_code(void **state)
{
    const struct entry entries[] = {{ADDR, 1, 0, "a"}, {ADDR + 0x20, 2, 0, "a"}};
    struct example example;

    (void)state;
    for (int big = 0; big < 2; big++) {
        begin(&example, big);
        put_lines(&example.builder, ADDR, entries);
        put_load(&example.builder,
                 &(struct load){.time = 1, .addr = ADDR, .name = "f", .size = 0x100});
        put_move(&example.builder, 2, 100, 0, ADDR + 0x5000, 0x100);
        open_index(&example.opened, write_dump(&example.builder));
        assert_int_equal(example.opened.index.count, 2);
        assert_string_equal(
            lines_of(&example.opened, jitdump_index_code(&example.opened.index, 1), 0),
            "0 a:1:0\n32 a:2:0\n");
        end(&example);
    }
}

/* Paired by order: one has the addresses of the code, one those of a second mapping of it. */
static void test_paired_by_order(void **state)
{
    const struct entry same[] = {{ADDR, 1, 0, "a"}};
    const struct entry other[] = {{0x5000, 1, 0, "a"}, {0x5010, 2, 0, "a"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, 0x5000, same);
    load(&example, "f");
    assert_string_equal(read_lines(&example, 0), "0 a:1:0\n");
    end(&example);

    begin(&example, false);
    put_lines(&example.builder, 0x5000, other);
    load(&example, "f");
    assert_string_equal(read_lines(&example, 0), "0 a:1:0\n16 a:2:0\n");
    end(&example);
}

static void test_two_versions_at_one_address(void **state)
{
    const struct entry old[] = {{ADDR, 1, 0, "old"}}, new[] = {{ADDR, 1, 0, "new"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, old);
    put_load(&example.builder, &(struct load){.time = 1, .addr = ADDR, .name = "f", .size = 0x100});
    put_lines(&example.builder, ADDR, new);
    put_load(&example.builder, &(struct load){.time = 2, .addr = ADDR, .name = "f", .size = 0x100});
    put_load(&example.builder, &(struct load){.time = 3, .addr = ADDR, .name = "f", .size = 0x100});
    open_index(&example.opened, write_dump(&example.builder));
    assert_string_equal(lines_of(&example.opened, jitdump_index_code(&example.opened.index, 0), 0),
                        "0 old:1:0\n");
    assert_string_equal(lines_of(&example.opened, jitdump_index_code(&example.opened.index, 1), 0),
                        "0 new:1:0\n");
    assert_string_equal(lines_of(&example.opened, jitdump_index_code(&example.opened.index, 2), 0),
                        "");
    end(&example);
}

/* Whatever is in a record, and wherever a piece says that it is. */
static void test_noise(void **state)
{
    struct example example;
    uint64_t random = 88172645463325252u;
    const struct entry entries[] = {{ADDR, 2, 13, SCRIPT}, {ADDR + 4, 3, 5, SCRIPT}};

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        begin(&example, false);
        const size_t at = put_lines(&example.builder, ADDR, entries);
        const size_t size = example.builder.size;
        for (unsigned i = 0; i < 6; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            example.builder.bytes[at + 16 + random % (size - at - 16)] = (uint8_t)(random >> 32);
        }
        load(&example, "JS:*f " SCRIPT ":2:13");
        read_lines(&example, round % 2 ? 0x40 : UINT64_MAX);
        struct code *code = jitdump_index_code(&example.opened.index, 0);
        code->debug = round % 3 ? random % (size + 64) : UINT64_MAX - round;
        read_lines(&example, 0);
        end(&example);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_as_written),
        cmocka_unit_test(test_bias_is_taken_off),
        cmocka_unit_test(test_same_file_as_before),
        cmocka_unit_test(test_count_is_wrong),
        cmocka_unit_test(test_name_without_end),
        cmocka_unit_test(test_overwritten_names),
        cmocka_unit_test(test_overwritten_without_help),
        cmocka_unit_test(test_overwritten_among_others),
        cmocka_unit_test(test_baseline_code),
        cmocka_unit_test(test_moved_code),
        cmocka_unit_test(test_paired_by_order),
        cmocka_unit_test(test_two_versions_at_one_address),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests_name("lines-read", tests, NULL, NULL);
}
