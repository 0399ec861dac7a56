/* SPDX-License-Identifier: MIT */
#include "strings.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void lines_strings_free(struct lines_strings *strings)
{
    lines_buffer_free(&strings->text);
    hashmap_clear(&strings->offsets);
    *strings = (struct lines_strings){0};
}

static bool is_at(const struct lines_strings *strings, size_t offset, const char *text, size_t size)
{
    const uint8_t *at = strings->text.bytes + offset;

    return size < strings->text.size - offset && memcmp(at, text, size) == 0 && at[size] == '\0';
}

/* A text that happens to have the hash of another one takes its place, and is there again then. */
uint32_t lines_strings_add(struct lines_strings *strings, const char *text, size_t size)
{
    const uint64_t hash = XXH3_64bits(text, size);
    const uint64_t *known = hashmap_find(&strings->offsets, hash, 0);
    const size_t offset = strings->text.size;

    if (known && is_at(strings, *known, text, size))
        return (uint32_t)*known;
    if (strings->text.failed || offset + size >= UINT32_MAX - 1 ||
        hashmap_put(&strings->offsets, hash, 0, offset) < 0) {
        strings->text.failed = true;
        return 0;
    }
    lines_put(&strings->text, text, size);
    lines_put_u8(&strings->text, 0);
    return (uint32_t)offset;
}
