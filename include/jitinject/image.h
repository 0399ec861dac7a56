/* SPDX-License-Identifier: MIT */
/*
 * The ELF shared object that holds all code of a window: .text sections, symbols, build-id (and
 * line and unwind tables). sh_addr == sh_offset == vaddr for all that is mapped. DESIGN.md, "The
 * image".
 */
#ifndef JITINJECT_IMAGE_H
#define JITINJECT_IMAGE_H

#include "jitinject/diag.h"
#include "jitinject/jitdump.h"
#include "jitinject/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_SIZE 20

struct image_target {
    uint16_t machine;   /* EM_* */
    bool is_64bit;      /* ELFCLASS64 */
    bool is_big_endian; /* ELFDATA2MSB */
};

/*
 * The target of code that is said to be for `machine` (EM_*; EM_NONE or not a 16-bit number: not
 * known) and was recorded on `arch`, a `uname -m` name as perf.data has it ("x86_64", "aarch64",
 * "i686", "s390x" ...), or NULL. Where both leave it open, the machine is EM_NONE, and the class is
 * 64 bits.
 */
struct image_target image_target_of(uint32_t machine, const char *arch, bool is_big_endian);

/* False: code of `machine` is known not to run on `arch`, nor in its other class. */
bool image_runs_on(uint32_t machine, const char *arch);

struct image_stats {
    uint64_t symbols;
    uint64_t unwind_entries; /* FDEs */
    uint64_t unwind_dropped; /* pieces whose unwind tables were of no use, or had no room */
    uint64_t line_rows;      /* that tell a line */
    uint64_t code_bytes;     /* copied from the sources */
    uint64_t file_size;      /* apparent */
    uint64_t bytes_written;  /* less the holes */
    uint64_t second_cpu;     /* ns on a processor of the second thread */
};

struct image_options {
    bool compress_debug; /* .debug_* in zlib's format */
};

/* A file that names and code bytes are read from. */
struct image_source {
    const char *path; /* for reports */
    int fd;
    uint64_t size;                    /* of the file: nothing is read beyond it */
    const struct jitdump *dump;       /* for line and unwind tables; NULL: it has none */
    struct jitdump_line_traits lines; /* of the dump */
};

/*
 * Writes the image of `file` to `fd` (empty, read-write), reading code and names from
 * sources[code->source]. The build-id is a function of all that the image holds. 0 or a negative
 * errno; what is wrong with a source is reported to `diag`, by the calling thread, and a failed
 * write is the caller's to report. Memory: buffers of a few MiB, and, where there are unwind
 * tables, 40 bytes a function and the largest record of them; where there are line tables, the
 * distinct names of files, and twice the largest record.
 */
int image_write(const struct place_file *file, const struct image_source *sources,
                const struct image_target *target, const struct image_options *options, int fd,
                const struct diag *diag, uint8_t build_id[IMAGE_BUILD_ID_SIZE],
                struct image_stats *stats);

#endif /* JITINJECT_IMAGE_H */
