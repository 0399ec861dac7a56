/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables: the UNWINDING_INFO records of the pieces become one .eh_frame for where the code
 * is in the image. Records are taken in the order of the dumps, each once.
 *
 * Every image has a search table, if only an empty one: perf's libunwind takes a file without for
 * one that cannot be unwound, and goes by frame pointers where a table has nothing.
 */
#ifndef JITINJECT_IMAGE_UNWIND_H
#define JITINJECT_IMAGE_UNWIND_H

#include "internal.h"

struct unwind;

/* 0 or -ENOMEM. */
int unwind_new(struct image *image, struct unwind **out);
void unwind_free(struct unwind *unwind);

/*
 * Takes the records up to the end of these bytes of a source, which somebody has read anyway; what
 * they do not have is read. 0 or a negative errno, reported.
 */
int unwind_take(struct unwind *unwind, uint16_t source, uint64_t offset, const uint8_t *bytes,
                size_t size);
/* Takes the rest, and adds .eh_frame and .eh_frame_hdr. 0 or a negative errno. */
int unwind_finish(struct unwind *unwind);

#endif /* JITINJECT_IMAGE_UNWIND_H */
