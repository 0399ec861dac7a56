/* SPDX-License-Identifier: MIT */
/* .debug_line_str: each directory and file name of the image once. */
#ifndef JITINJECT_LINES_STRINGS_H
#define JITINJECT_LINES_STRINGS_H

#include "buffer.h"
#include "jitinject/hashmap.h"

struct lines_strings {
    struct lines_buffer text;
    struct hashmap offsets; /* hash of a text to where it is */
};

void lines_strings_free(struct lines_strings *strings);

/* Where the text is in the section; `text` has no NUL. text.failed says whether memory was out, or
 * the section full. */
uint32_t lines_strings_add(struct lines_strings *strings, const char *text, size_t size);

#endif /* JITINJECT_LINES_STRINGS_H */
