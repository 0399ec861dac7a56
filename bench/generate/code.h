/* SPDX-License-Identifier: MIT */
/*
 * What a runtime knows of a function: its name, source, x86-64 code and unwind data. All follow
 * from the seed and the function's number.
 */
#ifndef BENCH_CODE_H
#define BENCH_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

enum {
    /* Instructions never cross a bundle's end, so each bundle starts with one: samples and return
     * addresses point there, and annotate finds them. */
    CODE_BUNDLE = 16,
    CODE_MAX_SIZE = 880,
    CODE_MAX_UNWIND_SIZE = 112, /* with the gap after the code */
    CODE_MAX_NAME = 80,
    CODE_MAX_PATH = 64,
};

/* 300 bytes on average. */
uint32_t code_size(uint64_t seed, uint32_t number);
void code_put(struct buffer *to, uint64_t seed, uint32_t number);

/* 40 to 80 bytes, as V8 writes them for JavaScript and WebAssembly; no two are the same. */
void code_name(char name[CODE_MAX_NAME + 1], uint64_t seed, uint32_t number);

/* The source file, and the line that the function begins at. */
uint32_t code_source(char path[CODE_MAX_PATH], uint64_t seed, uint32_t number);

/* .eh_frame for code of this size that lies right before it (aligned to 8), then .eh_frame_hdr. */
void code_put_unwind(struct buffer *to, uint32_t size, uint32_t *header_size);

#endif /* BENCH_CODE_H */
