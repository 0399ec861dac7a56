/* SPDX-License-Identifier: MIT */
/*
 * A piece of code that a JIT put somewhere at some time: what the parts hand one another. The
 * jitdump index makes one for each LOAD and for each MOVE it can resolve, place decides where in
 * which file it goes, image writes it. Code bytes, names and tables stay in the file that they are
 * from, its source; a piece says where.
 */
#ifndef JITINJECT_CODE_H
#define JITINJECT_CODE_H

#include <stdint.h>

/* Sources are smaller than 1 << CODE_OFFSET_BITS bytes. */
#define CODE_OFFSET_BITS 48

enum code_flags {
    CODE_NO_BYTES = 1u << 0, /* the source has no code bytes for it */
    CODE_MOVED = 1u << 1,    /* from a MOVE record: bytes, name and tables are those of its LOAD */
    CODE_REUSED = 1u << 2,   /* something else had its address, too: place_mark_reused */
};

/* 64 bytes: there may be millions, and all are gone through several times. */
struct code {
    uint64_t time; /* ns of the recording's clock (or raw arch timestamp before conversion) */
    uint64_t addr; /* first address, in the process */
    uint64_t name; /* offset in the source of its name */
    uint64_t debug : CODE_OFFSET_BITS;  /* offset in the source of its DEBUG_INFO record, 0: none */
    uint64_t source : 16;               /* which file: index into the caller's array of sources */
    uint64_t unwind : CODE_OFFSET_BITS; /* ... of its UNWINDING_INFO record, 0: none */
    uint64_t flags : 16;                /* enum code_flags */
    uint32_t size;                      /* bytes of code, may be 0 */
    uint32_t pid;         /* as in the record; inject maps it to the recording's pid */
    uint32_t name_size;   /* bytes of the name, without a NUL */
    uint32_t code_delta;  /* the code bytes are at name + code_delta */
    uint32_t unwind_size; /* bytes of .eh_frame to keep room for in the image, 0: none */
    uint32_t
        layer; /* set by place: 0 for the first code at an address, else above what it covers */
};

/*
 * A name for some addresses, of which nothing says since when it holds: what a perf map knows of a
 * piece of code.
 */
struct code_symbol {
    uint64_t addr;
    uint64_t name; /* offset in the source of its name */
    uint32_t size, name_size;
};

#endif /* JITINJECT_CODE_H */
