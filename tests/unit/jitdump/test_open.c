/* SPDX-License-Identifier: MIT */
/* Headers, packed dumps, and what is no dump at all. */
#include "builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void put_numbered(struct builder *builder, uint64_t index)
{
    const struct load load = {.time = 1000 + index,
                              .addr = 0x1000 * (index + 1),
                              .index = index,
                              .name = "f",
                              .size = 16};

    put_load(builder, &load);
}

static void put_two_loads(struct builder *builder)
{
    put_numbered(builder, 0);
    put_numbered(builder, 1);
}

static void header_of_both_byte_orders(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, big_endian);
        put_header(&builder);
        put_two_loads(&builder);
        open_index(&opened, write_dump(&builder));

        const struct jitdump_header *header = jitdump_header(opened.dump);
        assert_int_equal(header->version, 1);
        assert_int_equal(header->total_size, 40);
        assert_int_equal(header->elf_machine, 62);
        assert_int_equal(header->pid, 100);
        assert_int_equal(header->timestamp, 123456);
        assert_int_equal(header->flags, 0);
        assert_int_equal(header->swapped, big_endian != NATIVE_BIG_ENDIAN);
        assert_false(header->arch_timestamps);
        assert_string_equal(jitdump_path(opened.dump), builder.path);
        assert_int_equal(jitdump_size(opened.dump), builder.size);

        struct stat stat_now;
        dev_t device;
        ino_t inode;
        jitdump_identity(opened.dump, &device, &inode);
        assert_int_equal(stat(builder.path, &stat_now), 0);
        assert_int_equal(device, stat_now.st_dev);
        assert_int_equal(inode, stat_now.st_ino);

        assert_int_equal(opened.index.count, 2);
        assert_int_equal(jitdump_index_code(&opened.index, 1)->addr, 0x2000);
        assert_int_equal(opened.reports.warnings + opened.reports.notes, 0);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void expect_not_a_dump(const char *path, int err, const char *reason)
{
    struct reports reports;
    struct jitdump *dump;

    reports_init(&reports);
    assert_int_equal(jitdump_open(path, &reports.diag, &dump), err);
    assert_null(dump);
    assert_int_equal(reports.warnings, 1);
    assert_non_null(strstr(reports.last_text, reason));
}

static void files_that_are_no_dumps(void **state)
{
    struct builder builder;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    expect_not_a_dump(write_dump_cut(&builder, 0), -EBADMSG, "empty");
    for (size_t size = 1; size < 4; size++)
        expect_not_a_dump(write_dump_cut(&builder, size), -EBADMSG, "not a jitdump");
    for (size_t size = 4; size < 40; size++)
        expect_not_a_dump(write_dump_cut(&builder, size), -EBADMSG, "cut within its header");
    builder.bytes[0] ^= 1;
    expect_not_a_dump(write_dump(&builder), -EBADMSG, "not a jitdump");
    expect_not_a_dump("/nonexistent/jit-1.dump", -ENOENT, "No such file");
    expect_not_a_dump("/tmp", -EBADMSG, "not a regular file");

    unlink(builder.path);
    assert_int_equal(mkfifo(builder.path, 0600), 0);
    expect_not_a_dump(builder.path, -EBADMSG, "not a regular file");
    builder_done(&builder);
}

