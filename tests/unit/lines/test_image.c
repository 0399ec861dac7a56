/* SPDX-License-Identifier: MIT */
/* Line tables in images, as the tools that read them show them. */
#include "../tool.h"
#include "table.h"

#include "jitinject/image.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDR 0x7f0000001000u
#define TEXT PLACE_TEXT_OFFSET

static const struct image_target x86_64 = {.machine = EM_X86_64, .is_64bit = true};

/* A dump, and the image of all its pieces in one extent. */
struct example {
    struct builder builder;
    struct opened opened;
    char path[64];
    struct image_stats stats;
};

static void begin(struct example *example, bool big_endian)
{
    builder_init(&example->builder, big_endian);
    put_header(&example->builder);
}

static void load(struct example *example, uint64_t addr, const char *name, size_t size)
{
    put_load(&example->builder,
             &(struct load){.time = 1, .addr = addr, .name = name, .size = size});
}

static int compare_codes(const void *left, const void *right)
{
    const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;

    return (a->addr > b->addr) - (a->addr < b->addr);
}

static void write_image(struct example *example, const struct image_target *target, bool compress)
{
    struct opened *opened = &example->opened;
    struct image_source sources[SOURCE + 1] = {0};
    uint8_t build_id[IMAGE_BUILD_ID_SIZE];

    open_index(opened, write_dump(&example->builder));
    const size_t count = opened->index.count;
    struct code **codes = calloc(count, sizeof(struct code *));
    assert_non_null(codes);
    for (size_t i = 0; i < count; i++)
        codes[i] = jitdump_index_code(&opened->index, i);
    qsort(codes, count, sizeof(struct code *), compare_codes);
    const struct place_extent extent = {.addr = codes[0]->addr,
                                        .size = codes[count - 1]->addr + codes[count - 1]->size -
                                                codes[0]->addr,
                                        .offset = TEXT,
                                        .count = count};
    const struct place_file file = {.pid = 100,
                                    .has_debug = true,
                                    .mirrors = true,
                                    .codes = codes,
                                    .code_count = count,
                                    .extents = &extent,
                                    .extent_count = 1,
                                    .end = extent.offset + extent.size};

    sources[SOURCE] = (struct image_source){.path = jitdump_path(opened->dump),
                                            .fd = jitdump_fd(opened->dump),
                                            .size = jitdump_size(opened->dump),
                                            .dump = opened->dump};
    assert_int_equal(jitdump_lines_survey(opened->dump, &opened->index, &sources[SOURCE].lines), 0);
    strcpy(example->path, "/tmp/jitinject-lines-XXXXXX");
    const int fd = mkstemp(example->path);
    assert_true(fd >= 0);
    const struct image_options options = {.compress_debug = compress};
    assert_int_equal(image_write(&file, sources, target, &options, fd, &opened->reports.diag,
                                 build_id, &example->stats),
                     0);
    close(fd);
    free(codes);
}

static void end(struct example *example)
{
    unlink(example->path);
    close_index(&example->opened);
    builder_done(&example->builder);
}

/* What a command says; %s is the image. */
static char *run(const struct example *example, const char *command)
{
    return tool_run(command, example->path);
}

static void assert_output(const struct example *example, const char *command, const char *expected)
{
    char *text = run(example, command);

    if (strcmp(text, expected) != 0)
        print_message("%s\n", command);
    assert_string_equal(text, expected);
    free(text);
}

/* No tool has anything to complain of. */
static void assert_sound(const struct example *example)
{
    char *readelf =
        run(example, "readelf -W --debug-dump=info,abbrev,aranges,rawline,decodedline,str %s");
    char *objdump = run(example, "objdump -d -l %s >/dev/null");
    char *verify = run(example, "llvm-dwarfdump --verify %s");

    assert_null(strstr(readelf, "arning"));
    assert_null(strstr(readelf, "rror:"));
    assert_string_equal(objdump, "");
    assert_null(strstr(verify, "warning"));
    assert_non_null(strstr(verify, "No errors."));
    assert_output(example, "eu-elflint --gnu-ld %s", "No errors\n");
    free(readelf);
    free(objdump);
    free(verify);
}

