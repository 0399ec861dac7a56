/* SPDX-License-Identifier: MIT */
/*
 * Pieces that are at the same addresses one after the other, as in several files with one base:
 * their unwind tables become one (combine.h).
 */
#ifndef JITINJECT_IMAGE_VERSIONS_H
#define JITINJECT_IMAGE_VERSIONS_H

#include "frames.h"
#include "internal.h"

struct version;
struct version_table;

struct versions {
    struct image *image;
    struct version *pieces; /* by address */
    struct version_table *tables;
    size_t count, capacity, table_count, table_capacity;
};

/* Adds a piece, which is at `offset` in files of this base; by address. 0 or -ENOMEM. */
int versions_add(struct versions *versions, const struct code *code, uint64_t offset);
/*
 * Adds a table for [pc, pc + size) of the files, of the piece with that number. Its bytes are
 * copied. 0 or -ENOMEM.
 */
int versions_add_table(struct versions *versions, size_t piece, const struct cfi_cie *cie,
                       const struct cfi_fde *fde, uint64_t pc, uint64_t size);
/* Writes what they have become. 0 or a negative errno. */
int versions_write(struct versions *versions, struct frames *frames);
void versions_free(struct versions *versions);

#endif /* JITINJECT_IMAGE_VERSIONS_H */
