/* SPDX-License-Identifier: MIT */
#include "../../../src/perfdata/behind.h"

#include "jitinject/io.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOCK  (64u << 10)
#define BLOCKS 2
#define ROUNDS 200

static void fill(uint8_t *bytes, unsigned round)
{
    for (size_t i = 0; i < BLOCK; i++)
        bytes[i] = (uint8_t)(round * 31 + i * 7 + (i >> 8));
}

/* Buffers are used again as soon as behind_wait allows, and each write has what was in it then. */
static void buffers_by_turns(void **state)
{
    uint8_t *buffers = malloc(BLOCKS * BLOCK), *expected = malloc(BLOCK), *found = malloc(BLOCK);
    struct behind *behind;
    const int fd = io_spool_file();

    (void)state;
    assert_true(fd >= 0 && buffers && expected && found);
    assert_int_equal(behind_new(&behind), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t *buffer = buffers + round % BLOCKS * BLOCK;
        behind_wait(behind, buffer, BLOCK);
        fill(buffer, round);
        /* From the end of the file on, so that the order does not matter. */
        assert_int_equal(
            behind_write(behind, fd, buffer, BLOCK, (uint64_t)(ROUNDS - 1 - round) * BLOCK), 0);
    }
    assert_int_equal(behind_wait_all(behind), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(expected, round);
        assert_int_equal(io_pread(fd, found, BLOCK, (uint64_t)(ROUNDS - 1 - round) * BLOCK), BLOCK);
        assert_memory_equal(found, expected, BLOCK);
    }
    assert_int_equal(behind_finish(behind), 0);
    behind_free(behind);
    close(fd);
    free(buffers);
    free(expected);
    free(found);
}

struct piece {
    uint8_t content;
    size_t size;
    uint64_t offset;
    int file;
};

/*
 * Those of one file that follow each other may be written together, others may not: a gap between
 * them, one that lies over the one before, the other file.
 */
static void neighbours(void **state)
{
    static const struct piece pieces[] = {
        {'a', 100, 0, 0},    {'b', 70000, 100, 0}, {'c', 1, 70100, 0},
        {'d', 50, 70200, 0}, {'e', 50, 70250, 0},  {'f', 60, 70240, 0},
        {'g', 60, 70300, 1}, {'h', 10, 70360, 1},  {'i', 10, 70370, 0},
    };
    enum { COUNT = sizeof(pieces) / sizeof(pieces[0]), SIZE = 70380, REPEATED = 200 };
    static uint8_t bytes[COUNT][70000], expected[2][SIZE], found[SIZE];
    const int fds[2] = {io_spool_file(), io_spool_file()};

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        memset(bytes[i], pieces[i].content, sizeof(bytes[i]));
        memset(expected[pieces[i].file] + pieces[i].offset, pieces[i].content, pieces[i].size);
    }
    /* How many wait when the thread looks is chance. */
    for (unsigned round = 0; round < REPEATED; round++) {
        struct behind *behind;
        assert_int_equal(behind_new(&behind), 0);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(behind_write(behind, fds[pieces[i].file], bytes[i], pieces[i].size,
                                          pieces[i].offset),
                             0);
        assert_int_equal(behind_finish(behind), 0);
        behind_free(behind);
        for (size_t i = 0; i < 2; i++) {
            const size_t size = i == 0 ? SIZE : 70370;
            assert_int_equal(io_pread(fds[i], found, SIZE, 0), size);
            assert_memory_equal(found, expected[i], size);
            assert_int_equal(ftruncate(fds[i], 0), 0);
        }
    }
    close(fds[0]);
    close(fds[1]);
}

/* What failed is heard of at the latest at the end, and the writes after that are still possible.
 */
static void failure(void **state)
{
    static const uint8_t bytes[BLOCK];
    struct behind *behind;
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    int err = 0;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(behind_new(&behind), 0);
    for (unsigned i = 0; i < 10000 && !err; i++)
        err = behind_write(behind, fd, bytes, sizeof(bytes), 0);
    assert_int_equal(err, -ENOSPC);
    assert_int_equal(behind_wait_all(behind), -ENOSPC);
    assert_int_equal(behind_finish(behind), -ENOSPC);
    assert_int_equal(behind_write(behind, fd, bytes, sizeof(bytes), 0), -ENOSPC);
    behind_free(behind);
    behind_free(NULL);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_by_turns),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
