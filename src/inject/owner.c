/* SPDX-License-Identifier: MIT */
/* Whose a dump is, and whose the code in it. */
#include "recording.h"

/*
 * Whose dump it is. Where one of its markers has the pid of the header, that one; the other markers
 * are of children that have the mapping from their parent. Where none has, the writer is in a pid
 * namespace, and the marker says what the recording calls it.
 */
static void find_writer(const struct recording *recording, size_t number)
{
    struct dump *dump = &recording->dumps[number];
    bool first = true;

    for (size_t i = 0; i < recording->marker_count; i++) {
        const struct marker *marker = &recording->markers[i];
        if (marker->dump != number)
            continue;
        if (first || marker->pid == dump->inner_pid)
            dump->pid = marker->pid;
        first = false;
    }
    dump->in_namespace = dump->pid != dump->inner_pid;
}

/*
 * Two containers may call their dumps alike. Where the header's pid does not tell whose the dump
 * is, only one process can have it, and the others are to be heard of.
 */
static void report_rivals(const struct recording *recording, size_t number)
{
    const struct dump *dump = &recording->dumps[number];
    uint32_t last = dump->pid;

    for (size_t i = 0; i < recording->marker_count && dump->in_namespace; i++) {
        const struct marker *marker = &recording->markers[i];
        if (marker->dump != number || marker->pid == dump->pid || marker->pid == last)
            continue;
        last = marker->pid;
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "process %u names this dump too, which is taken for that of process %u (pid %u "
                    "in its header): code of the former stays without names",
                    marker->pid, dump->pid, dump->inner_pid);
    }
}

void owner_find(struct recording *recording, size_t number)
{
    find_writer(recording, number);
    report_rivals(recording, number);
}

uint32_t owner_pid(const struct recording *recording, const struct dump *dump, uint32_t pid)
{
    if (pid == dump->inner_pid || pid == dump->pid)
        return dump->pid;
    if (!dump->in_namespace)
        return pid;
    /* A child in the namespace: known if it has a dump of its own. */
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].in_namespace && recording->dumps[i].inner_pid == pid)
            return recording->dumps[i].pid;
    return dump->pid;
}
