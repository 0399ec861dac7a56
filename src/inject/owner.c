/* SPDX-License-Identifier: MIT */
#include "owner.h"

#include "clock_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum owner_rank owner_rank(const struct claim *claim, const struct find *find)
{
    const struct marker *marker = claim->markers[0];

    if (marker->inode == 0 || marker->inode != find->status.st_ino)
        return OWNER_BY_CONTENT;
    /* Under its own root a process sees its own files, whatever number their device has there. */
    if (marker->device == find->status.st_dev || find->place == FIND_PROCESS)
        return OWNER_SAME_FILE;
    return OWNER_SAME_INODE;
}

enum owner_rank owner_best_rank(const struct claim *claim)
{
    return claim->markers[0]->inode == 0 ? OWNER_BY_CONTENT : OWNER_SAME_FILE;
}

static bool has_pid(const struct claim *claim, uint32_t pid)
{
    for (size_t i = 0; i < claim->count; i++)
        if (claim->markers[i]->pid == pid)
            return true;
    return false;
}

/* The last number in the name of a dump is what its writer takes for its pid. */
static bool name_has_pid(const struct claim *claim, uint32_t pid)
{
    const char *path = claim->markers[0]->path;
    const char *end = strrchr(path, '.'), *start = end;
    char text[16];

    while (start && start > path && start[-1] >= '0' && start[-1] <= '9')
        start--;
    snprintf(text, sizeof(text), "%" PRIu32, pid);
    return start && (size_t)(end - start) == strlen(text) && memcmp(start, text, strlen(text)) == 0;
}

/* Says why a dump is left out, or would be. Whether it is taken all the same. */
static bool insists(const struct recording *recording, const struct jitdump *file,
                    const char *reason)
{
    const bool force = recording->options->force;

    diag_report(recording->diag, force ? DIAG_NOTE : DIAG_WARNING, jitdump_path(file),
                DIAG_NO_OFFSET, "%s: %s", reason,
                force ? "taken all the same" : "left out; --force takes it");
    return force;
}

bool owner_accepts_pid(const struct recording *recording, const struct claim *claim,
                       const struct find *find, const struct jitdump *file)
{
    const struct marker *marker = claim->markers[0];
    const uint32_t pid = jitdump_header(file)->pid;
    char reason[256];
    /* Copies have inodes of their own. At the recorded path, though, there may just as well be the
     * file of another process, from another mount namespace. */
    const bool may_be_copy =
        find->place == FIND_BESIDE || find->place == FIND_GIVEN || find->packed || !marker->inode;

    if (owner_rank(claim, find) == OWNER_SAME_FILE || has_pid(claim, pid) ||
        (may_be_copy && name_has_pid(claim, pid)))
        return true;
    if (may_be_copy)
        snprintf(reason, sizeof(reason),
                 "has pid %" PRIu32 " in its header, which is neither that of process %" PRIu32
                 " nor the one in the name of its dump",
                 pid, marker->pid);
    else
        snprintf(reason, sizeof(reason),
                 "is not the file that process %" PRIu32 " had mapped (inode %" PRIu64
                 ", not %" PRIu64 "), and has pid %" PRIu32 " in its header",
                 marker->pid, (uint64_t)find->status.st_ino, (uint64_t)marker->inode, pid);
    return insists(recording, file, reason);
}

struct task_life owner_life(const struct recording *recording, const struct claim *claim)
{
    struct task_life whole = {.begin = UINT64_MAX, .end = 0};

    for (size_t i = 0; i < claim->count; i++) {
        const struct marker *marker = claim->markers[i];
        const uint64_t end = tasks_life_end(&recording->tasks, marker->pid, marker->time);
        /* Its program began before that. */
        whole.begin = marker->time < whole.begin ? marker->time : whole.begin;
        whole.end = end > whole.end ? end : whole.end;
    }
    return whole;
}

bool owner_accepts_times(const struct recording *recording, uint32_t pid, struct task_life life,
                         struct dump *dump)
{
    const uint64_t end = life.end < recording->end_time ? life.end : recording->end_time;
    const struct dump_clock *clock = &dump->clock;
    char reason[320], texts[4][32];

