/* SPDX-License-Identifier: MIT */
/*
 * perf.data files that other projects keep for their tests: a copy with every record kept must read
 * like the original to perf itself. They are not part of this project; the directory is
 * $JITINJECT_THIRD_PARTY, or one beside the sources. $JITINJECT_PERF is the perf to ask, which may
 * be too old for some of them.
 */
#include "build.h"
#include "perfdata/third_party.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *directory(void)
{
    const char *path = getenv("JITINJECT_THIRD_PARTY");
    return path ? path : THIRD_PARTY;
}

static void read_whole(const char *path, struct build *content)
{
    char bytes[65536];
    size_t got;
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0)
        build_bytes(content, bytes, got);
    fclose(file);
}

static void copy(const char *from, const char *to)
{
    const struct perfdata_options options = {.force = true};
    struct reports reports;
    struct diag diag = reports_diag(&reports);
    struct perfdata_samples samples;
    struct perfdata_record record;
    struct perfdata_writer *writer;
    struct perfdata *data;
    int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), got;

    assert_true(fd >= 0);
    assert_int_equal(perfdata_open(from, &options, &diag, &data), 0);
    while ((got = perfdata_next(data, &record)) == 1)
        ;
    assert_int_equal(got, 0);
    assert_int_equal(perfdata_writer_new(data, PERFDATA_FORM_OF_INPUT, fd, &writer), 0);
    perfdata_rewind(data);
    do {
        while (perfdata_next_samples(data, &samples))
            assert_int_equal(perfdata_keep_samples(writer, &samples), 0);
        got = perfdata_next(data, &record);
        if (got == 1)
            assert_int_equal(perfdata_keep(writer, &record), 0);
    } while (got == 1);
    assert_int_equal(got, 0);
    assert_int_equal(perfdata_writer_finish(writer), 0);
    assert_int_equal(reports.errors, 0);
    perfdata_writer_free(writer);
    perfdata_free(data);
    close(fd);
}

/* What perf prints about the file; returns its exit status. */
static int ask_perf(const char *path, struct build *output)
{
    const char *perf = getenv("JITINJECT_PERF");
    char command[8192], bytes[65536];
    size_t got;

    assert_true(snprintf(command, sizeof(command), "%s script -f -i '%s' 2>/dev/null </dev/null",
                         perf ? perf : "perf", path) < (int)sizeof(command));
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    while ((got = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
        build_bytes(output, bytes, got);
    return pclose(pipe);
}

/* The stretch before the features, but for the header's words about these. */
static void expect_same_start(const struct build *a, const struct build *b)
{
    size_t end = a->size;

    if (build_get_u64(a, 8) != 16) {
        end = build_get_u64(a, 40) + build_get_u64(a, 48);
        assert_memory_equal(a->bytes, b->bytes, 72);
        assert_true(b->size >= end);
    }
    assert_memory_equal(a->bytes + 104, b->bytes + 104, end - 104);
}

/* Whether any record of the file is a compressed one; the names say so. */
static bool is_compressed(const char *name)
{
    return strstr(name, "compressed") || strstr(name, "zstd") || strstr(name, "cpp-inlining");
}

static void expect_same_copy(const char *name, const char *to, unsigned *compared)
{
    char from[4096];
    struct build original = {0}, copied = {0}, before = {0}, after = {0};

    snprintf(from, sizeof(from), "%s/%s", directory(), name);
    copy(from, to);
    read_whole(from, &original);
    read_whole(to, &copied);
    if (!is_compressed(name))
        expect_same_start(&original, &copied);
    if (ask_perf(from, &before) == 0) {
        assert_int_equal(ask_perf(to, &after), 0);
        assert_int_equal(before.size, after.size);
        if (before.size)
            assert_memory_equal(before.bytes, after.bytes, before.size);
        ++*compared;
    } else {
        print_message("this perf cannot read %s\n", name);
    }
    build_free(&original);
    build_free(&copied);
    build_free(&before);
    build_free(&after);
}

static void copies_read_like_the_originals(void **state)
{
    DIR *files = opendir(directory());
    struct dirent *entry;
    unsigned compared = 0;
    char to[] = "/tmp/test-perfdata-XXXXXX";

    (void)state;
    if (!files) {
        print_message("no files of other projects in %s\n", directory());
        skip();
    }
    int fd = mkstemp(to);
    assert_true(fd >= 0);
    while ((entry = readdir(files)))
        if (entry->d_name[0] != '.')
            expect_same_copy(entry->d_name, to, &compared);
    print_message("%u files compared by perf\n", compared);
    closedir(files);
    close(fd);
    unlink(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_read_like_the_originals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
