/* SPDX-License-Identifier: MIT */
#include "debug.h"

#include "jitinject/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* Longer names are not looked at: no path is longer. */
#define NAME_MAX_SIZE 4352

struct jitdump_lines {
    struct jitdump_view view;
    struct debug_parser parser;
    struct debug_name name;
    bool one_line; /* the entries are of no use, but the function's own line is known */
    char text[NAME_MAX_SIZE];
};

int jitdump_lines_new(struct jitdump_lines **out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? 0 : -ENOMEM;
}

void jitdump_lines_free(struct jitdump_lines *lines)
{
    if (!lines)
        return;
    jitdump_view_release(&lines->view);
    free(lines);
}

static int read_name(struct jitdump_lines *lines, const struct jitdump *dump,
                     const struct code *code)
{
    lines->name.text = (struct debug_text){0};
    lines->name.is_parsed = false;
    if (code->name_size > sizeof(lines->text))
        return 0;
    int err = jitdump_view_copy(&lines->view, dump, code->name, code->name_size, lines->text);
    if (!err)
        lines->name.text = (struct debug_text){.at = lines->text, .size = code->name_size};
    return err;
}

/* Addresses that an entry of the code can have, with or without a bias. */
static void set_range(struct jitdump_lines *lines, uint64_t addr, uint64_t size, uint64_t bias)
{
    struct debug_parser *parser = &lines->parser;
    const uint64_t beyond = bias > DEBUG_BIAS ? bias : DEBUG_BIAS;

    parser->low = addr > DEBUG_BEFORE ? addr - DEBUG_BEFORE : 0;
    if (__builtin_add_overflow(addr, size, &parser->high) ||
        __builtin_add_overflow(parser->high, beyond, &parser->high))
        parser->high = UINT64_MAX;
    parser->base = addr + bias;
}

/*
 * Code of V8's Sparkplug has offsets in the bytecode for those in the code. The code is five to ten
 * times as long, so they end early in it; right ones would go on to its end.
 */
static bool has_bytecode_offsets(struct jitdump_lines *lines, const struct code *code)
{
    struct jitdump_line entry;
    int64_t last = 0;

    if (!debug_name_has_mark(&lines->name))
        return false;
    debug_name_parse(&lines->name);
    if (!lines->name.is_baseline)
        return false;
    struct debug_parser parser = lines->parser;
    while (debug_parse(&parser, &entry, 1))
        if (entry.offset < (int64_t)code->size && entry.offset > last)
            last = entry.offset;
    return last < code->size / 3;
}

/*
 * A record that was paired by its place in the dump may have the addresses of another mapping of
 * the code. Then they count from that record's own address of the code.
 */
static uint64_t find_base(const struct jitdump_lines *lines, uint64_t record_addr, uint64_t addr)
{
    struct jitdump_line entry;
    struct debug_parser parser = lines->parser;

    parser.base = 0;
    if (!debug_parse(&parser, &entry, 1))
        return addr;
    const uint64_t first = (uint64_t)entry.offset;
    return first >= parser.low && first <= parser.high ? addr : record_addr;
}

int jitdump_lines_open(struct jitdump_lines *lines, const struct jitdump *dump,
                       const struct code *code, uint64_t bias)
{
    const uint8_t *record;
    uint64_t addr;

    lines->parser = (struct debug_parser){.name = &lines->name};
    lines->one_line = false;
    if (!code->debug)
        return 0;
    const bool swapped = dump->header.swapped;
    lines->parser.swapped = swapped;
    int err = jitdump_view_at(&lines->view, dump, code->debug, DEBUG_ENTRIES, &record);
    if (err || !record)
        return err;
    const uint32_t size = bytes_u32(record + FRAME_TOTAL_SIZE, swapped);
    if (size < DEBUG_ENTRIES)
        return 0;
    err = jitdump_view_at(&lines->view, dump, code->debug, size, &record);
    if (err || !record)
        return err;
    /* Entries of what was moved are for where it was loaded. */
    err = jitdump_loaded_addr(&lines->view, dump, code, &addr);
    err = err ?: read_name(lines, dump, code);
    if (err)
        return err;

    lines->parser.at = record + DEBUG_ENTRIES;
    lines->parser.end = record + size;
    lines->parser.left = bytes_u64(record + DEBUG_NR_ENTRY, swapped);
    set_range(lines, addr, code->size, bias);
    const uint64_t record_addr = bytes_u64(record + DEBUG_CODE_ADDR, swapped);
    if (record_addr != addr)
        set_range(lines, find_base(lines, record_addr, addr), code->size, bias);
    lines->one_line = has_bytecode_offsets(lines, code);
    return 0;
}

size_t jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_line *entries, size_t max)
{
    if (!lines->one_line)
        return debug_parse(&lines->parser, entries, max);
    if (max == 0 || !debug_parse(&lines->parser, entries, 1))
        return 0;
    entries->offset = 0;
    entries->line = (uint32_t)lines->name.line;
    entries->column = (uint32_t)lines->name.column;
    entries->is_whole = true;
    lines->parser.left = 0;
    return 1;
}
