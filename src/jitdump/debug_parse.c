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

static bool is_text(const struct debug_text *file)
{
    for (size_t i = 0; i < file->size; i++)
        if ((uint8_t)file->at[i] < ' ' || file->at[i] == 0x7f)
            return false;
    return true;
}

/* Whether what is at `next` can stand behind an entry: one more, or the end of the record. */
static bool goes_on(const struct debug_parser *parser, const uint8_t *next)
{
    if (parser->left == 0)
        return parser->end - next <= PADDING_MAX;
    if (parser->end - next <= DEBUG_ENTRY_FILE)
        return false;
    const uint64_t addr = bytes_u64(next, parser->swapped);
    return addr >= parser->low && addr <= parser->high;
}

/* The path of the function's name that makes the entry's size come out right, or NULL. */
static const struct debug_text *find_overwritten(const struct debug_parser *parser,
                                                 const uint8_t *file)
{
    for (size_t i = 0; i < parser->name->path_count; i++) {
        const struct debug_text *path = &parser->name->paths[i];
        if (path->size < (size_t)(parser->end - file) && file[path->size] == '\0' &&
            goes_on(parser, file + path->size + 1))
            return path;
    }
    return NULL;
}

/*
 * The end of the name of an entry's file. Nearly always it is the name of the entry before, which
 * *again says. NULL: it has no end.
 */
static const uint8_t *find_nul(const struct debug_parser *parser, const uint8_t *file, bool *again)
{
    const struct debug_text *last = &parser->last_file;
    const size_t room = (size_t)(parser->end - file);

    *again = last->size > 0 && last->size < room && file[last->size] == '\0' &&
             memcmp(file, last->at, last->size) == 0;
    return *again ? file + last->size : memchr(file, '\0', room);
}

bool debug_parse(struct debug_parser *parser, struct debug_entry *entry)
{
    bool again;

    if (parser->left == 0 || parser->end - parser->at <= DEBUG_ENTRY_FILE)
        return false;
    const uint8_t *file = parser->at + DEBUG_ENTRY_FILE;
    const uint8_t *nul = find_nul(parser, file, &again);
    if (!nul)
        return false;
    entry->addr = bytes_u64(parser->at, parser->swapped);
    entry->line = (int32_t)bytes_u32(parser->at + DEBUG_ENTRY_LINE, parser->swapped);
    entry->column = (int32_t)bytes_u32(parser->at + DEBUG_ENTRY_COLUMN, parser->swapped);
    entry->file = again
                      ? parser->last_file
                      : (struct debug_text){.at = (const char *)file, .size = (size_t)(nul - file)};
    parser->at = nul + 1;
    parser->left--;

    if (is_same_file(&entry->file)) {
        entry->file = parser->last_file;
    } else if (!goes_on(parser, parser->at) || (!again && !is_text(&entry->file))) {
        const struct debug_text *path = find_overwritten(parser, file);
        if (path) {
            entry->file = *path;
            parser->at = file + path->size + 1;
        }
    }
    parser->last_file = entry->file;
    return true;
}
