/* SPDX-License-Identifier: MIT */
#include "jitinject/array.h"
#include "jitinject/bytes.h"
#include "jitinject/diag.h"
#include "jitinject/diag_list.h"
#include "jitinject/io.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static void integers_of_both_byte_orders(void **state)
{
    const uint8_t bytes[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99};
    const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint8_t out[8];

    (void)state;
    assert_int_equal(bytes_u16(bytes, !host_is_big), 0x1122);
    assert_int_equal(bytes_u16(bytes, host_is_big), 0x2211);
    assert_int_equal(bytes_u32(bytes + 1, !host_is_big), 0x22334455);
    assert_true(bytes_u64(bytes + 1, !host_is_big) == UINT64_C(0x2233445566778899));
    bytes_put_u64(out, UINT64_C(0x1122334455667788), !host_is_big);
    assert_memory_equal(out, bytes, 8);
    assert_int_equal(bytes_align_up(17, 16), 32);
    assert_int_equal(bytes_align_up(16, 16), 16);
    assert_int_equal(bytes_align_down(31, 16), 16);
}

static void arrays_grow_and_refuse(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(array_reserve(&items, &capacity, i + 1));
        items[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    const size_t before = capacity;
    assert_false(array_reserve(&items, &capacity, SIZE_MAX / 4));
    assert_int_equal(capacity, before);
    free(items);
}

/* By the tens, so that it is seen which of two equal ones came first. */
static int compare_tens(const void *left, const void *right)
{
    return *(const int *)left / 10 - *(const int *)right / 10;
}

static void arrays_are_sorted(void **state)
{
    static const struct {
        int items[6], sorted[6];
        size_t count;
    } cases[] = {
        {{51, 42}, {51, 42}, 0},
        {{51, 42}, {51, 42}, 1},
        {{51, 42}, {42, 51}, 2},
        {{13, 12, 21, 34, 33, 50}, {13, 12, 21, 34, 33, 50}, 6},
        {{13, 12, 21, 34, 50, 33}, {13, 12, 21, 34, 33, 50}, 6},
        {{20, 12, 21, 34, 33, 50}, {12, 20, 21, 34, 33, 50}, 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int items[6];
        memcpy(items, cases[i].items, sizeof(items));
        array_sort(items, cases[i].count, sizeof(int), compare_tens);
        assert_memory_equal(items, cases[i].sorted, sizeof(items));
    }
    array_sort(NULL, 0, sizeof(int), compare_tens);
}

/* Numbers in order but for some that are not, as those of several processors are. */
static void runs_are_merged(void **state)
{
    enum { COUNT = 3000 };
    static const unsigned spreads[] = {0, 1, 40, 900, 100000};
    struct numbered {
        uint32_t key, number;
        char rest[5]; /* items are of any size */
    } items[COUNT];
    uint32_t seed = 1;

    (void)state;
    for (size_t s = 0; s < sizeof(spreads) / sizeof(spreads[0]); s++) {
        uint64_t keys = 0, sorted_keys = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            seed = seed * 1664525 + 1013904223;
            items[i] = (struct numbered){
                .key = i / 3 + (seed >> 8) % (spreads[s] + 1), .number = i, .rest = {(char)i}};
            keys += (uint64_t)items[i].key * i;
        }
        array_sort(items, COUNT, sizeof(items[0]), compare_tens);
        for (uint32_t i = 0; i < COUNT; i++) {
            sorted_keys += (uint64_t)items[i].key * items[i].number;
            assert_int_equal(items[i].rest[0], (char)items[i].number);
            if (i == 0)
                continue;
            assert_true(items[i - 1].key / 10 <= items[i].key / 10);
            if (items[i - 1].key / 10 == items[i].key / 10)
                assert_true(items[i - 1].number < items[i].number);
        }
        assert_true(sorted_keys == keys);
    }
}

static void new_arrays_take_any_size_and_refuse(void **state)
{
    static const size_t counts[] = {0, 1, 131071, 131072, 262144, 262145, 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint64_t *items = array_new(counts[i], sizeof(*items));
        assert_non_null(items);
        for (size_t k = 0; k < counts[i]; k++)
            items[k] = k;
        for (size_t k = 0; k < counts[i]; k++)
            assert_int_equal(items[k], k);
        free(items);
    }
    assert_null(array_new(SIZE_MAX / 8, 8));
    assert_null(array_new(SIZE_MAX / 4, 8));
    assert_null(array_new(SIZE_MAX, 1));
}

static void keep_report(void *context, const struct diag_report *report)
{
    char *text = context;

    assert_int_equal(report->severity, DIAG_WARNING);
    assert_string_equal(report->path, "file");
    assert_int_equal(report->offset, 12);
    strcpy(text, report->text);
}

static void reports_reach_the_sink(void **state)
{
    char text[64] = "";
    const struct diag diag = {.report = keep_report, .context = text};

    (void)state;
    diag_report(&diag, DIAG_WARNING, "file", 12, "%d of %s", 3, "them");
    assert_string_equal(text, "3 of them");
    diag_report(NULL, DIAG_ERROR, "file", 12, "to nobody");
}

static void reads_end_with_the_file(void **state)
{
    char bytes[16];
    const int fd = io_spool_file();

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(io_pwrite(fd, "0123456789", 10, 5), 0);
    assert_int_equal(io_pread(fd, bytes, 16, 10), 5);
    assert_memory_equal(bytes, "56789", 5);
    assert_int_equal(io_pread(fd, bytes, 16, 100), 0);
    close(fd);
    assert_true(io_pread(fd, bytes, 1, 0) < 0);
}

/* Parts lie one behind another, and what was written of one before it failed is not written again.
 */
static void parts_are_written_in_order(void **state)
{
    char first[] = "0123", empty[] = "", last[] = "456789", bytes[16];
    struct iovec parts[] = {{empty, 0}, {first, 4}, {empty, 0}, {last, 6}};
    struct rlimit limit, small;
    const int fd = io_spool_file();

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(io_pwritev(fd, parts, 4, 3), 0);
    assert_int_equal(io_pread(fd, bytes, sizeof(bytes), 0), 13);
    assert_memory_equal(bytes,
                        "\0\0\0"
                        "0123456789",
                        13);
    assert_int_equal(io_pwritev(fd, NULL, 0, 100), 0);
    assert_int_equal(io_pwrite(fd, bytes, 0, 100), 0);

    /* The first call ends within the last part; the second says why. */
    struct iovec again[] = {{first, 4}, {last, 6}};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(io_pwritev(fd, again, 2, 13), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(io_pread(fd, bytes, sizeof(bytes), 13), 7);
    assert_memory_equal(bytes, "0123456", 7);
    assert_ptr_equal(again[1].iov_base, last + 3);
    assert_int_equal(again[1].iov_len, 3);
    close(fd);
}

static void take_texts(void *context, const struct diag_report *report)
{
    char *texts = context;

    snprintf(texts + strlen(texts), 64, "%d %s %d %s;", report->severity,
             report->path ? report->path : "-", (int)report->offset, report->text);
}

static void kept_reports_are_handed_on_in_order(void **state)
{
    char texts[256] = "";
    struct diag_list list = {0};
    const struct diag keep = diag_list_sink(&list), show = {.report = take_texts, .context = texts};
    char path[] = "file";

    (void)state;
    diag_report(&keep, DIAG_WARNING, path, 12, "100%% %d", 7);
    path[0] = 'm'; /* strings are the caller's */
    diag_report(&keep, DIAG_NOTE, NULL, 3, "%%s");
    assert_string_equal(texts, "");
    diag_list_replay(&list, &show);
    assert_string_equal(texts, "1 file 12 100% 7;0 - 3 %s;");
    diag_list_replay(&list, NULL);
    assert_false(list.lost);
    while (list.count < DIAG_LIST_MAX)
        diag_report(&keep, DIAG_NOTE, NULL, 0, "more");
    assert_false(list.lost);
    diag_report(&keep, DIAG_NOTE, NULL, 0, "too many");
    assert_true(list.lost);
    assert_int_equal(list.count, DIAG_LIST_MAX);
    /* An error that is lost has not been said. */
    diag_report(&keep, DIAG_ERROR, NULL, 0, "too late");
    assert_false(list.failed);
    diag_list_clear(&list);
}

static void count_warnings(void *context, const struct diag_report *report)
{
    *(int *)context += report->severity == DIAG_WARNING;
}

static void lost_reports_are_told_of(void **state)
{
    int warnings = 0;
    struct diag_list list = {0};
    const struct diag keep = diag_list_sink(&list),
                      count = {.report = count_warnings, .context = &warnings};

    (void)state;
    for (int i = 0; i < DIAG_LIST_MAX; i++)
        diag_report(&keep, DIAG_NOTE, NULL, 0, "as many as are kept");
    diag_list_replay(&list, &count);
    assert_int_equal(warnings, 0);
    diag_report(&keep, DIAG_NOTE, NULL, 0, "one more");
    diag_list_replay(&list, &count);
    assert_int_equal(warnings, 1);
    diag_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_both_byte_orders),
        cmocka_unit_test(kept_reports_are_handed_on_in_order),
        cmocka_unit_test(lost_reports_are_told_of),
        cmocka_unit_test(arrays_grow_and_refuse),
        cmocka_unit_test(arrays_are_sorted),
        cmocka_unit_test(runs_are_merged),
        cmocka_unit_test(new_arrays_take_any_size_and_refuse),
        cmocka_unit_test(reports_reach_the_sink),
        cmocka_unit_test(reads_end_with_the_file),
        cmocka_unit_test(parts_are_written_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
