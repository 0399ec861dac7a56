/* SPDX-License-Identifier: MIT */
/*
 * Dumps made in memory, byte by byte after the jitdump specification and without the code under
 * test, and a place for the reports about them.
 */
#ifndef TEST_JITDUMP_BUILDER_H
#define TEST_JITDUMP_BUILDER_H

#include "jitinject/jitdump.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

struct builder {
    uint8_t *bytes;
    size_t size, capacity;
    bool big_endian;
    char path[64]; /* of the last file written */
};

#define NATIVE_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

void builder_init(struct builder *builder, bool big_endian);
/* Frees, and removes the file. */
void builder_done(struct builder *builder);

void put_bytes(struct builder *builder, const void *bytes, size_t size);
void put_fill(struct builder *builder, uint8_t byte, size_t count);
void put_u32(struct builder *builder, uint32_t value);
void put_u64(struct builder *builder, uint64_t value);
void set_u32(struct builder *builder, size_t at, uint32_t value);
void set_u64(struct builder *builder, size_t at, uint64_t value);

/* The usual header: version 1, 40 bytes, x86-64, pid 100, no flags. */
void put_header(struct builder *builder);

/* Each returns the offset of its record. */
size_t put_prefix(struct builder *builder, uint32_t id, uint32_t total_size, uint64_t time);

struct load {
    uint64_t time, addr, index;
    const char *name;
    const void *code; /* NULL: `size` bytes of a pattern that depends on `index` */
    size_t size;
    size_t slack_before, slack_after; /* zero bytes around the code */
    uint32_t pid;                     /* 0: 100 */
    bool no_bytes;                    /* the record ends after the name */
};
size_t put_load(struct builder *builder, const struct load *load);
/* Byte `at` of the code pattern of `index`; never 0. */
uint8_t code_pattern(uint64_t index, size_t at);

size_t put_move(struct builder *builder, uint64_t time, uint32_t pid, uint64_t index,
                uint64_t new_addr, uint64_t size);
/* One entry at the code's start, of line 7. */
size_t put_debug(struct builder *builder, uint64_t time, uint64_t addr);
size_t put_close(struct builder *builder, uint64_t time);
/* `size` bytes of data, of which `header_size` are a header: at the end as perf reads it, or in
 * front. */
size_t put_unwinding(struct builder *builder, uint64_t time, uint64_t size, uint64_t header_size,
                     bool header_first);

/* Writes bytes [0, size) to a file and returns its path. */
const char *write_dump_cut(struct builder *builder, size_t size);
const char *write_dump(struct builder *builder);

/* What was reported. */
struct reports {
    struct diag diag;
    size_t notes, warnings, errors;
    uint64_t last_offset; /* of the last warning */
    char last_text[256];
};
void reports_init(struct reports *reports);

/* Opens and indexes what was built; fails the test where that fails. */
struct opened {
    struct jitdump *dump;
    struct jitdump_index index;
    struct reports reports;
};
void open_index(struct opened *opened, const char *path);
void close_index(struct opened *opened);
/* The code_index of the record that the piece is from. */
uint64_t code_index(const struct opened *opened, const struct code *code);
/* Fails unless the code bytes of the piece are the pattern of its index. */
void check_pattern(const struct opened *opened, const struct code *code);

/* Numbers that are the same on every machine: the row that `seed`, which is not 0, begins. */
void random_begin(uint32_t seed);
uint32_t next_random(void);

#endif /* TEST_JITDUMP_BUILDER_H */
