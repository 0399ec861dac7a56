/* SPDX-License-Identifier: MIT */
/*
 * Perf maps, /tmp/perf-<pid>.map: a line "START SIZE NAME" for each function, both numbers in
 * hexadecimal,
 * https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jit-interface.txt
 *
 * Each runtime has its own idea of the format, several threads may have written at once, and some
 * lines were never finished. What is no entry is reported with its offset and costs only its line.
 */
#ifndef JITINJECT_PERFMAP_H
#define JITINJECT_PERFMAP_H

#include "jitinject/code.h"
#include "jitinject/diag.h"
#include "jitinject/infile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Reading ---- */

/* Longer names are cut there. */
#define PERFMAP_NAME_MAX 65535

struct perfmap_stats {
    uint64_t entries;
    uint64_t invalid;  /* lines that are no entries */
    uint64_t empty;    /* entries without a byte of code, or without a name: left out */
    uint64_t replaced; /* entries that are left out since later ones have all of their addresses */
    bool cut;          /* the last line has no end: left out */
};

struct perfmap {
    char *path;
    struct infile file;
    struct code_symbol *symbols; /* by address, not overlapping */
    size_t count, capacity;
    struct perfmap_stats stats;
};

/*
 * Opens a map and reads it once, through one buffer. Where entries overlap, the later one counts,
 * and what it leaves of the other stays. 0 or a negative errno; what failed is reported to `diag`
 * as a warning, and the map is closed. Memory: 24 bytes an entry, and twice as much while it reads.
 */
int perfmap_open(const char *path, const struct diag *diag, struct perfmap *map);
/* All zero is fine, too. */
void perfmap_close(struct perfmap *map);

/* ---- Writing ---- */

struct perfmap_written {
    uint64_t entries;
    uint64_t replaced; /* pieces that are left out since later ones have all of their addresses */
    uint64_t nameless; /* pieces that are left out since they have no name */
};

/*
 * Writes a map of pieces in the order of their times to `fd`, by address: a map knows no time, so
 * of several pieces at an address it has the last one. Names are read from `names` (a file of
 * `names_size` bytes); control characters in them become blanks. 0 or a negative errno: -ENODATA if
 * `names` ends within a name, else that of reading or writing.
 */
int perfmap_write(struct code *const *codes, size_t count, int names, uint64_t names_size, int fd,
                  struct perfmap_written *written);

#endif /* JITINJECT_PERFMAP_H */
