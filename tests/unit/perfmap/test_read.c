/* SPDX-License-Identifier: MIT */
/* Perf maps as runtimes write them, as they are damaged, and as nobody would. */
#include "jitinject/perfmap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

struct opened {
    char path[64];
    char found[8192]; /* "<addr> <size> <name>|" for each symbol */
    char reports[8192];
    size_t report_count;
    struct diag diag;
    struct perfmap map;
};

static void keep_report(void *context, const struct diag_report *report)
{
    struct opened *opened = context;
    const size_t used = strlen(opened->reports);

    opened->report_count++;
    assert_int_equal(report->severity, DIAG_WARNING);
    assert_string_equal(report->path, opened->path);
    snprintf(opened->reports + used, sizeof(opened->reports) - used, "%lld: %s\n",
             (long long)report->offset, report->text);
}

static void list_symbols(struct opened *opened)
{
    const struct perfmap *map = &opened->map;
    size_t used = 0;

    opened->found[0] = '\0';
    for (size_t i = 0; i < map->count && used < sizeof(opened->found) - 1024; i++) {
        const struct code_symbol *symbol = &map->symbols[i];
        char name[512] = "";
        if (symbol->name_size < sizeof(name))
            assert_int_equal(pread(map->file.fd, name, symbol->name_size, (off_t)symbol->name),
                             symbol->name_size);
        used += (size_t)snprintf(opened->found + used, sizeof(opened->found) - used, "%llx %x %s|",
                                 (unsigned long long)symbol->addr, symbol->size, name);
    }
}

