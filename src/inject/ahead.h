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
/* No more come: helps with what is still to be done, be it a half of one dump. What others did is
 * added to `time`. */
void ahead_finish(struct ahead *ahead, struct inject_time *time);

/* As jitdump_index_build, after ahead_finish: takes what was made ahead, if anything was. */
int ahead_index(struct ahead *ahead, struct jitdump *dump, uint16_t source, const struct diag *diag,
                struct jitdump_index *index);

#endif /* INJECT_AHEAD_H */
