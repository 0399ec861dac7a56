/* SPDX-License-Identifier: MIT */
#include "jitinject/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PIECES_MAX 16

struct writing {
    FILE *names, *map;
    struct code codes[PIECES_MAX];
    struct code *order[PIECES_MAX];
    size_t count;
    struct perfmap_written written;
    char *text;
};

static int set_up(void **state)
{
    struct writing *writing = calloc(1, sizeof(*writing));

    assert_non_null(writing);
    writing->names = tmpfile();
    writing->map = tmpfile();
    assert_non_null(writing->names);
    assert_non_null(writing->map);
    assert_int_equal(fputs("something before ", writing->names) < 0, 0);
    *state = writing;
    return 0;
}

static int tear_down(void **state)
{
    struct writing *writing = *state;

    fclose(writing->names);
    fclose(writing->map);
    free(writing->text);
    free(writing);
    return 0;
}

static void add_bytes(struct writing *writing, uint64_t addr, uint32_t size, const char *name,
                      size_t name_size)
{
    struct code *code = &writing->codes[writing->count];

    assert_true(writing->count < PIECES_MAX);
    *code = (struct code){.addr = addr,
                          .size = size,
                          .name = (uint64_t)ftello(writing->names),
                          .name_size = (uint32_t)name_size};
    assert_int_equal(fwrite(name, 1, name_size, writing->names), name_size);
    writing->order[writing->count++] = code;
}

static void add(struct writing *writing, uint64_t addr, uint32_t size, const char *name)
{
    add_bytes(writing, addr, size, name, strlen(name));
}

static int write_to(struct writing *writing, int fd)
{
    assert_int_equal(fflush(writing->names), 0);
    return perfmap_write(writing->order, writing->count, fileno(writing->names),
                         (uint64_t)ftello(writing->names), fd, &writing->written);
}

static void expect(struct writing *writing, const char *text)
{
    const size_t size = strlen(text);

    assert_int_equal(write_to(writing, fileno(writing->map)), 0);
    writing->text = calloc(1, size + 2);
    assert_non_null(writing->text);
    assert_int_equal(pread(fileno(writing->map), writing->text, size + 1, 0), size);
    assert_string_equal(writing->text, text);
}

static void nothing(void **state)
{
    expect(*state, "");
}

static void by_address(void **state)
{
    struct writing *writing = *state;

    add(writing, 0x7f0000002000, 0x1f, "JS:*two app.js:2:1");
    add(writing, 0x7f0000001000, 0x20, "one");
    add(writing, 0xfffffffffffffff0, 0xf, "last");
    expect(writing, "7f0000001000 20 one\n"
                    "7f0000002000 1f JS:*two app.js:2:1\n"
                    "fffffffffffffff0 f last\n");
    assert_int_equal(writing->written.entries, 3);
    assert_int_equal(writing->written.replaced, 0);
}

static void the_last_one_wins(void **state)
{
    struct writing *writing = *state;

    add(writing, 0x1000, 0x100, "outer");
    add(writing, 0x2000, 0x10, "replaced");
    add(writing, 0x1040, 0x20, "inner");
    add(writing, 0x2000, 0x10, "last");
    add(writing, 0x3000, 0, "without code");
    expect(writing, "1000 40 outer\n"
                    "1040 20 inner\n"
                    "1060 a0 outer\n"
                    "2000 10 last\n");
    assert_int_equal(writing->written.entries, 4);
    assert_int_equal(writing->written.replaced, 1);
    assert_int_equal(writing->written.nameless, 0);
}

/* What has no name still takes its addresses from what was there. */
static void without_a_name(void **state)
{
    struct writing *writing = *state;

    add(writing, 0x1000, 0x100, "old");
    add(writing, 0x1040, 0xc0, "");
    expect(writing, "1000 40 old\n");
    assert_int_equal(writing->written.entries, 1);
    assert_int_equal(writing->written.nameless, 1);
    assert_int_equal(writing->written.replaced, 0);
}

/* An entry is a line, and readers take a NUL for the end of a name. */
static void control_characters(void **state)
{
    struct writing *writing = *state;

    add_bytes(writing, 0x1000, 1,
              "a\nb\rc\td\0e\x7f"
              "f\xc3\xa9",
              13);
    expect(writing, "1000 1 a b c d e f\xc3\xa9\n");
}

static void long_names(void **state)
{
    struct writing *writing = *state;
    const size_t sizes[] = {1, 100000, 262144, 1000000, 1};
    char *text = malloc(2000000), *name = malloc(1000000);
    size_t used = 0;

    assert_non_null(text);
    assert_non_null(name);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(name, 'a' + (int)i, sizes[i]);
        add_bytes(writing, 0x1000 * (i + 1), 1, name, sizes[i]);
        used += (size_t)sprintf(text + used, "%zx 1 %.*s\n", 0x1000 * (i + 1), (int)sizes[i], name);
    }
    expect(writing, text);
    free(text);
    free(name);
}

static void names_that_are_not_there(void **state)
{
    struct writing *writing = *state;

    add(writing, 0x1000, 1, "name");
    writing->codes[0].name_size++;
    assert_int_equal(write_to(writing, fileno(writing->map)), -ENODATA);
    writing->codes[0].name = UINT64_MAX;
    assert_int_equal(write_to(writing, fileno(writing->map)), -ENODATA);
}

static void full_disk(void **state)
{
    struct writing *writing = *state;
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    add(writing, 0x1000, 1, "name");
    assert_int_equal(write_to(writing, fd), -ENOSPC);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_one_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(control_characters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_that_are_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("perfmap-write", tests, NULL, NULL);
}
