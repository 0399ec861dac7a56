/* SPDX-License-Identifier: MIT */
/*
 * Dumps that are indexed while the recording is still being read. Which file is whose dump is known
 * only at the end of it, so what is done ahead is a guess: it is used if it is asked for, and has
 * no other effect.
 */
#ifndef INJECT_AHEAD_H
#define INJECT_AHEAD_H

#include "jitinject/inject.h"
#include "jitinject/jitdump.h"

struct ahead;

/* `options` is borrowed. 0 or -ENOMEM; *out is NULL on an error. */
int ahead_new(const struct inject_options *options, struct ahead **out);
/* NULL is fine. */
void ahead_free(struct ahead *ahead);

/* The dump of that name will be asked for; begins with it. 0 or -ENOMEM. */
int ahead_want(struct ahead *ahead, const char *path);
/* Whether all that was wanted so far is done. */
bool ahead_is_idle(struct ahead *ahead);
/* No more come. */
void ahead_end(struct ahead *ahead);

/*
 * After ahead_end. As jitdump_open: `path` is a file that was found for the dump that is called
 * `wanted`. If it is what was opened ahead, that is handed over, once its index is made; the caller
 * makes those of others while somebody else is at it.
 */
int ahead_open(struct ahead *ahead, const char *wanted, const char *path, const struct diag *diag,
               struct jitdump **out);
/* After ahead_end. As jitdump_index_build, but the source of the pieces is a guess: the number of
 * the dump if dumps are claimed in the order that they were wanted in. Takes what was made ahead,
 * if anything was. */
int ahead_index(struct ahead *ahead, struct jitdump *dump, const struct diag *diag,
                struct jitdump_index *index);

/* Drops what nobody has asked for. What others did is added to `time`. */
void ahead_finish(struct ahead *ahead, struct inject_time *time);

#endif /* INJECT_AHEAD_H */
