/* SPDX-License-Identifier: MIT */
#include "builder.h"

#include "jitinject/bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void builder_init(struct builder *builder, bool big_endian)
{
    *builder = (struct builder){.big_endian = big_endian};
}

void builder_done(struct builder *builder)
{
    if (builder->path[0])
        unlink(builder->path);
    free(builder->bytes);
    *builder = (struct builder){0};
}

static void reserve(struct builder *builder, size_t more)
{
    if (builder->size + more <= builder->capacity)
        return;
    builder->capacity = (builder->size + more) * 2;
    builder->bytes = realloc(builder->bytes, builder->capacity);
    assert_non_null(builder->bytes);
}

void put_bytes(struct builder *builder, const void *bytes, size_t size)
{
    reserve(builder, size);
    if (size)
        memcpy(builder->bytes + builder->size, bytes, size);
    builder->size += size;
}

void put_fill(struct builder *builder, uint8_t byte, size_t count)
{
    reserve(builder, count);
    if (count)
        memset(builder->bytes + builder->size, byte, count);
    builder->size += count;
}

static void set_number(struct builder *builder, size_t at, uint64_t value, size_t size)
{
    assert_true(at + size <= builder->size);
    for (size_t i = 0; i < size; i++) {
        size_t place = builder->big_endian ? size - 1 - i : i;
        builder->bytes[at + place] = (uint8_t)(value >> (8 * i));
    }
}

void set_u32(struct builder *builder, size_t at, uint32_t value)
{
    set_number(builder, at, value, 4);
}

void set_u64(struct builder *builder, size_t at, uint64_t value)
{
    set_number(builder, at, value, 8);
}

void put_u32(struct builder *builder, uint32_t value)
{
    put_fill(builder, 0, 4);
    set_u32(builder, builder->size - 4, value);
}

void put_u64(struct builder *builder, uint64_t value)
{
    put_fill(builder, 0, 8);
    set_u64(builder, builder->size - 8, value);
}

void put_header(struct builder *builder)
{
    put_u32(builder, 0x4A695444);
    put_u32(builder, 1);
    put_u32(builder, 40);
    put_u32(builder, 62);
    put_u32(builder, 0xDEADBEEF);
    put_u32(builder, 100);
    put_u64(builder, 123456);
    put_u64(builder, 0);
}

size_t put_prefix(struct builder *builder, uint32_t id, uint32_t total_size, uint64_t time)
{
    size_t offset = builder->size;

    put_u32(builder, id);
    put_u32(builder, total_size);
    put_u64(builder, time);
    return offset;
}

uint8_t code_pattern(uint64_t index, size_t at)
{
    return (uint8_t)(1 + (index * 31 + at * 7) % 255);
}

size_t put_load(struct builder *builder, const struct load *load)
{
    size_t name_size = strlen(load->name) + 1;
    size_t tail = load->no_bytes ? 0 : load->slack_before + load->size + load->slack_after;
    uint32_t pid = load->pid ? load->pid : 100;
    size_t offset = put_prefix(builder, 0, (uint32_t)(56 + name_size + tail), load->time);

    put_u32(builder, pid);
    put_u32(builder, pid + 1);
    put_u64(builder, 0x1111); /* vma: no reader uses it */
    put_u64(builder, load->addr);
    put_u64(builder, load->size);
    put_u64(builder, load->index);
    put_bytes(builder, load->name, name_size);
    if (load->no_bytes)
        return offset;
    put_fill(builder, 0, load->slack_before);
    if (load->code)
        put_bytes(builder, load->code, load->size);
    for (size_t i = 0; !load->code && i < load->size; i++)
        put_fill(builder, code_pattern(load->index, i), 1);
    put_fill(builder, 0, load->slack_after);
    return offset;
}

size_t put_move(struct builder *builder, uint64_t time, uint32_t pid, uint64_t index,
                uint64_t new_addr, uint64_t size)
{
    size_t offset = put_prefix(builder, 1, 64, time);

    put_u32(builder, pid);
    put_u32(builder, pid + 1);
    put_u64(builder, 0x2222);
    put_u64(builder, 0x3333);
    put_u64(builder, new_addr);
    put_u64(builder, size);
    put_u64(builder, index);
    return offset;
}

