/* SPDX-License-Identifier: MIT */
/*
 * Writes a jitdump,
 * https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jitdump-specification.txt
 *
 * This is the runtime's side of the format, on purpose without a line of the code that reads it.
 * A failure ends the program: the caller is a test.
 */
#ifndef TINYJIT_DUMP_H
#define TINYJIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump {
    int fd;
};

/* Makes DIR/jit-<pid>.dump and maps its first page executable: the marker that perf records. */
void dump_open(struct dump *dump, const char *dir);
/* Writes the CLOSE record. */
void dump_close(struct dump *dump);

/* CLOCK_MONOTONIC in ns, the clock of `perf record -k mono`. */
uint64_t dump_now(void);

struct dump_code {
    const char *name;
    const void *bytes;
    uint64_t addr;
    size_t size;
    uint64_t index;
    uint64_t time; /* 0: now */
};
void dump_load(struct dump *dump, const struct dump_code *code);
void dump_move(struct dump *dump, uint64_t old_addr, uint64_t new_addr, size_t size,
               uint64_t index);

struct dump_line {
    uint64_t addr;
    uint32_t line;
};
/* The lines of the LOAD that follows. */
void dump_debug(struct dump *dump, uint64_t code_addr, const char *file,
                const struct dump_line *lines, size_t count);

/*
 * The unwind tables of the LOAD that follows: `size` bytes of .eh_frame and, at their end,
 * .eh_frame_hdr, the order that V8 and CPython write and perf reads. `mapped`: they are in the
 * process too, right behind the code at a multiple of 8.
 */
void dump_unwinding(struct dump *dump, const void *tables, size_t size, size_t header_size,
                    bool mapped);

#endif /* TINYJIT_DUMP_H */