/* The example of most tests: two functions of one file, one of another, one without lines. */
static void add_functions(struct example *example)
{
    const struct entry add[] = {{ADDR + 4, 10, 0, "/src/lib/add.js"},
                                {ADDR + 8, 11, 5, "/src/lib/add.js"},
                                {ADDR + 0x30, 900, 70, "/src/lib/add.js"}};
    const struct entry sub[] = {{ADDR + 0x40, 21, 1, "/src/lib/add.js"},
                                {ADDR + 0x50, 22, 1, "/src/lib/inlined.js"}};
    const struct entry mul[] = {{ADDR + 0x80, 5, 0, "lib/mul.js"}};

    put_lines(&example->builder, ADDR, add);
    load(example, ADDR, "add", 0x40);
    put_lines(&example->builder, ADDR + 0x40, sub);
    load(example, ADDR + 0x40, "sub", 0x20);
    load(example, ADDR + 0x60, "none", 0x10);
    put_lines(&example->builder, ADDR + 0x80, mul);
    load(example, ADDR + 0x80, "mul", 0x10);
}

static void assert_functions(const struct example *example)
{
    assert_output(example,
                  "addr2line -f -e %s 0x10000 0x10004 0x10007 0x10008 0x1002f 0x10030 0x1003f",
                  "add\n/src/lib/add.js:?\nadd\n/src/lib/add.js:10\nadd\n/src/lib/add.js:10\n"
                  "add\n/src/lib/add.js:11\nadd\n/src/lib/add.js:11\n"
                  "add\n/src/lib/add.js:900\nadd\n/src/lib/add.js:900\n");
    assert_output(example, "addr2line -f -e %s 0x10040 0x1005f 0x10060 0x1006f 0x10080 0x1008f",
                  "sub\n/src/lib/add.js:21\nsub\n/src/lib/inlined.js:22\nnone\n././??:?\n"
                  "none\n././??:?\nmul\n./lib/mul.js:5\nmul\n./lib/mul.js:5\n");
    assert_output(example,
                  "eu-addr2line -e %s 0x10000 0x10004 0x10008 0x1003f 0x10050 0x10070 0x1008f",
                  "/src/lib/add.js:0\n/src/lib/add.js:10\n/src/lib/add.js:11:5\n"
                  "/src/lib/add.js:900:70\n/src/lib/inlined.js:22:1\n??:0\n./lib/mul.js:5\n");
}

static void test_readers_agree(void **state)
{
    struct example example;

    (void)state;
    begin(&example, false);
    add_functions(&example);
    write_image(&example, &x86_64, false);
    assert_functions(&example);
    assert_sound(&example);
    assert_int_equal(example.stats.line_rows, 6);
    assert_output(&example, "llvm-symbolizer --obj=%s 0x10008 0x1008f",
                  "add\n/src/lib/add.js:11:5\n\nmul\n./lib/mul.js:5:0\n\n");
    char *disassembly = run(&example, "llvm-objdump -d -l %s");
    char *at = strstr(disassembly, "<add>:");
    assert_non_null(at);
    assert_non_null(at = strstr(at, "; /src/lib/add.js:11"));
    assert_non_null(at = strstr(at, "<sub>:"));
    assert_non_null(strstr(at, "; /src/lib/add.js:21"));
    free(disassembly);
    end(&example);
}

static void test_gdb(void **state)
{
    struct example example;
    char *text;

    (void)state;
    begin(&example, false);
    add_functions(&example);
    write_image(&example, &x86_64, false);
    text = run(&example, "gdb -nx -batch -ex 'info line *0x10008' -ex 'info line *0x10055' %s");
    assert_non_null(strstr(text, "Line 11 of \"/src/lib/add.js\" starts at address 0x10008 <add+8> "
                                 "and ends at 0x10030 <add+48>."));
    assert_non_null(strstr(text, "Line 22 of \"/src/lib/inlined.js\""));
    free(text);
    end(&example);
}

static void test_every_target(void **state)
{
    static const struct image_target targets[] = {
        {.machine = EM_386},
        {.machine = EM_AARCH64, .is_64bit = true},
        {.machine = EM_S390, .is_64bit = true, .is_big_endian = true},
        {.machine = EM_PPC, .is_big_endian = true},
    };
    struct example example;

    (void)state;
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        for (int compress = 0; compress < 2; compress++) {
            begin(&example, targets[i].is_big_endian);
            add_functions(&example);
            write_image(&example, &targets[i], compress);
            assert_output(&example, "eu-addr2line -e %s 0x10008 0x1003f 0x1008f",
                          "/src/lib/add.js:11:5\n/src/lib/add.js:900:70\n./lib/mul.js:5\n");
            char *decoded = run(&example, "readelf --debug-dump=decodedline,info,aranges %s");
            assert_null(strstr(decoded, "arning"));
            assert_non_null(strstr(decoded, "inlined.js"));
            free(decoded);
            end(&example);
        }
    }
}