/* Offsets in it would not fit where they are kept. */
static void larger_than_any_dump(void **state)
{
    struct builder builder;
    char path[32];
    const int fd = memfd_create("dump", 0); /* files on disks cannot be so large */

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    assert_int_equal(write(fd, builder.bytes, builder.size), builder.size);
    assert_int_equal(ftruncate(fd, (off_t)1 << CODE_OFFSET_BITS), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    expect_not_a_dump(path, -EBADMSG, "larger than a dump can be");
    close(fd);
    builder_done(&builder);
}

static void versions_are_accepted_with_a_word(void **state)
{
    static const struct {
        uint32_t version;
        size_t notes, warnings;
    } cases[] = {{0, 1, 0}, {1, 0, 0}, {2, 0, 1}, {UINT32_MAX, 0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, false);
        put_header(&builder);
        set_u32(&builder, 4, cases[i].version);
        put_two_loads(&builder);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(jitdump_header(opened.dump)->version, cases[i].version);
        assert_int_equal(opened.index.count, 2);
        assert_int_equal(opened.reports.notes, cases[i].notes);
        assert_int_equal(opened.reports.warnings, cases[i].warnings);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void only_known_flags_alone_count(void **state)
{
    static const struct {
        uint64_t flags;
        bool arch;
        size_t warnings;
    } cases[] = {{0, false, 0},
                 {1, true, 0},
                 {2, false, 1},
                 {3, false, 1},
                 {0x6d766c6c2f780301, false, 1},
                 {UINT64_C(1) << 63, false, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, i % 2);
        put_header(&builder);
        set_u64(&builder, 32, cases[i].flags);
        put_two_loads(&builder);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(jitdump_header(opened.dump)->flags, cases[i].flags);
        assert_int_equal(jitdump_header(opened.dump)->arch_timestamps, cases[i].arch);
        assert_int_equal(opened.reports.warnings, cases[i].warnings);
        assert_int_equal(opened.index.count, 2);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void records_begin_where_the_header_ends(void **state)
{
    static const size_t sizes[] = {40, 41, 48, 56, 80, 88, 4096, 70000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, false);
        put_header(&builder);
        set_u32(&builder, 8, (uint32_t)sizes[i]);
        put_fill(&builder, 0x55, sizes[i] - 40);
        put_two_loads(&builder);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(opened.index.count, 2);
        assert_int_equal(jitdump_index_code(&opened.index, 0)->name, sizes[i] + 56);
        assert_int_equal(opened.reports.warnings, 0);
        close_index(&opened);
        builder_done(&builder);
    }
}

/* A size that cannot be, or that leads to no records, while there are some at 40. */
static void wrong_header_sizes_fall_back_to_40(void **state)
{
    static const uint32_t sizes[] = {0, 1, 39, 44, 100, 5000, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, false);
        put_header(&builder);
        set_u32(&builder, 8, sizes[i]);
        put_two_loads(&builder);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(opened.index.count, 2);
        assert_int_equal(jitdump_index_code(&opened.index, 0)->name, 40 + 56);
        assert_int_equal(opened.reports.warnings, 1);
        assert_int_equal(opened.reports.last_offset, 8);
        close_index(&opened);
        builder_done(&builder);
    }
}

static void wrong_header_size_and_no_records(void **state)
{
    struct builder builder;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    set_u32(&builder, 8, 12);
    put_fill(&builder, 0x55, 100);
    expect_not_a_dump(write_dump(&builder), -EBADMSG, "claims a size of 12");
    builder_done(&builder);
}

static void header_alone_is_an_empty_dump(void **state)
{
    static const size_t sizes[] = {40, 48};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct builder builder;
        struct opened opened;
        builder_init(&builder, false);
        put_header(&builder);
        set_u32(&builder, 8, (uint32_t)sizes[i]);
        put_fill(&builder, 0x55, sizes[i] - 40);
        open_index(&opened, write_dump(&builder));
        assert_int_equal(opened.index.count, 0);
        assert_int_equal(opened.index.stats.first_time, 0);
        assert_int_equal(opened.reports.warnings, 0);
        close_index(&opened);
        builder_done(&builder);
    }
}

/* Replaces what is built by its gzip form. */
static void pack(struct builder *builder)
{
    uLong bound = compressBound(builder->size) + 64;
    uint8_t *packed = malloc(bound);
    z_stream stream = {.next_in = builder->bytes,
                       .avail_in = (uInt)builder->size,
                       .next_out = packed,
                       .avail_out = (uInt)bound};

    assert_non_null(packed);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    builder->size = 0;
    put_bytes(builder, packed, stream.total_out);
    deflateEnd(&stream);
    free(packed);
}

static void gzip_is_unpacked(void **state)
{
    struct builder builder;
    struct opened opened;

    (void)state;
    builder_init(&builder, false);
    put_header(&builder);
    for (unsigned i = 0; i < 2000; i++)
        put_numbered(&builder, i);
    size_t unpacked = builder.size;
    pack(&builder);
    open_index(&opened, write_dump(&builder));
    assert_int_equal(jitdump_size(opened.dump), unpacked);
    assert_int_equal(opened.index.count, 2000);
    assert_int_equal(opened.reports.warnings, 0);
    check_pattern(&opened, jitdump_index_code(&opened.index, 1999));

    struct stat packed;
    dev_t device;
    ino_t inode;
    jitdump_identity(opened.dump, &device, &inode);
    assert_int_equal(stat(builder.path, &packed), 0);
    assert_int_equal(inode, packed.st_ino);
    close_index(&opened);

    /* Cut: what can be unpacked counts. */
    struct reports reports;
    struct jitdump *cut;
    reports_init(&reports);
    assert_int_equal(jitdump_open(write_dump_cut(&builder, builder.size / 2), &reports.diag, &cut),
                     0);
    assert_int_equal(reports.warnings, 1);
    assert_non_null(strstr(reports.last_text, "gzip"));
    jitdump_free(cut);
    open_index(&opened, builder.path);
    assert_in_range(opened.index.count, 500, 1999);
    check_pattern(&opened, jitdump_index_code(&opened.index, opened.index.count - 1));
    close_index(&opened);

    expect_not_a_dump(write_dump_cut(&builder, 0), -EBADMSG, "empty");
    builder_done(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_of_both_byte_orders),
        cmocka_unit_test(files_that_are_no_dumps),
        cmocka_unit_test(larger_than_any_dump),
        cmocka_unit_test(versions_are_accepted_with_a_word),
        cmocka_unit_test(only_known_flags_alone_count),
        cmocka_unit_test(records_begin_where_the_header_ends),
        cmocka_unit_test(wrong_header_sizes_fall_back_to_40),
        cmocka_unit_test(wrong_header_size_and_no_records),
        cmocka_unit_test(header_alone_is_an_empty_dump),
        cmocka_unit_test(gzip_is_unpacked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
