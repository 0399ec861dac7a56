/* SPDX-License-Identifier: MIT */
/*
 * The entries of a DEBUG_INFO record: address, line, column, file name, NUL, with nothing between
 * them.
 *
 * V8 before 14.6 frees the file name of some functions before it writes it: its first 16 bytes are
 * then pointers of the allocator, with NULs in them, so that the next entry seems to begin too
 * early. The entry's size is still right, though: the name of the function has the path that was
 * overwritten, and where the next entry begins is seen by its address.
 */
#include "debug.h"

#include "jitinject/bytes.h"

#include <string.h>

/* Records are padded to this. */
#define PADDING_MAX 7

/* "\xff" stands for the file of the entry before. */
static bool is_same_file(const struct debug_text *file)
{
    return file->size == 1 && (uint8_t)file->at[0] == 0xff;
}

static bool is_equal(const struct debug_text *a, const struct debug_text *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->at, b->at, a->size) == 0);
}

static bool is_text(const struct debug_text *file)
{
    unsigned controls = 0; /* counted to the end, without a branch: many bytes at a time */

    for (size_t i = 0; i < file->size; i++)
        controls += (uint8_t)file->at[i] < ' ' || file->at[i] == 0x7f;
    return controls == 0;
}

/* Whether what is at `next` can stand behind an entry: one more, or the end of the record. */
static bool goes_on(const struct debug_parser *parser, const uint8_t *next)
{
    if (parser->left == 0)
        return parser->end - next <= PADDING_MAX;
    if (parser->end - next <= ENTRY_FILE)
        return false;
    const uint64_t addr = bytes_u64(next + ENTRY_ADDR, parser->swapped);
    return addr >= parser->low && addr <= parser->high;
}

/* Takes the path of the function's name that makes the entry's size come out right, if there is
 * one.
 */
static void take_overwritten(struct debug_parser *parser, const uint8_t *file)
{
    debug_name_parse(parser->name);
    for (size_t i = 0; i < parser->name->path_count; i++) {
        const struct debug_text *path = &parser->name->paths[i];
        if (path->size < (size_t)(parser->end - file) && file[path->size] == '\0' &&
            goes_on(parser, file + path->size + 1)) {
            parser->last_file = *path;
            parser->at = file + path->size + 1;
            return;
        }
    }
}

/* The entry at `at`, of parser->last_file. */
static void take_entry(const struct debug_parser *parser, const uint8_t *at,
                       struct jitdump_line *entry)
{
    const int32_t line = (int32_t)bytes_u32(at + ENTRY_LINE, parser->swapped);
    const int32_t column = (int32_t)bytes_u32(at + ENTRY_COLUMN, parser->swapped);

    entry->offset = (int64_t)(bytes_u64(at + ENTRY_ADDR, parser->swapped) - parser->base);
    entry->line = line > 0 ? (uint32_t)line : 0;
    entry->column = column > 0 ? (uint32_t)column : 0;
    entry->file = parser->last_file.at;
    entry->file_size = parser->last_file.size;
    entry->is_whole = false;
}

/*
 * Entries of the same file as the one before, with one more behind each: nearly all are like that.
 * How many.
 */
static size_t parse_same_file(struct debug_parser *parser, struct jitdump_line *entries, size_t max)
{
    const struct debug_text last = parser->last_file;
    const size_t size = ENTRY_FILE + last.size + 1;
    const uint8_t *at = parser->at;
    size_t count = 0;

    if (last.size == 0 || parser->left == 0)
        return 0;
    if (max > parser->left - 1)
        max = (size_t)(parser->left - 1);
    for (; count < max && (size_t)(parser->end - at) > size + ENTRY_FILE; at += size) {
        const uint64_t next = bytes_u64(at + size + ENTRY_ADDR, parser->swapped);
        if (at[size - 1] != '\0' || memcmp(at + ENTRY_FILE, last.at, last.size) != 0 ||
            next < parser->low || next > parser->high)
            break;
        take_entry(parser, at, &entries[count++]);
    }
    parser->at = at;
    parser->left -= count;
    return count;
}

/* One entry, whatever it is like. */
static bool parse_any(struct debug_parser *parser, struct jitdump_line *entry)
{
    const uint8_t *at = parser->at;

    if (parser->left == 0 || parser->end - at <= ENTRY_FILE)
        return false;
    const uint8_t *file = at + ENTRY_FILE;
    const uint8_t *nul = memchr(file, '\0', (size_t)(parser->end - file));
    if (!nul)
        return false;
    const struct debug_text name = {.at = (const char *)file, .size = (size_t)(nul - file)};
    const bool again = is_equal(&name, &parser->last_file);
    parser->at = nul + 1;
    parser->left--;

    if (!is_same_file(&name)) {
        if (!again)
            parser->last_file = name;
        if (!goes_on(parser, parser->at) || (!again && !is_text(&name)))
            take_overwritten(parser, file);
    }
    take_entry(parser, at, entry);
    return true;
}

size_t debug_parse(struct debug_parser *parser, struct jitdump_line *entries, size_t max)
{
    size_t count = 0;

    while (count < max) {
        count += parse_same_file(parser, entries + count, max - count);
        if (count == max || !parse_any(parser, &entries[count]))
            break;
        count++;
    }
    return count;
}
