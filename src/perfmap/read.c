/* SPDX-License-Identifier: MIT */
#include "jitinject/perfmap.h"

#include "jitinject/array.h"
#include "jitinject/io.h"
#include "jitinject/rangemap.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Lines beyond these that are no entries are counted and no longer reported one by one. */
#define REPORT_LIMIT 16
/* Large enough that a read costs as much as its bytes, small enough for a cache. */
#define BUFFER_SIZE ((size_t)256 << 10)
/* A line's numbers, blanks and zeros around them included, have at most so many bytes. */
#define NUMBERS_MAX 256
/* A line is looked at as far as its numbers and its name may go. */
#define LINE_MAX_SEEN (NUMBERS_MAX + PERFMAP_NAME_MAX)

struct reader {
    struct perfmap *map;
    const struct diag *diag;
    char *buffer;
    uint64_t start; /* offset of buffer[0] in the file */
    size_t filled;
};

/*
 * The bytes from `offset` on: at least `need` of them, or as many as the file has. 0 or a negative
 * errno.
 */
static int view(struct reader *reader, uint64_t offset, size_t need, const char **bytes,
                size_t *have)
{
    const uint64_t left = reader->map->file.size - offset;

    *bytes = NULL;
    *have = 0;
    need = left < need ? (size_t)left : need;
    if (offset < reader->start || offset - reader->start > reader->filled ||
        reader->filled - (size_t)(offset - reader->start) < need) {
        const size_t fill = left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE;
        const ssize_t got = io_pread(reader->map->file.fd, reader->buffer, fill, offset);
        if (got < 0)
            return (int)got;
        if ((size_t)got < need)
            return -EIO; /* the file has become shorter since it was opened */
        reader->start = offset;
        reader->filled = (size_t)got;
    }
    *bytes = reader->buffer + (offset - reader->start);
    *have = reader->filled - (size_t)(offset - reader->start);
    return 0;
}

