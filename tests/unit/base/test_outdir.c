/* SPDX-License-Identifier: MIT */
#include "jitinject/outdir.h"

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

#include <cmocka.h>

struct scratch {
    char directory[64];
    char path[96];
    struct outfile *first, *second;
    struct outdir_entry entries[2];
};

static int make_scratch(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));

    if (!scratch)
        return -1;
    strcpy(scratch->directory, "/tmp/test-outdir-XXXXXX");
    if (!mkdtemp(scratch->directory))
        return -1;
    snprintf(scratch->path, sizeof(scratch->path), "%s/out", scratch->directory);
    if (outfile_new(scratch->path, 0600, &scratch->first) < 0 ||
        outfile_new(scratch->path, 0600, &scratch->second) < 0)
        return -1;
    scratch->entries[0] = (struct outdir_entry){"first", scratch->first};
    scratch->entries[1] = (struct outdir_entry){"inner/second", scratch->second};
    *state = scratch;
    return 0;
}

static void take_away(const struct scratch *scratch, const char *name,
                      int (*remove_it)(const char *))
{
    char path[160];

    snprintf(path, sizeof(path), "%s%s", scratch->path, name);
    assert_int_equal(remove_it(path), 0);
}

/* rmdir() shows that nothing else was there. */
static int remove_scratch(void **state)
{
    struct scratch *scratch = *state;

    outfile_free(scratch->first);
    outfile_free(scratch->second);
    assert_int_equal(rmdir(scratch->directory), 0);
    free(scratch);
    return 0;
}

static void all_files_are_there(void **state)
{
    const struct scratch *scratch = *state;

    assert_int_equal(access(scratch->path, F_OK), -1);
    assert_int_equal(outdir_commit(scratch->path, scratch->entries, 2), 0);
    take_away(scratch, "/first", unlink);
    take_away(scratch, "/inner/second", unlink);
    take_away(scratch, "/inner", rmdir);
    take_away(scratch, "", rmdir);
}

static void a_slash_at_the_end_is_none_of_the_name(void **state)
{
    const struct scratch *scratch = *state;
    char path[160];

    snprintf(path, sizeof(path), "%s//", scratch->path);
    assert_int_equal(outdir_commit(path, scratch->entries, 2), 0);
    take_away(scratch, "/first", unlink);
    take_away(scratch, "/inner/second", unlink);
    take_away(scratch, "/inner", rmdir);
    take_away(scratch, "", rmdir);
}

static void what_is_there_stays(void **state)
{
    const struct scratch *scratch = *state;
    char inner[160];

    snprintf(inner, sizeof(inner), "%s/theirs", scratch->path);
    assert_int_equal(mkdir(scratch->path, 0700), 0);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(outdir_commit(scratch->path, scratch->entries, 2), -ENOTEMPTY);
    take_away(scratch, "/theirs", rmdir);
    take_away(scratch, "", rmdir);
}

static void a_failure_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;

    /* A file has the name of the other's directory. */
    scratch->entries[0].name = "inner";
    assert_int_equal(outdir_commit(scratch->path, scratch->entries, 2), -ENOTDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_files_are_there, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(a_slash_at_the_end_is_none_of_the_name, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(what_is_there_stays, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(a_failure_leaves_nothing, make_scratch, remove_scratch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
