/* SPDX-License-Identifier: MIT */
/* The machine code of tinyjit: x86-64 functions that do nothing but take time. */
#ifndef TINYJIT_CODE_H
#define TINYJIT_CODE_H

#include <stddef.h>
#include <stdint.h>

/* What all of them are called as: `rounds` turns of a loop. */
typedef void burner(uint64_t rounds);

/* A function with a frame pointer, position independent; `id` makes its bytes its own. */
#define CODE_BURNER_SIZE 16
void code_burner(uint8_t at[CODE_BURNER_SIZE], uint32_t id);

/* The same with three loops, that take 1, 2 and 3 parts of its time. */
#define CODE_LINES_SIZE 55
#define CODE_LINES      3
void code_lines(uint8_t at[CODE_LINES_SIZE], uint32_t id);
extern const uint8_t code_lines_offsets[CODE_LINES];

/*
 * A function that keeps no frame pointer but clears the register, so that only tables can unwind
 * it; it calls `callee`, or burns itself if that is NULL. `frame` is the size of its frame, up to
 * CODE_FRAME_MAX: the tables of one size are wrong for another.
 */
#define CODE_FRAMELESS_SIZE 25
#define CODE_FRAME_MAX      111
void code_frameless(uint8_t at[CODE_FRAMELESS_SIZE], const void *callee, uint8_t frame);

/* Its tables: .eh_frame, and .eh_frame_hdr at the end, for tables that lie behind the code at a
 * multiple of 8. */
#define CODE_TABLES_SIZE        80
#define CODE_TABLES_HEADER_SIZE 20
void code_frameless_tables(uint8_t at[CODE_TABLES_SIZE], uint8_t frame);

#endif /* TINYJIT_CODE_H */
