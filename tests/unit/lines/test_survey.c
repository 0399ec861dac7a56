/* SPDX-License-Identifier: MIT */
/* Whether a writer adds 0x40 to the addresses of its line tables. */
#include "table.h"

#include "jitdump/fixtures.h"

#include <string.h>
#include <unistd.h>

/* Offset of the reserved word in the header of a dump. */
#define HEADER_RESERVED 16

static struct jitdump_line_traits survey(const struct opened *opened)
{
    struct jitdump_line_traits traits;

    assert_int_equal(jitdump_lines_survey(opened->dump, &opened->index, &traits), 0);
    return traits;
}

/* What is found for functions of 0x100 bytes, each with lines from `first` to `last`; `reserved` is
 * in the header. */
static struct jitdump_line_traits survey_by(uint32_t reserved, size_t count, int64_t first,
                                            int64_t last, int line, size_t odd, int64_t odd_first)
{
    struct builder builder;
    struct opened opened;

    builder_init(&builder, false);
    put_header(&builder);
    memcpy(builder.bytes + HEADER_RESERVED, &reserved, sizeof(reserved));
    for (size_t i = 0; i < count + odd; i++) {
        const uint64_t addr = 0x10000 + i * 0x1000;
        const struct entry entries[] = {
            {addr + (uint64_t)(i < count ? first : odd_first), line, 0, "a"},
            {addr + (uint64_t)last, line, 0, "a"}};
        put_lines(&builder, addr, entries);
        put_load(
            &builder,
            &(struct load){.time = 1 + i, .addr = addr, .index = i, .name = "f", .size = 0x100});
    }
    open_index(&opened, write_dump(&builder));
    const struct jitdump_line_traits traits = survey(&opened);
    close_index(&opened);
    builder_done(&builder);
    return traits;
}

static struct jitdump_line_traits survey_of(size_t count, int64_t first, int64_t last, int line,
                                            size_t odd, int64_t odd_first)
{
    return survey_by(0, count, first, last, line, odd, odd_first);
}

static void test_bias(void **state)
{
    (void)state;
    /* From the first byte, and up to behind the last. */
    assert_int_equal(survey_of(5, 0x40, 0x138, 1, 0, 0).bias, 0x40);
    assert_int_equal(survey_of(5, 0x40, 0x80, 1, 0, 0).bias, 0x40);
    assert_int_equal(survey_of(5, 0x45, 0x138, 1, 0, 0).bias, 0x40);
    /* One is paired with the wrong table. */
    assert_int_equal(survey_of(40, 0x40, 0x138, 1, 1, 4).bias, 0x40);
    assert_true(survey_of(5, 0x40, 0x138, 1, 0, 0).has_lines);
}

static void test_true_addresses(void **state)
{
    (void)state;
    assert_int_equal(survey_of(5, 0, 0xf0, 1, 0, 0).bias, 0);
    assert_int_equal(survey_of(5, -50, 0xf0, 1, 0, 0).bias, 0);
    /* Java: a prologue without lines. */
    assert_int_equal(survey_of(5, 0x57, 0xf0, 1, 0, 0).bias, 0);
    assert_int_equal(survey_of(5, 0x57, 0xf0, 1, 2, 0x40).bias, 0);
    assert_int_equal(survey_of(5, 0x40, 0xf0, 1, 3, 0x10).bias, 0);
    /* The end of the code belongs to it. */
    assert_int_equal(survey_of(5, 0x57, 0x100, 1, 0, 0).bias, 0);
    assert_true(survey_of(5, 0, 0xf0, 1, 0, 0).has_lines);
}

/* Code of V8 14 and later: lines neither at its first byte nor at its end. */
static void test_writer_that_is_known(void **state)
{
    (void)state;
    assert_int_equal(survey_by(0xdeadbeef, 5, 0x57, 0xf0, 1, 0, 0).bias, 0x40);
    assert_int_equal(survey_by(0xdeadbee0, 5, 0x57, 0xf0, 1, 0, 0).bias, 0);
    /* It may do without the bias some day. */
    assert_int_equal(survey_by(0xdeadbeef, 5, 0x57, 0xf0, 1, 1, 0).bias, 0);
    assert_int_equal(survey_by(0xdeadbeef, 5, 0, 0xf0, 1, 0, 0).bias, 0);
    assert_int_equal(survey_by(0xdeadbeef, 40, 0x57, 0xf0, 1, 1, 4).bias, 0x40);
}

