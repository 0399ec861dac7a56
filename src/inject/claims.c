/* SPDX-License-Identifier: MIT */
#include "claims.h"

#include "ahead.h"
#include "clock.h"
#include "owner.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* code->source has 16 bits. */
#define DUMPS_MAX UINT16_MAX

static size_t find_dump(const struct recording *recording, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].device == device && recording->dumps[i].inode == inode)
            return i;
    return NO_DUMP;
}

/* Whatever becomes of it, a file that was opened is an input, and never written over. */
static int add_input(struct recording *recording, const struct jitdump *file)
{
    dev_t device;
    ino_t inode;

    jitdump_identity(file, &device, &inode);
    return inputs_add(&recording->inputs, device, inode);
}

/*
 * Reads a dump, and takes it over unless the times of its code say that it is not that of `pid`.
 * 0, -EBADMSG or -EIO: it is of no use, which was reported and is no reason to stop; or another
 * negative errno.
 */
static int take(struct recording *recording, struct jitdump *file, uint32_t pid,
                struct task_life life, size_t *number)
{
    struct dump dump = {.file = file, .inner_pid = jitdump_header(file)->pid};
    int err = add_input(recording, file);

    if (!err && recording->dump_count == DUMPS_MAX)
        err = -EOVERFLOW;
    if (!err &&
        !array_reserve(&recording->dumps, &recording->dump_capacity, recording->dump_count + 1))
        err = -ENOMEM;
    if (!err)
        err = ahead_index(recording->ahead, file, recording->diag, &dump.index);
    if (!err)
        clock_read(recording, life, &dump);
    if (!err && !owner_accepts_times(recording, pid, life, &dump))
        err = -EBADMSG;
    if (err) {
        jitdump_index_clear(&dump.index);
        jitdump_free(file);
        return err;
    }
    jitdump_identity(file, &dump.device, &dump.inode);
    *number = recording->dump_count++;
    recording->dumps[*number] = dump;
    return 0;
}

static bool is_of_no_use(int err)
{
    return err == -EBADMSG || err == -EIO;
}

/* Takes the file that was found for a claim, if it may be that. */
static int try_candidate(struct recording *recording, const struct claim *claim, struct find *find,
                         size_t *number)
{
    struct jitdump *file = NULL;
    dev_t device;
    ino_t inode;

    if (ahead_open(recording->ahead, find->wanted, find->path, recording->diag, &file) < 0)
        return 0;
    const uint32_t pid = claim->markers[0]->pid;
    const struct task_life life = owner_life(recording, claim);
    jitdump_identity(file, &device, &inode);
    /* What was opened counts, should it not be what was found any more. */
    find->status.st_dev = device;
    find->status.st_ino = inode;
    if (!owner_accepts_pid(recording, claim, find, file)) {
        jitdump_free(file);
        return 0;
    }
    *number = find_dump(recording, device, inode);
    if (*number != NO_DUMP) {
        jitdump_free(file);
        if (!owner_accepts_times(recording, pid, life, &recording->dumps[*number]))
            *number = NO_DUMP;
        return 0;
    }
    const int err = take(recording, file, pid, life, number);
    return is_of_no_use(err) ? 0 : err;
}

/* Whether anything was recorded of a process, be it only samples. */
static bool is_recorded(const struct recording *recording, uint32_t pid)
{
    return place_has_process(recording->place, pid) ||
           rangemap_overlaps(&recording->tally.processes, pid, pid + UINT64_C(1));
}

/* A dump that the user gave to a process: it stands for whatever dumps the recording names there.
 */
static int take_given(struct recording *recording, const struct inject_dump *given)
{
    struct jitdump *file = NULL;
    dev_t device;
    ino_t inode;

    if (!is_recorded(recording, given->pid)) {
        diag_report(recording->diag, DIAG_WARNING, given->path, DIAG_NO_OFFSET,
                    "given as the dump of process %u, which is not in the recording: left out; "
                    "--dump takes the number that a process has there",
                    given->pid);
        return 0;
    }
    int err = ahead_open(recording->ahead, given->path, given->path, recording->diag, &file);

    if (err) {
        diag_report(recording->diag, DIAG_ERROR, given->path, DIAG_NO_OFFSET,
                    "given as the dump of process %u, cannot be read", given->pid);
        return err;
    }
    jitdump_identity(file, &device, &inode);
    size_t number = find_dump(recording, device, inode);
    if (number != NO_DUMP) {
        diag_report(recording->diag, DIAG_ERROR, given->path, DIAG_NO_OFFSET,
                    "given as the dump of process %u and of process %u: give each its own",
                    recording->dumps[number].pid, given->pid);
        jitdump_free(file);
        return -EEXIST;
    }
    err =
        take(recording, file, given->pid, tasks_all_lives(&recording->tasks, given->pid), &number);
    if (err)
        return is_of_no_use(err) ? 0 : err;
    struct dump *dump = &recording->dumps[number];
    dump->given = true;
    dump->pid = given->pid;
    dump->in_namespace = dump->pid != dump->inner_pid;
    if (dump->in_namespace)
        dump->child = tasks_only_child(&recording->tasks, dump->pid);
    for (size_t i = 0; i < recording->marker_count; i++)
        if (recording->markers[i].pid == given->pid)
            recording->markers[i].dump = number;
    return 0;
}

