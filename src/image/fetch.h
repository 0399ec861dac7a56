/* SPDX-License-Identifier: MIT */
/*
 * Many small pieces of the sources, read together: they are asked for in the order of the image and
 * read in the order of the sources, neighbours with one call.
 */
#ifndef JITINJECT_IMAGE_FETCH_H
#define JITINJECT_IMAGE_FETCH_H

#include "jitinject/diag.h"
#include "jitinject/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_fetch;

#define IMAGE_FETCH_BUFFER (256u << 10)

/* Somebody else who may have a use for what was read. 0 or a negative errno. */
struct image_fetch_listener {
    int (*heard)(void *context, uint16_t source, uint64_t offset, const uint8_t *bytes,
                 size_t size);
    void *context;
};

/* `buffer` has IMAGE_FETCH_BUFFER bytes and is borrowed. 0 or -ENOMEM. */
int image_fetch_new(const struct image_source *sources, const struct diag *diag,
                    const struct image_fetch_listener *listener, uint8_t *buffer,
                    struct image_fetch **out);
void image_fetch_free(struct image_fetch *fetch);

/* Whether image_fetch_run has to come before the next image_fetch_add. */
bool image_fetch_is_full(const struct image_fetch *fetch);

/*
 * `size` bytes at `offset` of sources[source] are to come to `to` with the next image_fetch_run. 0,
 * or -EIO if it has no such bytes, reported.
 */
int image_fetch_add(struct image_fetch *fetch, uint16_t source, uint64_t offset, size_t size,
                    uint8_t *to);
/* Reads all that was asked for. 0 or a negative errno, reported. */
int image_fetch_run(struct image_fetch *fetch);

#endif /* JITINJECT_IMAGE_FETCH_H */
