/* SPDX-License-Identifier: MIT */
#include "jitinject/io.h"
#include "jitinject/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
};

static int make_scratch(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));

    if (!scratch)
        return -1;
    strcpy(scratch->directory, "/tmp/test-outfile-XXXXXX");
    if (!mkdtemp(scratch->directory))
        return -1;
    snprintf(scratch->path, sizeof(scratch->path), "%s/out", scratch->directory);
    *state = scratch;
    return 0;
}

static int remove_scratch(void **state)
{
    struct scratch *scratch = *state;

    unlink(scratch->path);
    rmdir(scratch->directory);
    free(scratch);
    return 0;
}

static size_t count_files(const struct scratch *scratch)
{
    size_t count = 0;
    DIR *directory = opendir(scratch->directory);

    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void check_content(const struct scratch *scratch, const char *expected)
{
    char content[64] = "";
    int fd = open(scratch->path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(io_pread(fd, content, sizeof(content), 0), strlen(expected));
    assert_string_equal(content, expected);
    close(fd);
}

static void the_name_comes_at_the_end(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "whole", 5), 0);
    assert_int_equal(access(scratch->path, F_OK), -1);
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);
    check_content(scratch, "whole");
    assert_int_equal(count_files(scratch), 1);
}

static void an_older_file_stays_until_then(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "older", 5), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "new", 3), 0);
    check_content(scratch, "older");
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);
    check_content(scratch, "new");
    assert_int_equal(count_files(scratch), 1);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "half", 4), 0);
    outfile_free(file);
    assert_int_equal(count_files(scratch), 0);
}

static void revoking_takes_the_name_away(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_revoke(file);
    outfile_free(file);
    assert_int_equal(count_files(scratch), 0);
}

static void the_umask_counts(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;
    struct stat status;
    const mode_t before = umask(027);

    assert_int_equal(outfile_new(scratch->path, 0666, &file), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);
    umask(before);
    assert_int_equal(stat(scratch->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void a_missing_directory_is_an_error(void **state)
{
    const struct scratch *scratch = *state;
    char path[128];
    struct outfile *file;

    snprintf(path, sizeof(path), "%s/none/out", scratch->directory);
    assert_int_equal(outfile_new(path, 0644, &file), -ENOENT);
    assert_null(file);
    outfile_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_name_comes_at_the_end, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(an_older_file_stays_until_then, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(what_is_not_committed_leaves_nothing, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(revoking_takes_the_name_away, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(the_umask_counts, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(a_missing_directory_is_an_error, make_scratch,
                                        remove_scratch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
