/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of an image go: every write is made at its place in the file and taken into the
 * hash that becomes the build-id, so that nothing big is read a second time.
 */
#ifndef JITINJECT_IMAGE_OUTPUT_H
#define JITINJECT_IMAGE_OUTPUT_H

#include "jitinject/image.h"

#include <stddef.h>
#include <stdint.h>

struct image_output {
    int fd;
    struct XXH3_state_s *hash;
    uint64_t written;
};

/* 0 or -ENOMEM; image_output_close is safe after either. */
int image_output_open(struct image_output *output, int fd);
void image_output_close(struct image_output *output);

/* 0 or a negative errno. */
int image_output_write(struct image_output *output, const void *bytes, size_t size,
                       uint64_t offset);
/* The same for bytes that cannot be in the hash, because they hold it. */
int image_output_write_unhashed(struct image_output *output, const void *bytes, size_t size,
                                uint64_t offset);

/* Counts in what another output wrote to the same file, and its hash. */
void image_output_join(struct image_output *output, const struct image_output *other);

/* The build-id of all that has been written. */
void image_output_digest(const struct image_output *output, uint8_t build_id[IMAGE_BUILD_ID_SIZE]);

#endif /* JITINJECT_IMAGE_OUTPUT_H */
