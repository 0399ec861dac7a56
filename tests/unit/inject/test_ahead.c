/* SPDX-License-Identifier: MIT */
/*
 * Dumps that are opened and indexed before anybody asks for them. Each test waits until all of it
 * is done: in a run that is a matter of chance.
 */
#include "../../../src/inject/ahead.h"

#include "../jitdump/builder.h"

#include "jitinject/diag_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DUMPS 24

static const struct inject_options options = {.input = "perf.data"};

struct folder {
    char path[64];
    char dumps[DUMPS][96];
};

/* Dumps of two functions; with `odd` runs of foreign bytes between them, and an unknown flag if
 * there are any. */
static void make_dumps(struct folder *folder, size_t odd)
{
    strcpy(folder->path, "/tmp/test-ahead-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    for (uint32_t i = 0; i < DUMPS; i++) {
        struct builder builder;
        builder_init(&builder, false);
        put_header(&builder);
        put_load(&builder,
                 &(struct load){.time = 2000, .addr = 0x1000, .index = i, .name = "f", .size = 16});
        for (size_t run = 0; run == 0 || run < odd; run++) {
            if (odd)
                put_fill(&builder, 'x', 29);
            put_load(
                &builder,
                &(struct load){
                    .time = 2001, .addr = 0x2000 + 16 * run, .index = i, .name = "g", .size = 16});
            put_close(&builder, 2001); /* it takes two records to trust one behind foreign bytes */
        }
        if (odd)
            set_u64(&builder, 32, 0x80);
        snprintf(folder->dumps[i], sizeof(folder->dumps[i]), "%s/jit-%u.dump", folder->path, i);
        assert_int_equal(rename(write_dump(&builder), folder->dumps[i]), 0);
        builder_done(&builder);
    }
}

static void remove_dumps(struct folder *folder)
{
    for (size_t i = 0; i < DUMPS; i++)
        assert_int_equal(unlink(folder->dumps[i]), 0);
    assert_int_equal(rmdir(folder->path), 0);
}

static void want(struct ahead *ahead, const char *path)
{
    assert_int_equal(ahead_want(ahead, path), 0);
    while (!ahead_is_idle(ahead))
        usleep(100);
}

static size_t count_open_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* The others are needed for dumps and images that are used. */
static void a_quarter_of_the_files_at_most(void **state)
{
    struct rlimit before, limit;
    struct folder folder;
    struct ahead *ahead;
    struct reports reports;

    (void)state;
    make_dumps(&folder, 0);
    reports_init(&reports);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){.rlim_cur = 64, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const size_t open_before = count_open_files();

    assert_int_equal(ahead_new(&options, &ahead), 0);
    for (size_t i = 0; i < DUMPS; i++)
        want(ahead, folder.dumps[i]);
    assert_int_equal(count_open_files() - open_before, 16);
    ahead_end(ahead);
    for (size_t i = 0; i < DUMPS; i++) {
        struct jitdump_index index = {0};
        struct jitdump *dump;
        assert_int_equal(ahead_open(ahead, folder.dumps[i], folder.dumps[i], &reports.diag, &dump),
                         0);
        /* The index was made, though not all dumps stayed open: nothing is read for it again. */
        assert_int_equal(truncate(folder.dumps[i], 40), 0);
        assert_int_equal(ahead_index(ahead, dump, &reports.diag, &index), 0);
        assert_int_equal(index.count, 2);
        jitdump_index_clear(&index);
        jitdump_free(dump);
    }
    assert_int_equal(count_open_files(), open_before);
    assert_int_equal(reports.warnings + reports.errors, 0);
    ahead_free(ahead);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    remove_dumps(&folder);
}

struct named {
    const char *path; /* that all reports are to have */
    size_t warnings;
};

static void check_path(void *context, const struct diag_report *report)
{
    struct named *named = context;

    assert_string_equal(report->path, named->path);
    named->warnings += report->severity == DIAG_WARNING;
}

/* Whichever was indexed: what is wrong with it is told of the name that it is asked for by, what
 * was seen of its header and of its records. */
