/* SPDX-License-Identifier: MIT */
#include "jitinject/io.h"
#include "jitinject/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static void where_a_name_is_taken_nothing_is_done(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "older", 5), 0);
    assert_int_equal(outfile_commit_new(file), 0);
    outfile_free(file);
    check_content(scratch, "older");

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "new", 3), 0);
    assert_int_equal(outfile_commit_new(file), -EEXIST);
    check_content(scratch, "older");
    assert_int_equal(count_files(scratch), 1);
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);
    check_content(scratch, "new");
    assert_int_equal(count_files(scratch), 1);
}

/* Since Linux 6.10 it is allowed to the very credentials that opened the file, so these change. */
static int commit_without_privilege(struct outfile *file)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return 1;
    data[0].effective &= ~(1u << CAP_DAC_READ_SEARCH);
    if (syscall(SYS_capset, &header, data) < 0)
        return 2;
    return outfile_commit(file) ? 3 : 0;
}

static void no_privilege_is_needed_for_a_name(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;
    int status;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "whole", 5), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(commit_without_privilege(file));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_content(scratch, "whole");
    outfile_free(file);
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

/* Who needed the older file is not helped by having none. */
static void revoking_leaves_what_took_a_place(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;

    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_free(file);
    assert_int_equal(outfile_new(scratch->path, 0644, &file), 0);
    assert_int_equal(io_write(outfile_fd(file), "new", 3), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_revoke(file);
    outfile_free(file);
    check_content(scratch, "new");
}

/* Two ends that nobody has to wait for. */
static void a_fifo_is_a_stream(void **state)
{
    const struct scratch *scratch = *state;
    struct outfile *file;
    char content[16] = "";

    assert_int_equal(mkfifo(scratch->path, 0600), 0);
    int reader = open(scratch->path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(outfile_new_stream(scratch->path, &file), 0);
    assert_true(outfile_is_stream(file));
    assert_int_equal(io_write(outfile_fd(file), "bytes", 5), 0);
    assert_int_equal(outfile_commit(file), 0);
    outfile_revoke(file);
    outfile_free(file);
    assert_int_equal(read(reader, content, sizeof(content)), 5);
    assert_string_equal(content, "bytes");
    assert_int_equal(read(reader, content, sizeof(content)), 0);
    close(reader);
    assert_int_equal(count_files(scratch), 1);
}

static void standard_output_is_a_stream(void **state)
{
    struct outfile *file;
    int ends[2], before = dup(STDOUT_FILENO);
    char content[16] = "";

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0); /* as another program may have left it */
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[1]);
    assert_int_equal(outfile_new_stream("-", &file), 0);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    assert_string_equal(outfile_path(file), "standard output");

    /* More than a pipe holds, taken out by another process: waits where it is full. */
    const size_t size = 1 << 20;
    char *bytes = calloc(1, size);
    assert_non_null(bytes);
    pid_t reader = fork();
    if (reader == 0) {
        size_t sum = 0;
        for (ssize_t got = -1; got != 0; usleep(100)) {
            got = read(ends[0], bytes, 65536);
            sum += got > 0 ? (size_t)got : 0;
            if (sum == size)
                _exit(0);
        }
        _exit(1);
    }
    assert_int_equal(io_write(outfile_fd(file), bytes, size), 0);
    assert_int_equal(outfile_commit(file), 0);
    int status = 1;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    outfile_free(file);
    assert_int_equal(read(ends[0], content, sizeof(content)), 0);
    close(ends[0]);
    free(bytes);
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
        cmocka_unit_test_setup_teardown(where_a_name_is_taken_nothing_is_done, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(no_privilege_is_needed_for_a_name, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(what_is_not_committed_leaves_nothing, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(revoking_takes_the_name_away, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(revoking_leaves_what_took_a_place, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(a_fifo_is_a_stream, make_scratch, remove_scratch),
        cmocka_unit_test(standard_output_is_a_stream),
        cmocka_unit_test_setup_teardown(the_umask_counts, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(a_missing_directory_is_an_error, make_scratch,
                                        remove_scratch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
