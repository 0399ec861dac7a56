/* SPDX-License-Identifier: MIT */
/*
 * Starts what a run writes. Nothing takes the place of an input, or of anything that is not a
 * regular file. Whatever is wrong with a place is reported.
 */
#ifndef INJECT_CREATE_H
#define INJECT_CREATE_H

#include "recording.h"

#include "jitinject/outfile.h"

/* -EEXIST if `path`, or standard output for "-", is one of the files that were read so far. */
int create_check(const struct recording *recording, const char *path);
/* As outfile_new() and outfile_new_stream(). */
int create_file(const struct recording *recording, const char *path, mode_t mode,
                struct outfile **out);
int create_stream(const struct recording *recording, const char *path, struct outfile **out);

#endif /* INJECT_CREATE_H */