static void test_compressed(void **state)
{
    struct example example;

    (void)state;
    begin(&example, false);
    add_functions(&example);
    write_image(&example, &x86_64, true);
    assert_functions(&example);
    assert_sound(&example);
    char *sections = run(&example, "readelf -tW %s");
    assert_non_null(strstr(sections, "COMPRESSED"));
    assert_non_null(strstr(sections, "ZLIB"));
    free(sections);
    end(&example);
}

static void test_odd_entries(void **state)
{
    const struct entry unsorted[] = {{ADDR + 0x20, 3, 0, "/a"},
                                     {ADDR + 0x10, 2, 0, "/a"},
                                     {ADDR, 1, 0, "/a"},
                                     {ADDR + 0x20, 4, 0, "/a"}, /* the last one counts */
                                     {ADDR + 0x40, 99, 0, "/a"} /* at the end: not in it */};
    /* Erlang: the nearest one before the code goes on into it; the end has a line 0. */
    const struct entry before[] = {{ADDR + 0x40 - 55, 7, 0, "/b"},
                                   {ADDR + 0x40 - 50, 8, 0, "/b"},
                                   {ADDR + 0x50, 9, 0, "/b"},
                                   {ADDR + 0x60, 0, 0, ""}};
    const struct entry far[] = {{8, 77, 0, "/far"},
                                {ADDR - 0x1000, 78, 0, "/far"},
                                {UINT64_MAX, 79, 0, "/far"},
                                {ADDR + 0x68, 5, 0, "/c"}};
    const struct entry minified[] = {{ADDR + 0x80, 1, 65535, "/m"}, {ADDR + 0x88, 1, 65536, "/m"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, unsorted);
    load(&example, ADDR, "unsorted", 0x40);
    put_lines(&example.builder, ADDR + 0x40, before);
    load(&example, ADDR + 0x40, "before", 0x20);
    put_lines(&example.builder, ADDR + 0x60, far);
    load(&example, ADDR + 0x60, "far", 0x20);
    put_lines(&example.builder, ADDR + 0x80, minified);
    load(&example, ADDR + 0x80, "minified", 0x10);
    write_image(&example, &x86_64, false);
    assert_int_equal(example.stats.line_rows, 3 + 2 + 1 + 2);
    assert_output(&example, "addr2line -e %s 0x10000 0x1000f 0x10010 0x10020 0x1003f",
                  "/a:1\n/a:1\n/a:2\n/a:4\n/a:4\n");
    assert_output(&example, "addr2line -e %s 0x10040 0x1004f 0x10050 0x1005f",
                  "/b:8\n/b:8\n/b:9\n/b:9\n");
    assert_output(&example, "addr2line -e %s 0x10060 0x10068 0x1007f", "/c:?\n/c:5\n/c:5\n");
    assert_output(&example, "eu-addr2line -e %s 0x10080 0x10088", "/m:1:65535\n/m:1\n");
    assert_sound(&example);
    end(&example);
}

static void test_paths(void **state)
{
    static const struct {
        const char *path, *shown;
    } paths[] = {
        {"/a/b/c.js", "/a/b/c.js"},
        {"/top.js", "/top.js"},
        {"name.js", "././name.js"},
        {"dir/", "././dir/"},
        {"node:internal/util", "./node:internal/util"},
        {"file:///tmp/m.mjs", "/tmp/m.mjs"},
        {"http://host/m.js", "./http://host/m.js"},
        {"/s p/\xc3\xa9.js", "/s p/\xc3\xa9.js"},
        {"", "././??"},
    };
    const size_t count = sizeof(paths) / sizeof(*paths);
    struct example example;

    (void)state;
    begin(&example, false);
    for (size_t i = 0; i < count; i++) {
        const struct entry entry[] = {{ADDR + i * 0x10, 42, 0, paths[i].path}};
        put_lines(&example.builder, ADDR + i * 0x10, entry);
        load(&example, ADDR + i * 0x10, "f", 0x10);
    }
    write_image(&example, &x86_64, false);
    for (size_t i = 0; i < count; i++) {
        char command[64], expected[64];
        snprintf(command, sizeof(command), "eu-addr2line -e %%s %#zx", TEXT + i * 0x10);
        snprintf(expected, sizeof(expected), "%s:42\n", paths[i].shown);
        assert_output(&example, command, expected);
    }
    end(&example);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

/* Many functions with many lines: units of some functions each, and each line where it belongs. */
static void test_many_functions(void **state)
{
    enum { FUNCTIONS = 1000, LINES = 40 };
    struct example example;

    (void)state;
    begin(&example, false);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct entry entries[LINES];
        char file[32], name[32];
        snprintf(file, sizeof(file), "/src/%zu/%zu.js", i % 3, i % 300);
        snprintf(name, sizeof(name), "f%zu", i);
        for (size_t k = 0; k < LINES; k++)
            entries[k] =
                (struct entry){ADDR + i * 0x1000 + k * (1 + i % 97),
                               (int)(1 + (i * 7919 + k * k * 31) % 100000), (int)(k % 5), file};
        put_lines(&example.builder, ADDR + i * 0x1000, entries);
        load(&example, ADDR + i * 0x1000, name, 0x1000);
    }
    write_image(&example, &x86_64, false);
    assert_int_equal(example.stats.line_rows, FUNCTIONS * LINES);
    assert_sound(&example);

    char *info = run(&example, "readelf -W --debug-dump=info %s");
    assert_int_equal(count_of(info, "DW_TAG_compile_unit"), (FUNCTIONS + 127) / 128);
    assert_int_equal(count_of(info, "DW_TAG_subprogram"), FUNCTIONS);
    free(info);

    char *addresses = NULL, *expected = NULL;
    size_t addresses_size, expected_size;
    FILE *in = open_memstream(&addresses, &addresses_size);
    FILE *out = open_memstream(&expected, &expected_size);
    fprintf(in, "eu-addr2line -e %%s");
    for (size_t i = 0; i < FUNCTIONS; i += 37) {
        const size_t k = i % LINES;
        fprintf(in, " %#zx", TEXT + i * 0x1000 + k * (1 + i % 97));
        fprintf(out, "/src/%zu/%zu.js:%zu", i % 3, i % 300, 1 + (i * 7919 + k * k * 31) % 100000);
        if (k % 5)
            fprintf(out, ":%zu", k % 5);
        putc('\n', out);
    }
    fclose(in);
    fclose(out);
    assert_output(&example, addresses, expected);
    free(addresses);
    free(expected);
    end(&example);
}

/* A function with more lines than a unit is meant to have, backwards. */
static void test_large_function(void **state)
{
    enum { LINES = 100000 };
    struct entry *entries = calloc(LINES, sizeof(*entries));
    struct example example;

    (void)state;
    assert_non_null(entries);
    for (size_t k = 0; k < LINES; k++)
        entries[LINES - 1 - k] = (struct entry){ADDR + 4 * k, (int)(k * 17 % 5000), 0, "/large.js"};
    begin(&example, false);
    put_table(&example.builder, ADDR, entries, LINES, LINES, 0);
    load(&example, ADDR, "large", (size_t)4 * LINES);
    load(&example, ADDR + 4 * LINES, "behind", 4);
    free(entries);
    write_image(&example, &x86_64, false);
    assert_output(&example, "addr2line -f -e %s 0x10004 0x20000 0x71a7c 0x71a80",
                  "large\n/large.js:17\nlarge\n/large.js:3528\nlarge\n/large.js:4983\n"
                  "behind\n././??:?\n");
    assert_sound(&example);
    end(&example);
}

static void test_moved_code(void **state)
{
    const struct entry entries[] = {{ADDR, 1, 0, "/a"}, {ADDR + 0x20, 2, 0, "/a"}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, entries);
    load(&example, ADDR, "f", 0x40);
    put_move(&example.builder, 2, 100, 0, ADDR + 0x1000, 0x40);
    write_image(&example, &x86_64, false);
    assert_output(&example, "addr2line -f -e %s 0x10000 0x10020 0x11000 0x1103f",
                  "f\n/a:1\nf\n/a:2\nf\n/a:1\nf\n/a:2\n");
    end(&example);
}

/* QEMU's tables have nothing but the end of the code. */
static void test_no_lines(void **state)
{
    const struct entry end_only[] = {{ADDR + 0x40, 0, 0, ""}};
    struct example example;

    (void)state;
    begin(&example, false);
    put_lines(&example.builder, ADDR, end_only);
    load(&example, ADDR, "guest", 0x40);
    write_image(&example, &x86_64, false);
    char *sections = run(&example, "readelf -SW %s");
    assert_null(strstr(sections, ".debug"));
    free(sections);
    end(&example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_agree),  cmocka_unit_test(test_gdb),
        cmocka_unit_test(test_every_target),   cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_odd_entries),    cmocka_unit_test(test_paths),
        cmocka_unit_test(test_many_functions), cmocka_unit_test(test_large_function),
        cmocka_unit_test(test_moved_code),     cmocka_unit_test(test_no_lines),
    };
    return cmocka_run_group_tests_name("lines-image", tests, NULL, NULL);
}
