/* SPDX-License-Identifier: MIT */
/*
 * Writing .eh_frame and its search table .eh_frame_hdr to a span of the file. The table has to come
 * first by section index (elfutils looks no further for it once it has seen .eh_frame) but lies
 * behind in the file: it has to be sorted, while frames are written as they come.
 */
#ifndef JITINJECT_IMAGE_FRAMES_H
#define JITINJECT_IMAGE_FRAMES_H

#include "cfi.h"
#include "internal.h"
#include "stream.h"

#include <xxhash.h>

/*
 * FDEs share the CIEs of the same content among so many. Runtimes use one or two over and over; the
 * bound is for those that do not.
 */
#define FRAMES_CIES 16

struct frames_row;

struct frames_cie {
    uint64_t offset; /* in the file */
    XXH128_hash_t content;
};

struct frames {
    struct image *image;
    uint64_t offset, size; /* the span */
    bool swapped;
    struct image_stream stream;
    struct frames_row *rows;
    size_t row_count, row_capacity;
    struct frames_cie cies[FRAMES_CIES]; /* those written last, a ring */
    size_t cie_count;                    /* of all that were written */
    uint64_t last_number, last_offset;   /* of the one that was used last */
};

/* The span is aligned to 4 and has room for FRAMES_SIZE_MIN at least. 0 or -ENOMEM. */
int frames_open(struct frames *frames, struct image *image, struct image_output *output,
                uint64_t offset, uint64_t size);
void frames_close(struct frames *frames);
#define FRAMES_SIZE_MIN 16

/*
 * Adds an FDE for [pc, pc + size) of the file. 1: done; 0: there is no room, or the code is too far
 * from the span; or a negative errno.
 */
int frames_add(struct frames *frames, const struct cfi_cie *cie, const struct cfi_fde *fde,
               uint64_t pc, uint64_t size);

/* Writes the rest and adds both sections. 0 or a negative errno. */
int frames_finish(struct frames *frames);

#endif /* JITINJECT_IMAGE_FRAMES_H */
