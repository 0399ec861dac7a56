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

const char *lines_of(const struct opened *opened, const struct code *code, uint64_t bias)
{
    static char text[65536];
    struct jitdump_lines *lines;
    struct jitdump_line line;
    size_t used = 0;

    text[0] = '\0';
    assert_int_equal(jitdump_lines_new(&lines), 0);
    assert_int_equal(jitdump_lines_open(lines, opened->dump, code, bias), 0);
    while (jitdump_lines_next(lines, &line) && used < sizeof(text) - 1024)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%lld %.*s:%u:%u\n",
                                 (long long)line.offset, (int)line.file_size, line.file, line.line,
                                 line.column);
    jitdump_lines_free(lines);
    return text;
}