static void make_file(struct opened *opened, const void *bytes, size_t size)
{
    *opened = (struct opened){.diag = {.report = keep_report, .context = opened}};
    strcpy(opened->path, "/tmp/jitinject-perfmap-XXXXXX");
    const int fd = mkstemp(opened->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static int open_bytes(struct opened *opened, const void *bytes, size_t size)
{
    make_file(opened, bytes, size);
    const int err = perfmap_open(opened->path, &opened->diag, &opened->map);
    if (!err)
        list_symbols(opened);
    return err;
}

static void open_text(struct opened *opened, const char *text)
{
    assert_int_equal(open_bytes(opened, text, strlen(text)), 0);
}

static void done(struct opened *opened)
{
    perfmap_close(&opened->map);
    unlink(opened->path);
}

static void expect(const char *text, const char *symbols)
{
    struct opened opened;

    open_text(&opened, text);
    assert_string_equal(opened.found, symbols);
    assert_string_equal(opened.reports, "");
    assert_int_equal(opened.map.stats.invalid, 0);
    done(&opened);
}

static void lines_of_runtimes(void **state)
{
    (void)state;
    expect("", "");
    /* V8, with blanks in the name; unsorted, as code is not made in the order of its addresses. */
    expect("7f29aa7c6400 180 JS:*fib /srv/my app.js:1:13\n"
           "18c4000 300 Builtin:DeoptimizationEntry_Eager\n",
           "18c4000 300 Builtin:DeoptimizationEntry_Eager|"
           "7f29aa7c6400 180 JS:*fib /srv/my app.js:1:13|");
    /* jcmd Compiler.perfmap of JDK 25. */
    expect("0x00007f4d1c4f2d80 0x0000000000000300 void Foo.bar(java.lang.String)\n",
           "7f4d1c4f2d80 300 void Foo.bar(java.lang.String)|");
    /* .NET: upper case and zeros in front. */
    expect("00007F5BA0A61B00 1A instance void [app] Hot::Loop(int32)[Tier0]\n",
           "7f5ba0a61b00 1a instance void [app] Hot::Loop(int32)[Tier0]|");
    /* perf-map-agent with unfold, CPython, Erlang. */
    expect("7f1000 40 Lcom/Foo;::bar->Lcom/Baz;::qux\n"
           "7f2000 b py::fib:/tmp/hot.py\n"
           "7f3000 20 $lists:map/2\n",
           "7f1000 40 Lcom/Foo;::bar->Lcom/Baz;::qux|7f2000 b py::fib:/tmp/hot.py|"
           "7f3000 20 $lists:map/2|");
}

static void blanks_and_line_ends(void **state)
{
    (void)state;
    expect("1000 10 crlf\r\n2000 10 after\r\n", "1000 10 crlf|2000 10 after|");
    expect("1000\t10\ttabs\tin it\n", "1000 10 tabs\tin it|");
    expect("  1000   10   blanks  \n", "1000 10 blanks|");
    expect("\n \n\r\n1000 10 f\n\n", "1000 10 f|");
    expect("1000 10 f\n", "1000 10 f|");
    expect("0X1000 0x10 large X\n", "1000 10 large X|");
}

static void numbers_at_their_limits(void **state)
{
    (void)state;
    expect("fffffffffffffff0 f kernel side\n", "fffffffffffffff0 f kernel side|");
    expect("8000000000000000 7fffffff as long as it gets\n",
           "8000000000000000 7fffffff as long as it gets|");
    expect("000000000000000000000000001000 0000000000000000000000010 zeros\n", "1000 10 zeros|");
    expect("0 1 null\n", "0 1 null|");
}

static void names_end_at_a_nul(void **state)
{
    static const char bytes[] = "1000 10 before\0behind\n2000 10 \0none\n3000 10 next\n";
    struct opened opened;

    (void)state;
    assert_int_equal(open_bytes(&opened, bytes, sizeof(bytes) - 1), 0);
    assert_string_equal(opened.found, "1000 10 before|3000 10 next|");
    assert_int_equal(opened.map.stats.empty, 1);
    done(&opened);
}

static void entries_of_nothing(void **state)
{
    struct opened opened;

    (void)state;
    open_text(&opened, "1000 0 no code\n2000 10\n3000 10 \n4000 10 some\n5000 0\n");
    assert_string_equal(opened.found, "4000 10 some|");
    assert_int_equal(opened.map.stats.entries, 5);
    assert_int_equal(opened.map.stats.empty, 4);
    assert_int_equal(opened.map.stats.invalid, 0);
    assert_string_equal(opened.reports, "");
    done(&opened);
}

static void lines_that_are_no_entries(void **state)
{
    static const char *const lines[] = {
        "garbage",
        "1000",
        "x1000 10 f",
        "0x 10 f",
        "1x1000 10 f",
        "1000 0xg f",
        "1000,10,f",
        "1000 10g 1000 10 f", /* two writers at once */
        "10000000000000000 10 more than 64 bits",
        "1000 10000000000000000 more than 64 bits",
        "-1000 10 f",
        "1000 -10 f",
    };
    static const char no_entry[] =
        "the line is no entry, START SIZE NAME in hexadecimal; it is left out\n";
    struct opened opened;
    char text[256], expected[256];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(text, sizeof(text), "500 10 before\n%s\n2000 10 behind\n", lines[i]);
        snprintf(expected, sizeof(expected), "14: %s", no_entry);
        open_text(&opened, text);
        assert_string_equal(opened.found, "500 10 before|2000 10 behind|");
        assert_string_equal(opened.reports, expected);
        assert_int_equal(opened.map.stats.invalid, 1);
        done(&opened);
    }
}

static void code_that_cannot_be(void **state)
{
    struct opened opened;

    (void)state;
    open_text(&opened, "1000 80000000 too long\n"
                       "ffffffffffffff00 101 beyond\n"
                       "2000 10 good\n");
    assert_string_equal(opened.found, "2000 10 good|");
    assert_string_equal(opened.reports,
                        "0: the line claims more code than a function can have; it is left out\n"
                        "23: the line has code that reaches beyond the address space; it is left "
                        "out\n");
    done(&opened);
}

static void reports_are_bounded(void **state)
{
    struct opened opened;
    char text[4096] = "";

    (void)state;
    for (int i = 0; i < 1000; i++)
        strcat(text, "x\n");
    strcat(text, "1000 10 f\n");
    open_text(&opened, text);
    assert_string_equal(opened.found, "1000 10 f|");
    assert_int_equal(opened.map.stats.invalid, 1000);
    assert_int_equal(opened.report_count, 16);
    assert_non_null(strstr(opened.reports, "30: the line is no entry, START SIZE NAME in "
                                           "hexadecimal; it is left out, and others like it "
                                           "without a word\n"));
    done(&opened);
}

/* The process still writes, or was killed: the name may be cut. */
static void last_line_without_an_end(void **state)
{
    struct opened opened;

    (void)state;
    open_text(&opened, "1000 10 whole\n2000 10 cu");
    assert_string_equal(opened.found, "1000 10 whole|");
    assert_true(opened.map.stats.cut);
    assert_int_equal(opened.map.stats.entries, 1);
    assert_string_equal(opened.reports, "14: the last line has no end, and is left out: the "
                                        "process was still writing, or was killed\n");
    done(&opened);
}

static void later_entries_win(void **state)
{
    struct opened opened;

    (void)state;
    open_text(&opened, "1000 10 first\n1000 10 second\n");
    assert_string_equal(opened.found, "1000 10 second|");
    assert_int_equal(opened.map.stats.entries, 2);
    assert_int_equal(opened.map.stats.replaced, 1);
    done(&opened);
    /* The middle of another one. */
    open_text(&opened, "1000 100 outer\n1040 20 inner\n");
    assert_string_equal(opened.found, "1000 40 outer|1040 20 inner|1060 a0 outer|");
    assert_int_equal(opened.map.stats.replaced, 0);
    done(&opened);
    open_text(&opened, "1040 20 inner\n1000 100 outer\n");
    assert_string_equal(opened.found, "1000 100 outer|");
    assert_int_equal(opened.map.stats.replaced, 1);
    done(&opened);
    /* Several, and ends of others. */
    open_text(&opened, "1000 20 a\n1020 20 b\n1040 20 c\n1010 40 new\n");
    assert_string_equal(opened.found, "1000 10 a|1010 40 new|1050 10 c|");
    assert_int_equal(opened.map.stats.replaced, 1);
    done(&opened);
    /* Side by side is no overlap. */
    open_text(&opened, "1010 10 b\n1000 10 a\n1020 10 c\n");
    assert_string_equal(opened.found, "1000 10 a|1010 10 b|1020 10 c|");
    assert_int_equal(opened.map.stats.replaced, 0);
    done(&opened);
}

static void very_long_lines(void **state)
{
    static const size_t sizes[] = {65534, 65535, 65536, 262144, 262145, 1000000, 3000000};
    struct opened opened;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = malloc(sizes[i] + 64);
        assert_non_null(text);
        size_t size = (size_t)sprintf(text, "1000 10 ");
        memset(text + size, 'n', sizes[i]);
        size += sizes[i];
        size += (size_t)sprintf(text + size, "\n2000 10 next\n");
        assert_int_equal(open_bytes(&opened, text, size), 0);
        assert_int_equal(opened.map.count, 2);
        assert_int_equal(opened.map.symbols[0].name, 8);
        assert_int_equal(opened.map.symbols[0].name_size, sizes[i] < 65535 ? sizes[i] : 65535);
        assert_int_equal(opened.map.symbols[1].addr, 0x2000);
        assert_int_equal(opened.map.symbols[1].name_size, 4);
        assert_string_equal(opened.reports, "");
        done(&opened);
        free(text);
    }
}

