/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow: a record or a file section is put together here and then written in one go.
 * A benchmark has nothing sensible to do without memory or disk, so failures end the program.
 */
#ifndef BENCH_BUFFER_H
#define BENCH_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buffer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

void buffer_free(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);

/* Appends `size` bytes for the caller to fill; valid until the next append. */
uint8_t *buffer_extend(struct buffer *buffer, size_t size);

void buffer_put(struct buffer *buffer, const void *bytes, size_t size);
void buffer_put_u8(struct buffer *buffer, uint8_t value);
void buffer_put_u16(struct buffer *buffer, uint16_t value);
void buffer_put_u32(struct buffer *buffer, uint32_t value);
void buffer_put_u64(struct buffer *buffer, uint64_t value);
void buffer_put_zeros(struct buffer *buffer, size_t count);

/* The text and its NUL, then zeros up to a multiple of `align` counted from the text. */
void buffer_put_text(struct buffer *buffer, const char *text, size_t align);

void buffer_write(const struct buffer *buffer, FILE *to);

#endif /* BENCH_BUFFER_H */
