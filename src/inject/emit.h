/* SPDX-License-Identifier: MIT */
/*
 * The shared objects of the result, one for each image that place laid out. A thread of its own
 * writes them beside what its caller does until emit_finish: they and the recording are made of
 * different inputs. Where there is no thread, emit_finish writes all.
 */
#ifndef INJECT_EMIT_H
#define INJECT_EMIT_H

#include "output.h"
#include "recording.h"

#include <stddef.h>
#include <stdint.h>

struct emit;

/*
 * Starts a file for every image, and to write them. The rows of summary->files are made, and
 * complete after emit_finish. `recording` and `output` are borrowed until emit_free. 0 or a
 * negative errno, where what is wrong with a place is reported; *out is NULL on an error.
 */
int emit_new(const struct recording *recording, const struct output *output, struct emit **out);

size_t emit_count(const struct emit *emit);
/* Where an image goes, as an absolute path; and, after emit_finish, its build-id. */
const char *emit_path(const struct emit *emit, size_t number);
const uint8_t *emit_build_id(const struct emit *emit, size_t number);

/*
 * Helps until all are written. What is to be said of them is said then, once, in their order. It
 * may be called again. 0 or a negative errno, reported.
 */
int emit_finish(struct emit *emit);
/* The same, and gives them their names. */
int emit_commit(struct emit *emit);
/* Takes the names away again. */
void emit_revoke(struct emit *emit);

/* Waits for what is being written, and leaves the rest out; of that nothing is said. NULL is fine.
 */
void emit_free(struct emit *emit);

#endif /* INJECT_EMIT_H */
