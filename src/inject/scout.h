/* SPDX-License-Identifier: MIT */
/*
 * The second half of a recording, scanned by a thread of its own while the first half is. It takes
 * what can be taken without knowing what came before: samples are counted, and the few records that
 * a scan looks at are kept for it.
 */
#ifndef INJECT_SCOUT_H
#define INJECT_SCOUT_H

#include "tally.h"

#include "jitinject/inject.h"

struct scout;

/*
 * Begins with the second half of what is still to read; `data` is borrowed. NULL: that is too short
 * for it, or cannot be read so, or there is no thread.
 */
struct scout *scout_start(const struct perfdata *data, bool with_processes);
/* Ends the thread. NULL is fine. */
void scout_free(struct scout *scout);

/* The offset of the record that it began with; UINT64_MAX: it has found none so far. */
uint64_t scout_offset(const struct scout *scout);
/*
 * Waits for the end. `data` has just returned the record at scout_offset(); it goes on where the
 * scout has come to. What the thread took is added to `time`. 0 or -ENOMEM.
 */
int scout_join(struct scout *scout, struct perfdata *data, struct tally *tally,
               struct inject_time *time);
/* After scout_join: the records kept, in their order. */
bool scout_next(struct scout *scout, struct perfdata_record *record);

#endif /* INJECT_SCOUT_H */
