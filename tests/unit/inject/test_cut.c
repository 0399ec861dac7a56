/* SPDX-License-Identifier: MIT */
/* Dumps that are cut while the run is on: several threads meet it, and one word is said of it. */
#include "jitinject/inject.h"

#include "jitdump/fixtures.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Which thread is first is chance. */
#define REPEATED 10

struct scratch {
    char directory[64];
    unsigned errors;
    char error[512]; /* the first: base name and text */
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Cuts each dump once it has been read; its code is read again after that. */
static void cut_and_note(void *context, const struct diag_report *report)
{
    struct scratch *scratch = context;

    if (report->severity == DIAG_NOTE && strstr(report->text, " loads, "))
        assert_int_equal(truncate(report->path, 4096), 0);
    if (report->severity == DIAG_ERROR && scratch->errors++ == 0)
        snprintf(scratch->error, sizeof(scratch->error), "%s: %s",
                 report->path ? base_of(report->path) : "", report->text);
}

static void run_cut(struct scratch *scratch, const char *fixture)
{
    char command[256], input[96], output[96];
    struct inject_summary summary = {0};
    const struct diag diag = {.report = cut_and_note, .context = scratch};

    *scratch = (struct scratch){.directory = "/tmp/test-cut-XXXXXX"};
    assert_non_null(mkdtemp(scratch->directory));
    snprintf(command, sizeof(command), "cp " FIXTURES "/%s/perf.data " FIXTURES "/%s/jit-* %s",
             fixture, fixture, scratch->directory);
    assert_int_equal(system(command), 0);
    snprintf(input, sizeof(input), "%s/perf.data", scratch->directory);
    snprintf(output, sizeof(output), "%s/out", scratch->directory);
    const struct inject_options options = {.input = input, .output = output};
    assert_true(inject_run(&options, &diag, &summary) < 0);
    inject_summary_clear(&summary);
}

/* Takes the inputs away; rmdir() shows that nothing else was there. */
static void remove_inputs(const struct scratch *scratch)
{
    char command[160];

    snprintf(command, sizeof(command), "rm %s/perf.data %s/jit-*.dump", scratch->directory,
             scratch->directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(rmdir(scratch->directory), 0);
}

static void expect_one_error(const char *fixture, const char *dump)
{
    char expected[512];

    snprintf(expected, sizeof(expected),
             "%s: the file ends before the name or the code that it announces here; was it changed "
             "or cut since it was opened?",
             dump);
    for (unsigned i = 0; i < REPEATED; i++) {
        struct scratch scratch;
        run_cut(&scratch, fixture);
        remove_inputs(&scratch);
        assert_string_equal(scratch.error, expected);
        assert_int_equal(scratch.errors, 1);
    }
}

/* Seven images, written by two threads, and their line tables by one more each. */
static void several_processes(void **state)
{
    (void)state;
    expect_one_error("node-family", "jit-5481.dump");
}

/* One image, and its line tables by another thread. */
static void lines_beside_code(void **state)
{
    (void)state;
    expect_one_error("node-app", "jit-12614.dump");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_processes),
        cmocka_unit_test(lines_beside_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
