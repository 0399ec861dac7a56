/* SPDX-License-Identifier: MIT */
#include "strings.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SLOTS_MIN 256

struct lines_string {
    uint32_t hash;
    uint32_t offset; /* plus 1; 0: the slot is free */
};

void lines_strings_free(struct lines_strings *strings)
{
    lines_buffer_free(&strings->text);
    free(strings->slots);
    *strings = (struct lines_strings){0};
}

/* More than half full: twice as large. */
static bool grow(struct lines_strings *strings)
{
    const size_t count = strings->slot_count ? 2 * strings->slot_count : SLOTS_MIN;

    if (strings->used < strings->slot_count / 2)
        return true;
    struct lines_string *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < strings->slot_count; i++) {
        size_t at = strings->slots[i].hash & (count - 1);
        if (!strings->slots[i].offset)
            continue;
        while (slots[at].offset)
            at = (at + 1) & (count - 1);
        slots[at] = strings->slots[i];
    }
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = count;
    return true;
}

static bool is_at(const struct lines_strings *strings, size_t offset, const char *text, size_t size)
{
    const uint8_t *at = strings->text.bytes + offset;

    return size < strings->text.size - offset && memcmp(at, text, size) == 0 && at[size] == '\0';
}

uint32_t lines_strings_add(struct lines_strings *strings, const char *text, size_t size)
{
    const uint32_t hash = (uint32_t)XXH3_64bits(text, size);

    if (strings->text.failed || !grow(strings) || strings->text.size + size >= UINT32_MAX - 1) {
        strings->text.failed = true;
        return 0;
    }
    size_t at = hash & (strings->slot_count - 1);
    for (; strings->slots[at].offset; at = (at + 1) & (strings->slot_count - 1))
        if (strings->slots[at].hash == hash &&
            is_at(strings, strings->slots[at].offset - 1, text, size))
            return strings->slots[at].offset - 1;

    const uint32_t offset = (uint32_t)strings->text.size;
    lines_put(&strings->text, text, size);
    lines_put_u8(&strings->text, 0);
    if (!strings->text.failed) {
        strings->slots[at] = (struct lines_string){.hash = hash, .offset = offset + 1};
        strings->used++;
    }
    return offset;
}
