/* SPDX-License-Identifier: MIT */
/* A place that cannot be read, wherever the buffer begins: nothing before it is lost. */
#include "../../../src/perfdata/source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define RECORD 24u

/* Our own memory as a file, which ends in a page that is not there. */
static void up_to_a_hole(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    uint8_t *pages =
        mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(fd >= 0 && pages != MAP_FAILED);
    for (size_t i = 0; i < 3 * page; i++)
        pages[i] = (uint8_t)(i >> 4);
    assert_int_equal(munmap(pages + 3 * page, page), 0);
    for (size_t from = 0; from < 3 * page; from += page / 4 + RECORD) {
        struct source source;
        size_t at = from;

        assert_int_equal(source_init(&source, 4 * page, NULL), 0);
        source_move(&source, fd, (uintptr_t)pages + from, (uintptr_t)pages + 4 * page);
        for (; at + RECORD <= 3 * page; at += RECORD) {
            assert_int_equal(source_need(&source, RECORD), 0);
            assert_memory_equal(source_bytes(&source), pages + at, RECORD);
            source_skip(&source, RECORD);
        }
        assert_int_equal(source_need(&source, RECORD), -EIO);
        assert_int_equal(source.offset, (uintptr_t)pages + at);
        source_clear(&source);
    }
    munmap(pages, 3 * page);
    close(fd);
}

/* The stretch ends before the file does, or the other way round. */
static void up_to_the_end(void **state)
{
    static const uint8_t bytes[10 * RECORD];
    char path[] = "/tmp/test-source-XXXXXX";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
    unlink(path);
    for (unsigned records = 8; records <= 12; records++) {
        struct source source;
        const unsigned there = records < 10 ? records : 10;

        assert_int_equal(source_init(&source, records * RECORD, NULL), 0);
        source_move(&source, fd, 0, records * RECORD);
        for (unsigned i = 0; i < there; i++) {
            assert_int_equal(source_need(&source, RECORD), 0);
            source_skip(&source, RECORD);
        }
        assert_int_equal(source_need(&source, RECORD), -ENODATA);
        source_clear(&source);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_a_hole),
        cmocka_unit_test(up_to_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