/* Offset of the next newline, or the size of the file. 0 or a negative errno. */
static int find_line_end(struct reader *reader, uint64_t offset, uint64_t *end)
{
    const char *bytes;
    size_t have;

    while (offset < reader->map->file.size) {
        int err = view(reader, offset, LINE_MAX_SEEN, &bytes, &have);
        if (err)
            return err;
        const char *newline = memchr(bytes, '\n', have);
        if (newline) {
            *end = offset + (uint64_t)(newline - bytes);
            return 0;
        }
        offset += have;
    }
    *end = offset;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/*
 * A number as runtimes write it: the specification has no 0x in front, OpenJDK has. Returns what
 * follows, or NULL: it is none, or has more than 64 bits.
 */
static const char *parse_number(const char *at, const char *end, uint64_t *value)
{
    at = skip_blanks(at, end);
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    const char *const first = at;
    for (*value = 0; at < end && digit_of(*at) >= 0; at++) {
        if (*value >> 60)
            return NULL;
        *value = *value << 4 | (uint64_t)digit_of(*at);
    }
    return at > first ? at : NULL;
}

static const char *const not_an_entry = "the line is no entry, START SIZE NAME in hexadecimal";

/* The line is [line, end), and begins at `offset`. NULL, or what is wrong with it. */
static const char *parse_line(const char *line, const char *end, uint64_t offset,
                              struct code_symbol *symbol)
{
    const char *const numbers_end = end - line > NUMBERS_MAX ? line + NUMBERS_MAX : end;
    const char *at = parse_number(line, numbers_end, &symbol->addr);
    uint64_t code_size;

    if (!at || at == numbers_end || !is_blank(*at))
        return not_an_entry;
    at = parse_number(at, numbers_end, &code_size);
    if (!at || (at < end && !is_blank(*at)))
        return not_an_entry;
    if (code_size > INT_MAX)
        return "the line claims more code than a function can have";
    if (symbol->addr > UINT64_MAX - code_size)
        return "the line has code that reaches beyond the address space";
    symbol->size = (uint32_t)code_size;

    const char *const name = skip_blanks(at, end);
    const char *const nul = memchr(name, '\0', (size_t)(end - name));
    size_t size = (size_t)((nul ? nul : end) - name);
    while (size && (is_blank(name[size - 1]) || name[size - 1] == '\r'))
        size--;
    symbol->name = offset + (uint64_t)(name - line);
    symbol->name_size = (uint32_t)(size < PERFMAP_NAME_MAX ? size : PERFMAP_NAME_MAX);
    return NULL;
}

static void reject(struct reader *reader, uint64_t offset, const char *why)
{
    const uint64_t invalid = ++reader->map->stats.invalid;

    if (invalid <= REPORT_LIMIT)
        diag_report(reader->diag, DIAG_WARNING, reader->map->path, offset, "%s; it is left out%s",
                    why, invalid < REPORT_LIMIT ? "" : ", and others like it without a word");
}

/* Nothing but blanks, and perhaps the CR of a line's end. */
static bool is_blank_line(const char *line, const char *end)
{
    line = skip_blanks(line, end);
    return line == end || (*line == '\r' && line + 1 == end);
}

/* The line at `offset`, which ends at `end`. 0 or a negative errno. */
static int read_line(struct reader *reader, uint64_t offset, uint64_t end)
{
    struct perfmap *map = reader->map;
    const size_t size = end - offset < LINE_MAX_SEEN ? (size_t)(end - offset) : LINE_MAX_SEEN;
    struct code_symbol symbol;
    const char *line;
    size_t have;
    int err = view(reader, offset, size, &line, &have);

    if (err || is_blank_line(line, line + size))
        return err;
    const char *wrong = parse_line(line, line + size, offset, &symbol);
    if (wrong) {
        reject(reader, offset, wrong);
        return 0;
    }
    map->stats.entries++;
    if (!symbol.size || !symbol.name_size) {
        map->stats.empty++;
        return 0;
    }
    if (!array_reserve(&map->symbols, &map->capacity, map->count + 1))
        return -ENOMEM;
    map->symbols[map->count++] = symbol;
    return 0;
}

static int read_lines(struct reader *reader)
{
    struct perfmap *map = reader->map;
    uint64_t end = 0;
    int err = 0;

    for (uint64_t offset = 0; offset < map->file.size && !err; offset = end + 1) {
        err = find_line_end(reader, offset, &end);
        if (!err && end == map->file.size) {
            map->stats.cut = true;
            diag_report(reader->diag, DIAG_WARNING, map->path, offset,
                        "the last line has no end, and is left out: the process was still writing, "
                        "or was killed");
        } else if (!err) {
            err = read_line(reader, offset, end);
        }
    }
    return err;
}

static bool is_in_order(const struct perfmap *map)
{
    for (size_t i = 1; i < map->count; i++)
        if (map->symbols[i].addr < map->symbols[i - 1].addr + map->symbols[i - 1].size)
            return false;
    return true;
}

/* What each entry has left by later ones, by address. */
static int list_visible(struct perfmap *map, const struct rangemap *visible)
{
    struct code_symbol *symbols = NULL;
    size_t count = 0, capacity = 0;
    struct rangemap_at at = rangemap_find(visible, 0);

    for (const struct range *range; (range = rangemap_get(visible, at));
         rangemap_next(visible, &at)) {
        struct code_symbol *entry = &map->symbols[range->value];
        if (!array_reserve(&symbols, &capacity, count + 1)) {
            free(symbols);
            return -ENOMEM;
        }
        symbols[count] = *entry;
        symbols[count].addr = range->start;
        symbols[count].size = (uint32_t)(range->end - range->start);
        count++;
        entry->size = 0;
    }
    for (size_t i = 0; i < map->count; i++)
        map->stats.replaced += map->symbols[i].size != 0;
    free(map->symbols);
    map->symbols = symbols;
    map->count = count;
    map->capacity = capacity;
    return 0;
}

/* Code that came later has taken the place of what was there. */
static int resolve_overlaps(struct perfmap *map)
{
    struct rangemap visible = {0};
    int err = map->count > UINT32_MAX ? -EOVERFLOW : 0;

    if (is_in_order(map))
        return 0;
    for (size_t i = 0; i < map->count && !err; i++)
        err = rangemap_set(&visible, map->symbols[i].addr,
                           map->symbols[i].addr + map->symbols[i].size, (uint32_t)i, 0);
    err = err ? err : list_visible(map, &visible);
    rangemap_clear(&visible);
    return err;
}

int perfmap_open(const char *path, const struct diag *diag, struct perfmap *map)
{
    struct reader reader = {.map = map, .diag = diag};
    int err;

    *map = (struct perfmap){.path = strdup(path), .file = INFILE_CLOSED};
    if (!map->path)
        return -ENOMEM;
    err = infile_open(path, diag, &map->file);
    if (err) {
        perfmap_close(map);
        return err;
    }
    reader.buffer = malloc(BUFFER_SIZE);
    err = reader.buffer ? read_lines(&reader) : -ENOMEM;
    err = err ? err : resolve_overlaps(map);
    free(reader.buffer);
    if (err) {
        diag_report(diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "cannot be read: %s", strerror(-err));
        perfmap_close(map);
    }
    return err;
}

void perfmap_close(struct perfmap *map)
{
    if (map->path)
        infile_close(&map->file);
    free(map->path);
    free(map->symbols);
    *map = (struct perfmap){0};
}
