/* SPDX-License-Identifier: MIT */
/*
 * The recording that is written: one file, a stream, or a directory of files. A file or a directory
 * has no name until it is whole.
 */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include "recording.h"

#include <stdbool.h>

struct output;

/*
 * Starts it where the options say, in the form that the recording has; that is borrowed until
 * output_free. 0 or a negative errno, where what is wrong with the place is reported; *out is NULL
 * on an error.
 */
int output_new(const struct recording *recording, struct output **out);
bool output_is_stream(const struct output *output);
/* Whether an earlier recording has its name. */
bool output_replaces(const struct output *output);
/* What it is called in messages. */
const char *output_path(const struct output *output);

/* Where its records go; owned by it, and so is what follows. */
int output_fd(const struct output *output);
/* Where the records of further parts go; NULL: there, too. */
const int *output_parts(const struct output *output);
/* Adds what else is in a directory. 0 or a negative errno, reported but for -ENOMEM. */
int output_fill(struct output *output);
/* Gives it its name, with all that is in it. 0 or a negative errno, reported. */
int output_commit(struct output *output);
/* NULL is fine. */
void output_free(struct output *output);

#endif /* INJECT_OUTPUT_H */