/* The process of a claim below whose root to look: one that lives, if any does. */
static uint32_t process_of(const struct recording *recording, const struct claim *claim)
{
    for (size_t i = 0; i + 1 < claim->count; i++)
        if (find_lives(claim->markers[i]->pid, recording->end_time))
            return claim->markers[i]->pid;
    return claim->markers[claim->count - 1]->pid;
}

/* Looks for a file of this rank for a claim, and notes the ranks of those that it passes: a bit for
 * each. */
static int search(struct recording *recording, const struct claim *claim, uint32_t pid,
                  enum owner_rank rank, unsigned *ranks, size_t *number)
{
    struct find find;
    int err = 0;

    find_begin(&find, recording->options, claim->markers[0]->path, pid, recording->end_time);
    while (*number == NO_DUMP && !err && find_next(&find)) {
        const enum owner_rank found = owner_rank(claim, &find);
        *ranks |= 1u << found;
        if (found == rank)
            err = try_candidate(recording, claim, &find, number);
    }
    find_end(&find);
    return err;
}

/* The dump of a claim: the surest file that is there. */
static int find_claimed(struct recording *recording, const struct claim *claim, uint32_t id)
{
    const uint32_t pid = process_of(recording, claim);
    enum owner_rank rank = owner_best_rank(claim);
    size_t number = NO_DUMP;
    unsigned ranks = 0;
    /* If this finds nothing, it has passed all files. */
    int err = search(recording, claim, pid, rank, &ranks, &number);

    while (number == NO_DUMP && !err && rank < OWNER_BY_CONTENT)
        if (ranks >> ++rank & 1)
            err = search(recording, claim, pid, rank, &ranks, &number);
    recording->summary->markers++;
    for (size_t i = 0; i < claim->count; i++) {
        claim->markers[i]->dump = number;
        claim->markers[i]->rank = rank;
        claim->markers[i]->claim = id;
    }
    if (ranks == 0 && !err)
        diag_report(recording->diag, DIAG_WARNING, claim->markers[0]->path, DIAG_NO_OFFSET,
                    "the dump of process %u is neither there nor beside the recording: its code "
                    "stays without names; name its directory by --dump-dir, or the file by --dump "
                    "%u=FILE",
                    claim->markers[0]->pid, claim->markers[0]->pid);
    return err;
}

/* Which file was mapped. Where no inode is known, each process may have had one of its own. */
static int compare_files(const struct marker *a, const struct marker *b)
{
    int order = strcmp(a->path, b->path);

    if (!order && a->inode != b->inode)
        order = a->inode < b->inode ? -1 : 1;
    if (!order && a->inode && a->device != b->device)
        order = a->device < b->device ? -1 : 1;
    if (!order && !a->inode && a->pid != b->pid)
        order = a->pid < b->pid ? -1 : 1;
    return order;
}

static int compare_claims(const void *left, const void *right)
{
    const struct marker *a = *(struct marker *const *)left, *b = *(struct marker *const *)right;
    int order = compare_files(a, b);

    return order ? order : (a->record > b->record) - (a->record < b->record);
}

/* The markers without a dump yet, by file. */
static int find_dumps(struct recording *recording, struct marker **markers)
{
    size_t count = 0;
    uint32_t id = 0;
    int err = 0;

    for (size_t i = 0; i < recording->marker_count; i++)
        if (recording->markers[i].dump == NO_DUMP)
            markers[count++] = &recording->markers[i];
    qsort(markers, count, sizeof(struct marker *), compare_claims);
    for (size_t first = 0, next; first < count && !err; first = next) {
        for (next = first + 1; next < count; next++)
            if (compare_files(markers[first], markers[next]) != 0)
                break;
        const struct claim claim = {.markers = markers + first, .count = next - first};
        err = find_claimed(recording, &claim, id++);
    }
    return err;
}

static int compare_dumps(const void *left, const void *right)
{
    const struct marker *a = *(struct marker *const *)left, *b = *(struct marker *const *)right;

    if (a->dump != b->dump)
        return a->dump < b->dump ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

/* Finds out whose the dumps are, once it is known which markers have one in common. */
static void find_owners(struct recording *recording, struct marker **markers)
{
    size_t count = 0;

    for (size_t i = 0; i < recording->marker_count; i++)
        if (recording->markers[i].dump != NO_DUMP)
            markers[count++] = &recording->markers[i];
    qsort(markers, count, sizeof(struct marker *), compare_dumps);
    for (size_t first = 0, next; first < count; first = next) {
        const size_t number = markers[first]->dump;
        for (next = first + 1; next < count && markers[next]->dump == number; next++)
            ;
        const struct claim claim = {.markers = markers + first, .count = next - first};
        owner_find(recording, &recording->dumps[number], &claim);
    }
}

int claims_find_dumps(struct recording *recording)
{
    struct marker **markers = malloc((recording->marker_count + 1) * sizeof(struct marker *));
    int err = markers ? 0 : -ENOMEM;

    for (size_t i = 0; i < recording->options->dump_count && !err; i++)
        err = take_given(recording, &recording->options->dumps[i]);
    if (!err)
        err = find_dumps(recording, markers);
    if (!err)
        find_owners(recording, markers);
    free(markers);
    return err;
}