size_t put_debug(struct builder *builder, uint64_t time, uint64_t addr)
{
    size_t offset = put_prefix(builder, 2, 32 + 16 + 5, time);

    put_u64(builder, addr);
    put_u64(builder, 1);
    put_u64(builder, addr);
    put_u32(builder, 7);
    put_u32(builder, 0);
    put_bytes(builder, "f.js", 5);
    return offset;
}

size_t put_close(struct builder *builder, uint64_t time)
{
    return put_prefix(builder, 3, 16, time);
}

size_t put_unwinding(struct builder *builder, uint64_t time, uint64_t size, uint64_t header_size,
                     bool header_first)
{
    static const uint8_t usual[] = {0x01, 0x1b, 0x03, 0x3b};
    static const uint8_t llvm[] = {0x01, 0x0c, 0xff, 0xff};
    static const uint8_t cie[] = {0x14, 0, 0, 0};
    size_t padding = (8 - size % 8) % 8;
    size_t offset = put_prefix(builder, 4, (uint32_t)(40 + size + padding), time);

    put_u64(builder, size);
    put_u64(builder, header_size);
    put_u64(builder, 0);
    size_t data = builder->size;
    put_fill(builder, 0, size + padding);
    if (size > header_size)
        memcpy(builder->bytes + data + (header_first ? header_size : 0), cie, sizeof(cie));
    if (header_size >= 4)
        memcpy(builder->bytes + data + (header_first ? 0 : size - header_size),
               header_first ? llvm : usual, 4);
    return offset;
}

const char *write_dump_cut(struct builder *builder, size_t size)
{
    int fd;

    if (builder->path[0]) {
        fd = open(builder->path, O_WRONLY | O_TRUNC);
    } else {
        strcpy(builder->path, "/tmp/test-jitdump-XXXXXX");
        fd = mkstemp(builder->path);
    }
    assert_true(fd >= 0);
    assert_int_equal(write(fd, builder->bytes, size), size);
    close(fd);
    return builder->path;
}

const char *write_dump(struct builder *builder)
{
    return write_dump_cut(builder, builder->size);
}

static void take_report(void *context, const struct diag_report *report)
{
    struct reports *reports = context;

    reports->notes += report->severity == DIAG_NOTE;
    reports->errors += report->severity == DIAG_ERROR;
    if (report->severity != DIAG_WARNING)
        return;
    reports->warnings++;
    reports->last_offset = report->offset;
    snprintf(reports->last_text, sizeof(reports->last_text), "%s", report->text);
}

void reports_init(struct reports *reports)
{
    *reports = (struct reports){.diag = {take_report, reports}};
}

void open_index(struct opened *opened, const char *path)
{
    *opened = (struct opened){0};
    reports_init(&opened->reports);
    assert_int_equal(jitdump_open(path, &opened->reports.diag, &opened->dump), 0);
    assert_int_equal(jitdump_index_build(opened->dump, 5, &opened->reports.diag, &opened->index),
                     0);
}

void close_index(struct opened *opened)
{
    jitdump_index_clear(&opened->index);
    jitdump_free(opened->dump);
}

uint64_t code_index(const struct opened *opened, const struct code *code)
{
    uint8_t bytes[8]; /* the last field before the name */

    assert_int_equal(pread(jitdump_fd(opened->dump), bytes, 8, (off_t)(code->name - 8)), 8);
    return bytes_u64(bytes, jitdump_header(opened->dump)->swapped);
}

void check_pattern(const struct opened *opened, const struct code *code)
{
    const int fd = jitdump_fd(opened->dump);
    const uint64_t index = code_index(opened, code);

    assert_false(code->flags & CODE_NO_BYTES);
    for (size_t i = 0; i < code->size; i++) {
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, (off_t)(code->name + code->code_delta + i)), 1);
        assert_int_equal(byte, code_pattern(index, i));
    }
}

static uint32_t random_state;

void random_begin(uint32_t seed)
{
    random_state = seed;
}

uint32_t next_random(void)
{
    random_state ^= random_state << 13; /* xorshift32, Marsaglia 2003 */
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}