static void one_dump_by_two_names(void **state)
{
    struct folder folder;

    (void)state;
    make_dumps(&folder, 1);
    for (size_t asked = 0; asked < 2; asked++) {
        struct named named = {.path = folder.dumps[asked]};
        const struct diag diag = {.report = check_path, .context = &named};
        struct jitdump_index index = {0};
        struct ahead *ahead;
        struct jitdump *dump;
        assert_int_equal(unlink(folder.dumps[1]), 0);
        assert_int_equal(link(folder.dumps[0], folder.dumps[1]), 0);
        assert_int_equal(ahead_new(&options, &ahead), 0);
        want(ahead, folder.dumps[0]);
        want(ahead, folder.dumps[1]);
        ahead_end(ahead);
        assert_int_equal(ahead_open(ahead, folder.dumps[asked], folder.dumps[asked], &diag, &dump),
                         0);
        assert_string_equal(jitdump_path(dump), folder.dumps[asked]);
        assert_int_equal(ahead_index(ahead, dump, &diag, &index), 0);
        assert_int_equal(index.count, 2);
        assert_int_equal(named.warnings, 2);
        jitdump_index_clear(&index);
        jitdump_free(dump);
        ahead_free(ahead);
    }
    remove_dumps(&folder);
}

/* More than are kept for later are said all the same. */
static void no_report_is_lost(void **state)
{
    struct folder folder;
    struct reports reports;
    struct ahead *ahead;
    struct jitdump *dump;
    struct jitdump_index index = {0};

    (void)state;
    make_dumps(&folder, DIAG_LIST_MAX + 10);
    reports_init(&reports);
    assert_int_equal(ahead_new(&options, &ahead), 0);
    want(ahead, folder.dumps[0]);
    ahead_end(ahead);
    assert_int_equal(ahead_open(ahead, folder.dumps[0], folder.dumps[0], &reports.diag, &dump), 0);
    assert_int_equal(ahead_index(ahead, dump, &reports.diag, &index), 0);
    assert_int_equal(index.count, DIAG_LIST_MAX + 11);
    assert_int_equal(reports.warnings, DIAG_LIST_MAX + 11);
    jitdump_index_clear(&index);
    jitdump_free(dump);
    ahead_free(ahead);
    remove_dumps(&folder);
}

/* What was opened is not what was found in the end: neither it nor what was said of it counts. */
static void another_file_was_found(void **state)
{
    struct folder folder;
    struct reports reports;
    struct ahead *ahead;
    struct jitdump *dump;
    struct jitdump_index index = {0};

    (void)state;
    make_dumps(&folder, 0);
    reports_init(&reports);
    assert_int_equal(truncate(folder.dumps[0], 50), 0);
    assert_int_equal(ahead_new(&options, &ahead), 0);
    want(ahead, folder.dumps[0]);
    ahead_end(ahead);
    assert_int_equal(ahead_open(ahead, folder.dumps[0], folder.dumps[1], &reports.diag, &dump), 0);
    assert_string_equal(jitdump_path(dump), folder.dumps[1]);
    assert_int_equal(ahead_index(ahead, dump, &reports.diag, &index), 0);
    assert_int_equal(index.count, 2);
    assert_int_equal(reports.warnings + reports.errors, 0);
    jitdump_index_clear(&index);
    jitdump_free(dump);
    ahead_free(ahead);
    remove_dumps(&folder);
}

/* Without a thread, as where nothing was wanted in time, whoever asks does it. */
static void nothing_was_done_ahead(void **state)
{
    struct folder folder;
    struct reports reports;
    struct ahead *ahead;
    struct jitdump *dump;
    struct jitdump_index index = {0};

    (void)state;
    make_dumps(&folder, 0);
    reports_init(&reports);
    assert_int_equal(ahead_new(&options, &ahead), 0);
    assert_true(ahead_is_idle(ahead));
    ahead_end(ahead);
    assert_int_equal(ahead_open(ahead, folder.dumps[0], folder.dumps[0], &reports.diag, &dump), 0);
    assert_int_equal(ahead_index(ahead, dump, &reports.diag, &index), 0);
    assert_int_equal(index.count, 2);
    jitdump_index_clear(&index);
    jitdump_free(dump);
    ahead_free(ahead);
    remove_dumps(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_of_the_files_at_most),
        cmocka_unit_test(one_dump_by_two_names),
        cmocka_unit_test(no_report_is_lost),
        cmocka_unit_test(another_file_was_found),
        cmocka_unit_test(nothing_was_done_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
