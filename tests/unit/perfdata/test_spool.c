/* SPDX-License-Identifier: MIT */
/* Input that is no regular file: pipes, fifos, devices, standard input. */
#include "build.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What fits into memory by the header, and some more. */
#define LARGE ((32u << 20) + (1u << 20))

static const struct build_attr one_attr = {
    .sample_type = IP | TID | TIME, .flags = FLAG_SAMPLE_ID_ALL, .ids = {7}, .id_count = 1};

/* A file whose n-th record holds n; file form or pipe form. */
static void make_content(struct build *content, size_t records, size_t body, bool pipe)
{
    struct build data = {0};
    const struct build_file file = {.attrs = &one_attr, .attr_count = 1, .data = &data};

    for (size_t i = 0; i < records; i++) {
        size_t record = build_record(&data, PERFDATA_READ, 0);
        build_u64(&data, i);
        build_zeros(&data, body);
        build_end(&data, record);
    }
    if (pipe) {
        build_pipe(content);
        build_bytes(content, data.bytes, data.size);
    } else {
        build_file(content, &file);
    }
    build_free(&data);
}

static _Noreturn void write_pieces(int fd, const struct build *content, size_t piece)
{
    for (size_t at = 0; at < content->size;) {
        size_t left = content->size - at;
        ssize_t put = write(fd, content->bytes + at, left < piece ? left : piece);
        if (put < 0)
            _exit(1);
        at += (size_t)put;
    }
    _exit(0);
}

static void end_writer(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* A pipe with a process that writes `piece` bytes at a time; returns the end to read from. */
static int open_pipe(const struct build *content, size_t piece, pid_t *writer)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    *writer = fork();
    assert_true(*writer >= 0);
    if (!*writer) {
        close(ends[0]);
        write_pieces(ends[1], content, piece);
    }
    close(ends[1]);
    return ends[0];
}

/* Opens and reads `path` twice, and expects the records of make_content. */
static void expect_records(const char *path, size_t records)
{
    struct reports reports;
    struct diag diag = reports_diag(&reports);
    struct perfdata_record record;
    struct perfdata *data;

    assert_int_equal(perfdata_open(path, NULL, &diag, &data), 0);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < records; i++) {
            uint64_t number;
            assert_int_equal(perfdata_next(data, &record), 1);
            memcpy(&number, record.bytes + 8, sizeof(number));
            assert_int_equal(number, i);
        }
        assert_int_equal(perfdata_next(data, &record), 0);
        perfdata_rewind(data);
    }
    assert_int_equal(reports.errors + reports.warnings, 0);
    perfdata_free(data);
}

static void through_a_pipe(void **state)
{
    static const size_t pieces[] = {1, 7, 4096, 1 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        for (int pipe = 0; pipe < 2; pipe++) {
            struct build content = {0};
            char path[32];
            pid_t writer;

            make_content(&content, 50, 8 * pieces[i] % 4096, pipe);
            int fd = open_pipe(&content, pieces[i], &writer);
            snprintf(path, sizeof(path), "/dev/fd/%d", fd);
            expect_records(path, 50);
            end_writer(writer);
            close(fd);
            build_free(&content);
        }
    }
}

static void fifo_whose_writer_comes_late(void **state)
{
    char directory[] = "/tmp/test-perfdata-XXXXXX", path[64];
    struct build content = {0};

    (void)state;
    make_content(&content, 3, 16, false);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/fifo", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (!writer) {
        usleep(50000);
        int fd = open(path, O_WRONLY);
        usleep(50000);
        write_pieces(fd, &content, 100);
    }
    expect_records(path, 3);
    end_writer(writer);
    unlink(path);
    rmdir(directory);
    build_free(&content);
}

/* `fd` as standard input for as long as `path` is read. */
static void expect_on_stdin(int fd, size_t records)
{
    int before = dup(STDIN_FILENO);

    assert_true(dup2(fd, STDIN_FILENO) >= 0);
    expect_records("-", records);
    assert_true(dup2(before, STDIN_FILENO) >= 0);
    close(before);
}

static void standard_input(void **state)
{
    struct build content = {0}, behind = {0};
    struct memory_file file;
    pid_t writer;

    (void)state;
    make_content(&content, 20, 100, false);
    int fd = open_pipe(&content, 1000, &writer);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0); /* as others may have set it */
    expect_on_stdin(fd, 20);
    end_writer(writer);
    close(fd);

    memory_file_new(&file, &content);
    lseek(file.fd, 0, SEEK_SET);
    expect_on_stdin(file.fd, 20);
    memory_file_free(&file);

    /* Somebody has read the line that comes before. */
    build_text(&behind, "a line", 1);
    build_bytes(&behind, content.bytes, content.size);
    memory_file_new(&file, &behind);
    lseek(file.fd, sizeof("a line"), SEEK_SET);
    expect_on_stdin(file.fd, 20);
    memory_file_free(&file);
    build_free(&content);
    build_free(&behind);
}

static void more_than_memory_is_for(void **state)
{
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL, path[32];
    struct build content = {0};
    struct reports reports;
    struct diag diag = reports_diag(&reports);
    struct perfdata *data;
    pid_t writer;

    (void)state;
    make_content(&content, LARGE / 60000, 60000, false);
    int fd = open_pipe(&content, 1 << 16, &writer);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    expect_records(path, LARGE / 60000);
    end_writer(writer);
    close(fd);

    setenv("TMPDIR", "/nowhere", 1);
    fd = open_pipe(&content, 1 << 16, &writer);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    assert_int_equal(perfdata_open(path, NULL, &diag, &data), -ENOENT);
    assert_int_equal(reports.errors, 1);
    assert_non_null(strstr(reports.text, "TMPDIR"));
    close(fd);
    end_writer(writer);

    /* What is small does not go there. */
    build_free(&content);
    make_content(&content, 10, 60000, false);
    fd = open_pipe(&content, 1 << 16, &writer);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    expect_records(path, 10);
    end_writer(writer);
    close(fd);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
    build_free(&content);
}

/* A stream of something else is not read to its end, which it may not have. */
static void what_is_no_perf_data(void **state)
{
    static const struct {
        const char *path, *word;
    } cases[] = {{"/dev/zero", "not a perf.data"}, {"/dev/null", "empty"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reports reports;
        struct diag diag = reports_diag(&reports);
        struct perfdata *data;

        assert_int_equal(perfdata_open(cases[i].path, NULL, &diag, &data), -EBADMSG);
        assert_int_equal(reports.errors, 1);
        assert_non_null(strstr(reports.text, cases[i].word));
        assert_null(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(through_a_pipe),       cmocka_unit_test(fifo_whose_writer_comes_late),
        cmocka_unit_test(standard_input),       cmocka_unit_test(more_than_memory_is_for),
        cmocka_unit_test(what_is_no_perf_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