/* Numbers are looked for at the start of the line only, however many zeros they have. */
static void very_long_numbers(void **state)
{
    struct opened opened;
    char text[2000];

    (void)state;
    memset(text, '0', sizeof(text));
    memcpy(text + sizeof(text) - 20, "1 10 f\n2000 10 next\n", 20);
    assert_int_equal(open_bytes(&opened, text, sizeof(text)), 0);
    assert_string_equal(opened.found, "2000 10 next|");
    assert_int_equal(opened.map.stats.invalid, 1);
    done(&opened);
}

/* Lines at every distance from the borders of the buffer. */
static void many_lines(void **state)
{
    enum { LINES = 40000 };
    char *text = malloc((size_t)LINES * 64);
    struct opened opened;
    size_t size = 0;

    (void)state;
    assert_non_null(text);
    for (unsigned i = 0; i < LINES; i++)
        size += (size_t)sprintf(text + size, "%x %x function %u%.*s\n", 0x10000 + i * 32,
                                16 + i % 16, i, (int)(i % 17), "................");
    assert_int_equal(open_bytes(&opened, text, size), 0);
    assert_int_equal(opened.map.count, LINES);
    assert_int_equal(opened.map.stats.entries, LINES);
    const char *line = text;
    for (unsigned i = 0; i < LINES; i++) {
        const struct code_symbol *symbol = &opened.map.symbols[i];
        const char *end = strchr(line, '\n'), *name = strstr(line, "function");
        assert_int_equal(symbol->addr, 0x10000 + i * 32);
        assert_int_equal(symbol->size, 16 + i % 16);
        assert_int_equal(symbol->name, name - text);
        assert_int_equal(symbol->name_size, end - name);
        line = end + 1;
    }
    done(&opened);
    free(text);
}

