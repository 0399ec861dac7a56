/* SPDX-License-Identifier: MIT */
/* A debug section that is written behind all that the image has so far, compressed if wanted. One
 * at a time. */
#ifndef JITINJECT_LINES_SECTION_H
#define JITINJECT_LINES_SECTION_H

#include "../internal.h"
#include "../stream.h"

#include <stdbool.h>
#include <zlib.h>

struct lines_section {
    struct image *image;
    struct image_section header;
    uint64_t size; /* of the content, uncompressed */
    bool compress;
    bool deflating; /* `deflate` is to be ended */
    z_stream deflate;
    struct image_stream stream;
};

/* `header` says name and flags. 0 or -ENOMEM; lines_section_close is safe after either. */
int lines_section_open(struct lines_section *section, struct image *image,
                       const struct image_section *header, bool compress);
void lines_section_close(struct lines_section *section);

void lines_section_put(struct lines_section *section, const void *bytes, size_t size);
/* Writes the rest and adds the section to the image. 0 or a negative errno. */
int lines_section_finish(struct lines_section *section);

#endif /* JITINJECT_LINES_SECTION_H */
