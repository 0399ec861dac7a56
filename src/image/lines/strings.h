/* SPDX-License-Identifier: MIT */
/* .debug_line_str: each directory and file name of the image once. */
#ifndef JITINJECT_LINES_STRINGS_H
#define JITINJECT_LINES_STRINGS_H

#include "buffer.h"

struct lines_strings {
    struct lines_buffer text;
    struct lines_string *slots; /* open addressing; a power of two, or none */
    size_t slot_count, used;
};

void lines_strings_free(struct lines_strings *strings);

/* Where the text is in the section; `text` has no NUL. text.failed says whether memory was out, or
 * the section full. */
uint32_t lines_strings_add(struct lines_strings *strings, const char *text, size_t size);

#endif /* JITINJECT_LINES_STRINGS_H */