    if (!recording->tally.timed || !clock->placed || dump->index.count == 0 ||
        (clock->first <= end && clock->last >= life.begin))
        return true;
    snprintf(reason, sizeof(reason),
             "its code was loaded from %s to %s s, but that of process %" PRIu32
             " can only be from %s to %s s: it is of another process or run%s",
             clock_seconds(clock->first, texts[0]), clock_seconds(clock->last, texts[1]), pid,
             clock_seconds(life.begin ? life.begin : recording->tally.first_time, texts[2]),
             clock_seconds(end, texts[3]),
             clock->timing == INJECT_TIMING_KEPT ? ", or its times are not of CLOCK_MONOTONIC"
                                                 : "");
    if (!insists(recording, dump->file, reason))
        return false;
    /* Such times order nothing. */
    dump->clock.timing = INJECT_TIMING_IGNORED;
    dump->clock.placed = false;
    dump->clock.disputed = true;
    return true;
}

/* Takes the dump from the markers whose files are less surely this one. */
static void drop_uncertain(const struct recording *recording, const struct dump *dump,
                           const struct claim *claim, enum owner_rank best)
{
    uint32_t last = 0;

    for (size_t i = 0; i < claim->count; i++) {
        struct marker *marker = claim->markers[i];
        if (marker->rank <= best)
            continue;
        marker->dump = NO_DUMP;
        if (marker->pid == last)
            continue;
        last = marker->pid;
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "is the dump of another process than %" PRIu32
                    ", whose own was not found: its code stays without names; name that by "
                    "--dump %" PRIu32 "=FILE",
                    marker->pid, marker->pid);
    }
}

/*
 * Containers may call their dumps alike, and have the same pid in them. A copy of one then does not
 * tell whose it is.
 */
static bool is_ambiguous(const struct recording *recording, const struct dump *dump,
                         const struct claim *claim)
{
    const struct marker *first = NULL;
    char reason[256];

    for (size_t i = 0; i < claim->count; i++) {
        const struct marker *marker = claim->markers[i];
        if (marker->dump == NO_DUMP || marker->rank == OWNER_SAME_FILE)
            continue;
        if (!first)
            first = marker;
        if (marker->claim == first->claim)
            continue;
        snprintf(reason, sizeof(reason),
                 "processes %" PRIu32 " and %" PRIu32 " have dumps of this name, and nothing in it "
                 "(pid %" PRIu32 ") tells which it is; say so by --dump PID=FILE",
                 first->pid, marker->pid, dump->inner_pid);
        return !insists(recording, dump->file, reason);
    }
    return false;
}

void owner_find(const struct recording *recording, struct dump *dump, const struct claim *claim)
{
    enum owner_rank best = OWNER_BY_CONTENT;
    const bool named = has_pid(claim, dump->inner_pid);

    if (dump->given)
        return;
    dump->pid = dump->inner_pid;
    dump->in_namespace = !named;
    if (named)
        return;
    for (size_t i = 0; i < claim->count; i++)
        if (claim->markers[i]->rank < best)
            best = claim->markers[i]->rank;
    drop_uncertain(recording, dump, claim, best);
    dump->unowned = is_ambiguous(recording, dump, claim);
    for (size_t i = claim->count; i-- > 0;) {
        if (dump->unowned)
            claim->markers[i]->dump = NO_DUMP;
        if (claim->markers[i]->dump != NO_DUMP)
            dump->pid = claim->markers[i]->pid;
    }
    dump->child = tasks_only_child(&recording->tasks, dump->pid);
}

uint32_t owner_pid(const struct recording *recording, const struct dump *dump, uint32_t pid)
{
    /* No process has pid 0: its writer left it out. */
    if (pid == 0 || pid == dump->inner_pid || pid == dump->pid)
        return dump->pid;
    if (!dump->in_namespace)
        return pid;
    /* A child in the namespace: known if it has a dump of its own, or is the only one. The same
     * number means another process in another namespace. */
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].in_namespace && recording->dumps[i].inner_pid == pid &&
            tasks_descends(&recording->tasks, recording->dumps[i].pid, dump->pid))
            return recording->dumps[i].pid;
    if (dump->child)
        return dump->child;
    return dump->pid;
}
