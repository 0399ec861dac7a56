/* SPDX-License-Identifier: MIT */
/* Whether a file is the dump of a process, whose it is, and whose the code in it. */
#ifndef INJECT_OWNER_H
#define INJECT_OWNER_H

#include "find.h"
#include "recording.h"

/* The markers of one file, in order of their records: a process may have it mapped more than once,
 * and so may its children. */
struct claim {
    struct marker **markers;
    size_t count;
};

/* How a file that was found compares with the one that was mapped, and the best that can be. */
enum owner_rank owner_rank(const struct claim *claim, const struct find *find);
enum owner_rank owner_best_rank(const struct claim *claim);

/* When the processes of a claim may have written their dump. */
struct task_life owner_life(const struct recording *recording, const struct claim *claim);

/*
 * Whether the dump may be the claimed one by the pid in its header, and whether it may be that of
 * `pid` in this life by the times of its code, once it has been read. If not, that is reported, and
 * --force makes it true.
 */
bool owner_accepts_pid(const struct recording *recording, const struct claim *claim,
                       const struct find *find, const struct jitdump *file);
bool owner_accepts_times(const struct recording *recording, uint32_t pid, struct task_life life,
                         struct dump *dump);

/*
 * Sets which process of the recording writes the dump that all markers of `claim` have. Where that
 * cannot be told it is reported, and markers lose the dump.
 */
void owner_find(const struct recording *recording, struct dump *dump, const struct claim *claim);
/* The recording's pid of the process that a record of the dump calls `pid`. */
uint32_t owner_pid(const struct recording *recording, const struct dump *dump, uint32_t pid);

#endif /* INJECT_OWNER_H */
