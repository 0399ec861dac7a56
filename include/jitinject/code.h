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

enum code_flags {
    CODE_NO_BYTES = 1u << 0, /* the source has no code bytes for it */
    CODE_MOVED = 1u << 1,    /* from a MOVE record: bytes, name and tables are those of its LOAD */
    CODE_REUSED = 1u << 2,   /* something else had its address, too: place_mark_reused */
};

struct code {
    uint64_t time;       /* ns of the recording's clock (or raw arch timestamp before conversion) */
    uint64_t addr;       /* first address, in the process */
    uint64_t size;       /* bytes of code, may be 0 */
    uint64_t name;       /* offset in the source of its name */
    uint64_t index;      /* code_index of the record */
    uint64_t debug;      /* offset in the source of its DEBUG_INFO record, 0: none */
    uint64_t unwind;     /* offset in the source of its UNWINDING_INFO record, 0: none */
    uint32_t pid;        /* as in the record; inject maps it to the recording's pid */
    uint32_t name_size;  /* bytes of the name, without a NUL */
    uint32_t code_delta; /* the code bytes are at name + code_delta */
    uint32_t unwind_size; /* bytes of .eh_frame to keep room for in the image, 0: none */
    uint16_t source;      /* which file: index into the caller's array of sources */
    uint16_t flags;       /* enum code_flags */
    uint32_t
        layer; /* set by place: 0 for the first code at an address, else above what it covers */
};

#endif /* JITINJECT_CODE_H */
