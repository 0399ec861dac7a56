/* SPDX-License-Identifier: MIT */
/*
 * Writes files beside what the caller does. A thread does all of it, if there can be one: a file
 * takes one write at a time.
 */
#ifndef JITINJECT_PERFDATA_BEHIND_H
#define JITINJECT_PERFDATA_BEHIND_H

#include <stddef.h>
#include <stdint.h>

struct behind;

/* For regular files. 0 or -ENOMEM. */
int behind_new(struct behind **out);
/* Waits for the thread. NULL is fine. */
void behind_free(struct behind *behind);

/*
 * Writes the bytes to `fd`, mostly later: until behind_wait they stay as they are. The negative
 * errno of a write that has failed by now, this one or an earlier one, else 0; then nothing more is
 * written.
 */
int behind_write(struct behind *behind, int fd, const uint8_t *bytes, size_t size, uint64_t offset);
/* Waits until none of these bytes is still to be written. */
void behind_wait(struct behind *behind, const uint8_t *bytes, size_t size);
/* Waits until all that was handed over is written: 0, or the negative errno of the first write that
 * failed. */
int behind_wait_all(struct behind *behind);
/* The same, and ends the thread. */
int behind_finish(struct behind *behind);
/* What the thread has taken of a processor, in ns, once behind_finish was called. */
uint64_t behind_cpu(const struct behind *behind);

#endif /* JITINJECT_PERFDATA_BEHIND_H */
