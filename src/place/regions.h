/* SPDX-License-Identifier: MIT */
/*
 * Regions: spans of the address space that have one bias in all files that mirror them, whatever
 * their layers. libdw knows a file by the addresses that it spans and by where it starts; perf 7
 * keeps all that it has seen of a process, and where another file is at an address now, it gives up
 * the whole stack, for good. Of files that start at one address it takes the one that it knows.
 */
#ifndef PLACE_REGIONS_H
#define PLACE_REGIONS_H

#include "place_internal.h"

struct region {
    uint64_t start, end;    /* of its extents */
    uint64_t bias;          /* start + bias = offset in the files, modulo 2^64 */
    uint64_t tables_size;   /* of all files together */
    uint64_t replaced_size; /* more of it if the files share their tables */
    uint64_t tables_offset; /* of the next file's; 0: there is no room for any */
    uint64_t head_size;     /* of the room for the files' first pages */
    size_t file_count, code_count;
    struct code *
        *codes; /* of all files, by address: each has the tables of all. NULL: of its own */
};

/* The regions of all extents that are mirrored, by address. 0 or -ENOMEM; the caller frees. */
int regions_make(const struct process *process, struct region **regions, size_t *count);
/* The region of an address that is in one. */
struct region *regions_at(struct region *regions, size_t count, uint64_t addr);

/* Gives a region its bias and its rooms, for tables_size. 0 or -ENOMEM. */
int region_place(struct process *process, struct region *region);

#endif /* PLACE_REGIONS_H */
