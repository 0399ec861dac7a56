/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <string.h>

size_t put_table(struct builder *builder, uint64_t addr, const struct entry *entries, size_t count,
                 uint64_t said, size_t padding)
{
    size_t size = 32 + padding;

    for (size_t i = 0; i < count; i++)
        size += 16 + strlen(entries[i].file) + 1;
    const size_t offset = put_prefix(builder, JITDUMP_DEBUG_INFO, (uint32_t)size, 1);
    put_u64(builder, addr);
    put_u64(builder, said);
    for (size_t i = 0; i < count; i++) {
        put_u64(builder, entries[i].addr);
        put_u32(builder, (uint32_t)entries[i].line);
        put_u32(builder, (uint32_t)entries[i].column);
        put_bytes(builder, entries[i].file, strlen(entries[i].file) + 1);
    }
    put_fill(builder, 0, padding);
    return offset;
}

#define TEXT_SIZE 65536

/* Reads so many entries at once. */
static void print_lines(const struct opened *opened, const struct code *code, uint64_t bias,
                        size_t at_once, char text[TEXT_SIZE])
{
    struct jitdump_line entries[8];
    struct jitdump_lines *lines;
    size_t used = 0, count;

    text[0] = '\0';
    assert_int_equal(jitdump_lines_new(&lines), 0);
    assert_int_equal(jitdump_lines_open(lines, opened->dump, code, bias), 0);
    while ((count = jitdump_lines_next(lines, entries, at_once)) > 0) {
        assert_in_range(count, 1, at_once);
        for (size_t i = 0; i < count && used < TEXT_SIZE - 1024; i++)
            used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%lld %.*s:%u:%u\n",
                                     (long long)entries[i].offset, (int)entries[i].file_size,
                                     entries[i].file, entries[i].line, entries[i].column);
    }
    jitdump_lines_free(lines);
}

/* It makes no difference how many are read at once. */
const char *lines_of(const struct opened *opened, const struct code *code, uint64_t bias)
{
    static char one_by_one[TEXT_SIZE], text[TEXT_SIZE];

    print_lines(opened, code, bias, 1, one_by_one);
    for (size_t at_once = 2; at_once <= 8; at_once++) {
        print_lines(opened, code, bias, at_once, text);
        assert_string_equal(text, one_by_one);
    }
    return text;
}
