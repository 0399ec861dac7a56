/* SPDX-License-Identifier: MIT */
/*
 * Where a dump has its fields, in bytes from the start of what has them; all that is read of one is
 * read by these.
 * https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jitdump-specification.txt
 */
#ifndef JITDUMP_FORMAT_H
#define JITDUMP_FORMAT_H

/* The header of the file. Later versions may have a longer one. */
enum {
    HEADER_MAGIC = 0,
    HEADER_VERSION = 4,
    HEADER_TOTAL_SIZE = 8,
    HEADER_ELF_MACH = 12,
    HEADER_PAD1 = 16,
    HEADER_PID = 20,
    HEADER_TIMESTAMP = 24,
    HEADER_FLAGS = 32,
    HEADER_SIZE = 40,
};

/* What each record begins with. */
enum {
    FRAME_ID = 0,
    FRAME_TOTAL_SIZE = 4,
    FRAME_TIMESTAMP = 8,
    FRAME_SIZE = 16,
};

enum {
    LOAD_PID = 16,
    LOAD_TID = 20,
    LOAD_CODE_ADDR = 32, /* behind vma, which is the same */
    LOAD_CODE_SIZE = 40,
    LOAD_CODE_INDEX = 48,
    LOAD_NAME = 56, /* with its NUL; the code follows */
};

enum {
    MOVE_PID = 16,
    MOVE_TID = 20,
    MOVE_OLD_CODE_ADDR = 32,
    MOVE_NEW_CODE_ADDR = 40,
    MOVE_CODE_SIZE = 48,
    MOVE_CODE_INDEX = 56,
    MOVE_END = 64,
};

enum {
    DEBUG_CODE_ADDR = 16,
    DEBUG_NR_ENTRY = 24,
    DEBUG_ENTRIES = 32,
};

/* An entry of DEBUG_INFO; the next one follows the NUL of the name. */
enum {
    ENTRY_ADDR = 0,
    ENTRY_LINE = 8,
    ENTRY_COLUMN = 12, /* the specification's discrim */
    ENTRY_FILE = 16,
};

enum {
    UNWINDING_SIZE = 16,
    UNWINDING_HEADER_SIZE = 24,
    UNWINDING_MAPPED_SIZE = 32,
    UNWINDING_DATA = 40,
};

/* The longest fixed part of a record. */
#define FIXED_MAX MOVE_END

#endif /* JITDUMP_FORMAT_H */
