/* SPDX-License-Identifier: MIT */
#include "debug.h"

#include <string.h>

/* Reads ":<number>" off the end of a text. */
static bool take_number(const char *text, size_t *size, int32_t *value)
{
    size_t at = *size;
    int64_t number = 0, scale = 1;

    for (; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9'; at--) {
        number += (text[at - 1] - '0') * scale;
        scale *= 10;
        if (number > INT32_MAX || scale > (int64_t)INT32_MAX * 10)
            return false;
    }
    if (at == *size || at == 0 || text[at - 1] != ':')
        return false;
    *value = (int32_t)number;
    *size = at - 1;
    return true;
}

/*
 * Kind and tier come first, "JS:*" or "LazyCompile:^", then the function's name, then a space.
 * Names as well as paths may hold spaces ("get size /tmp/my file.js"), so each space may be that
 * one.
 */
static void parse(struct debug_name *name)
{
    const char *text = name->text.at;
    size_t size = name->text.size;
    const char *colon = size ? memchr(text, ':', size) : NULL;

    if (!colon || !take_number(text, &size, &name->column) ||
        !take_number(text, &size, &name->line)) {
        name->column = 0;
        return;
    }
    const char *end = text + size;
    name->is_baseline = colon + 1 < end && colon[1] == '^';
    for (const char *at = colon; at < end && name->path_count < DEBUG_PATHS_MAX;) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        if (!space)
            break;
        at = space + 1;
        if (at < end)
            name->paths[name->path_count++] =
                (struct debug_text){.at = at, .size = (size_t)(end - at)};
    }
}

void debug_name_parse(struct debug_name *name)
{
    if (name->is_parsed)
        return;
    *name = (struct debug_name){.text = name->text, .is_parsed = true};
    parse(name);
}

bool debug_name_has_mark(const struct debug_name *name)
{
    const struct debug_text *text = &name->text;
    const char *colon = text->size ? memchr(text->at, ':', text->size) : NULL;

    return colon && colon + 1 < text->at + text->size && colon[1] == '^';
}
