/* SPDX-License-Identifier: MIT */
/* Names of mappings as they are in recordings, and what each is of. */
#include "../../../src/inject/mapped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* mmap(2) */
#define READ_WRITE 3
#define READ_EXEC  5
#define SHARED     1
#define PRIVATE    2

struct called {
    const char *name;
    size_t dump; /* bytes of the path of a dump */
    bool is_image;
};

static void dumps_and_images(void **state)
{
    static const struct called names[] = {
        {"/tmp/jit-1.dump", 15, false},
        {"jit-1.dump", 10, false},
        {"/home/a b/jit-4711.dump", 23, false},
        {"/tmp/jit-12-7.dump", 18, false}, /* JavaScriptCore */
        {"/tmp/jit-1.dump (deleted)", 15, false},
        {"/tmp/jit-.dump", 0, false}, /* without a number */
        {"/tmp/jit-1.dumps", 0, false},
        {"/tmp/jit-1.dump.gz", 0, false},
        {"/tmp/jit-1.dump (gone)", 0, false},
        {"/tmp/perf-1.map", 0, false},
        {"/jit-1.dump/core", 0, false},
        {" (deleted)", 0, false},
        {"", 0, false},
        {"/tmp/jit-1-jitted-0.so", 0, true},
        {"/tmp/jitted-1-17.so", 0, true}, /* perf inject */
        {"/tmp/.debug/jit/jitted-1-17.so", 0, true},
        {"/usr/lib/jit-1.so", 0, false},
        {"/jitted-1/libc.so", 0, false},
        {"jitted-1-17.os", 0, false},
        {"jit-", 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(mapped_dump_path(names[i].name), names[i].dump);
        assert_int_equal(mapped_is_image(names[i].name), names[i].is_image);
    }
}

static void kinds(void **state)
{
    static const char *const anonymous[] = {
        "",          "//anon",           "[anon:v8]",     "/memfd:doublemapper (deleted)",
        "/dev/zero", "/dev/shm/a",       "/SYSV00000000", "/anon_hugepage (deleted)",
        "[heap]",    "anon_inode:[bpf]", "[stack:1]",
    };
    struct perfdata_mapping mapping = {.prot = READ_EXEC};

    (void)state;
    for (size_t i = 0; i < sizeof(anonymous) / sizeof(anonymous[0]); i++) {
        mapping.filename = anonymous[i];
        assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP2), PLACE_ANONYMOUS);
    }
    mapping.filename = "/usr/lib/libc.so.6";
    assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP2), PLACE_FILE);
    assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP), PLACE_FILE);
    mapping.prot = READ_WRITE;
    assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP2), PLACE_DATA);
    /* MMAP has no prot, but a bit that says it. */
    assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP), PLACE_FILE);
    mapping.is_data = true;
    assert_int_equal(mapped_kind(&mapping, PERFDATA_MMAP), PLACE_DATA);
}

static uint64_t file_called(const char *name)
{
    const struct perfdata_mapping mapping = {.filename = name};

    return mapped_file(&mapping, PLACE_FILE);
}

static void files(void **state)
{
    (void)state;
    assert_int_not_equal(file_called(""), 0);
    assert_int_equal(file_called("/usr/bin/node"), file_called("/usr/bin/node"));
    assert_int_not_equal(file_called("/usr/bin/node"), file_called("/usr/bin/nodf"));
}

/* PHP's workers: the same memory wherever in it a mapping begins, not the same elsewhere. */
static void shared_memory(void **state)
{
    const struct perfdata_mapping whole = {
        .addr = 0x40000000, .pgoff = 0, .inode = 7, .minor = 1, .flags = SHARED, .filename = ""};
    struct perfdata_mapping other = whole;
    const uint64_t file = mapped_file(&whole, PLACE_ANONYMOUS);

    (void)state;
    assert_int_not_equal(file, 0);
    other.addr += 0x1000;
    assert_int_not_equal(mapped_file(&other, PLACE_ANONYMOUS), file);
    other.pgoff += 0x1000;
    assert_int_equal(mapped_file(&other, PLACE_ANONYMOUS), file);
    other.inode++;
    assert_int_not_equal(mapped_file(&other, PLACE_ANONYMOUS), file);
    other = whole;
    other.minor++;
    assert_int_not_equal(mapped_file(&other, PLACE_ANONYMOUS), file);
    other = whole;
    other.flags = PRIVATE;
    assert_int_equal(mapped_file(&other, PLACE_ANONYMOUS), 0);
    other = whole;
    other.inode = 0;
    assert_int_equal(mapped_file(&other, PLACE_ANONYMOUS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_and_images),
        cmocka_unit_test(kinds),
        cmocka_unit_test(files),
        cmocka_unit_test(shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
