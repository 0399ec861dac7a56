/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <stddef.h>
#include <string.h>

static const struct foreign_option options[] = {
    {"-b", "adds build-ids of all files with samples"},
    {"--build-ids", "adds build-ids of all files with samples"},
    {"-B", "writes build-ids into mapping events"},
    {"--mmap2-buildid-all", "writes build-ids into mapping events"},
    {"--mmap2-buildids", "writes build-ids into mapping events"},
    {"--buildid-all", "adds build-ids of all mapped files"},
    {"--known-build-ids", "takes build-ids from a file"},
    {"-s", "merges sched_stat and sched_switch events"},
    {"--sched-stat", "merges sched_stat and sched_switch events"},
    {"-k", "names the kernel image (the clock is chosen by `perf record -k mono`)"},
    {"--vmlinux", "names the kernel image"},
    {"--ignore-vmlinux", "leaves the kernel image unread"},
    {"--kallsyms", "names the kernel's symbol file"},
    {"--itrace", "decodes AUX traces"},
    {"--strip", "leaves out events that AUX traces made superfluous"},
    {"--vm-time-correlation", "aligns the clocks of host and guest traces"},
    {"--guest-data", "merges the recording of a virtual machine"},
    {"--guestmount", "names the directory of guest file systems"},
    {"--unwind-style", "chooses the unwinder of --convert-callchain"},
    {"--convert-callchain", "turns stack dumps into callchains"},
    {"--aslr", "makes addresses comparable between runs"},
};

const struct foreign_option *foreign_find(const char *argument)
{
    const size_t size = strcspn(argument, "=");

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strlen(options[i].name) == size && strncmp(options[i].name, argument, size) == 0)
            return &options[i];
    return NULL;
}