static void test_no_lines(void **state)
{
    (void)state;
    assert_false(survey_of(0, 0, 0, 1, 0, 0).has_lines);
    assert_false(survey_of(5, 0x40, 0x138, 0, 0, 0).has_lines);
    assert_false(survey_of(5, 0x40, 0x138, -5, 0, 0).has_lines);
    assert_int_equal(survey_of(5, 0x40, 0x138, 0, 0, 0).bias, 0);
    assert_false(survey_of(5, 0x100000, 0x200000, 1, 0, 0).has_lines);
}

static void open_recording(struct opened *opened, const char *name)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
    open_index(opened, path);
}

static void test_recordings(void **state)
{
    static const struct {
        const char *name;
        uint64_t bias;
        bool has_lines;
    } recordings[] = {
        {"node-app/jit-12614.dump", 0x40, true},
        {"node-churn/jit-10330.dump", 0x40, true},
        {"llvm19-orc-dwarf/jit-18964.dump", 0x40, true},
        {"java17/jit-15054.dump", 0, true},
        {"qemu10/jit-19974.dump", 0, false},
        {"py313-fork/jit-31394.dump", 0, false},
    };
    struct opened opened;

    (void)state;
    for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++) {
        open_recording(&opened, recordings[i].name);
        const struct jitdump_line_traits traits = survey(&opened);
        assert_int_equal(traits.bias, recordings[i].bias);
        assert_int_equal(traits.has_lines, recordings[i].has_lines);
        close_index(&opened);
    }
}

/*
 * Functions of app.js, whose source is beside the recording, from line to line. V8 inlines, so that
 * isPrime has lines in countPrimes.
 */
static const struct {
    const char *name;
    unsigned first, last;
} functions[] = {
    {"JS:*isPrime ", 3, 8},      {"JS:*countPrimes ", 3, 16}, {"JS:*escapeTime ", 18, 27},
    {"JS:*mandelbrot ", 18, 37}, {"JS:*countWords ", 39, 45}, {"JS:*makeText ", 47, 56},
};

/* Every line of V8's optimized code is one of the function's in the source, though V8 has written
 * over the file names of half of them. */
static void test_lines_of_a_known_source(void **state)
{
    struct opened opened;
    struct jitdump_lines *lines;
    size_t found = 0;

    (void)state;
    open_recording(&opened, "node-app/jit-12614.dump");
    assert_int_equal(jitdump_lines_new(&lines), 0);
    for (size_t i = 0; i < opened.index.count; i++) {
        const struct code *code = jitdump_index_code(&opened.index, i);
        char name[64] = "";
        const size_t size = code->name_size < 63 ? code->name_size : 63;
        assert_int_equal(pread(jitdump_fd(opened.dump), name, size, (off_t)code->name), size);
        for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++) {
            struct jitdump_line line;
            if (strncmp(name, functions[k].name, strlen(functions[k].name)) != 0)
                continue;
            assert_int_equal(jitdump_lines_open(lines, opened.dump, code, 0x40), 0);
            while (jitdump_lines_next(lines, &line, 1)) {
                assert_in_range(line.line, functions[k].first, functions[k].last);
                assert_true(line.offset >= 0 && line.offset < (int64_t)code->size);
                assert_int_equal(line.file_size, strlen("/recorded/node-app/app.js"));
                assert_memory_equal(line.file, "/recorded/node-app/app.js", line.file_size);
                found++;
            }
        }
    }
    assert_int_equal(found, 261); /* the sum of nr_entry of these records */
    jitdump_lines_free(lines);
    close_index(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bias),
        cmocka_unit_test(test_true_addresses),
        cmocka_unit_test(test_writer_that_is_known),
        cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_lines_of_a_known_source),
    };
    return cmocka_run_group_tests_name("lines-survey", tests, NULL, NULL);
}
