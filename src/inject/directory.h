/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory becomes one again: with the same files of records (perf record
 * --threads), and the code of the kernel, which has no place in one file (--kcore).
 */
#ifndef INJECT_DIRECTORY_H
#define INJECT_DIRECTORY_H

#include "recording.h"

#include "jitinject/outfile.h"

struct directory;

/*
 * Starts all of its files; the recording is borrowed until directory_free. 0 or a negative errno,
 * where what is wrong with the place is reported; *out is NULL on an error.
 */
int directory_new(const struct recording *recording, struct directory **out);
/* The file with the header, and the others with records, or NULL if there are none; owned by it. */
struct outfile *directory_data(const struct directory *directory);
const int *directory_parts(const struct directory *directory);
/* Copies the code of the kernel. 0 or a negative errno, reported but for -ENOMEM. */
int directory_fill(struct directory *directory);
/* Gives it its name. As outdir_commit(). */
int directory_commit(struct directory *directory);
/* NULL is fine. */
void directory_free(struct directory *directory);

#endif /* INJECT_DIRECTORY_H */