static void packed_maps(void **state)
{
    static const char text[] = "1000 10 packed\n";
    struct opened opened;

    (void)state;
    make_file(&opened, "", 0);
    gzFile packed = gzopen(opened.path, "wb");
    assert_non_null(packed);
    assert_int_equal(gzwrite(packed, text, sizeof(text) - 1), sizeof(text) - 1);
    assert_int_equal(gzclose(packed), Z_OK);
    assert_int_equal(perfmap_open(opened.path, &opened.diag, &opened.map), 0);
    list_symbols(&opened);
    assert_string_equal(opened.found, "1000 10 packed|");
    done(&opened);
}

static void what_is_no_file(void **state)
{
    struct opened opened;

    (void)state;
    make_file(&opened, "", 0);
    unlink(opened.path);
    assert_int_equal(perfmap_open(opened.path, &opened.diag, &opened.map), -ENOENT);
    assert_string_equal(opened.reports, "-1: cannot be opened: No such file or directory\n");
    assert_int_equal(mkfifo(opened.path, 0600), 0);
    opened.reports[0] = '\0';
    assert_int_equal(perfmap_open(opened.path, &opened.diag, &opened.map), -EBADMSG);
    assert_string_equal(opened.reports, "-1: is not a regular file\n");
    done(&opened);
}

/* Whatever the bytes are: nothing crashes, and what comes out is in order and within the file. */
static void random_bytes(void **state)
{
    static const char alphabet[] = "0123456789abcdefxX \t\r\n\n\ng\0-";
    uint64_t random = 1;
    struct opened opened;

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        char bytes[4000];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[i] = alphabet[(random >> 33) % (sizeof(alphabet) - 1)];
        }
        assert_int_equal(open_bytes(&opened, bytes, sizeof(bytes)), 0);
        uint64_t end = 0;
        for (size_t i = 0; i < opened.map.count; i++) {
            const struct code_symbol *symbol = &opened.map.symbols[i];
            assert_true(symbol->addr >= end && symbol->size > 0 && symbol->name_size > 0);
            assert_true(symbol->name + symbol->name_size < sizeof(bytes));
            end = symbol->addr + symbol->size;
        }
        done(&opened);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_runtimes),
        cmocka_unit_test(blanks_and_line_ends),
        cmocka_unit_test(numbers_at_their_limits),
        cmocka_unit_test(names_end_at_a_nul),
        cmocka_unit_test(entries_of_nothing),
        cmocka_unit_test(lines_that_are_no_entries),
        cmocka_unit_test(code_that_cannot_be),
        cmocka_unit_test(reports_are_bounded),
        cmocka_unit_test(last_line_without_an_end),
        cmocka_unit_test(later_entries_win),
        cmocka_unit_test(very_long_lines),
        cmocka_unit_test(very_long_numbers),
        cmocka_unit_test(many_lines),
        cmocka_unit_test(packed_maps),
        cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(random_bytes),
    };

    return cmocka_run_group_tests_name("perfmap-read", tests, NULL, NULL);
}
