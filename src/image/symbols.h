/* SPDX-License-Identifier: MIT */
/* .symtab and .strtab: a local function symbol for each piece of code, in the order of addresses.
 */
#ifndef JITINJECT_IMAGE_SYMBOLS_H
#define JITINJECT_IMAGE_SYMBOLS_H

#include "encode.h"
#include "internal.h"
#include "stream.h"

struct image_symbols {
    struct image *image;
    struct image_stream table;
    Elf64_Sym waiting[IMAGE_SYMBOLS_AT_ONCE]; /* to be encoded, and go to the table */
    size_t waiting_count;
    uint64_t next_name; /* where the next name goes in .strtab */
    uint64_t end;       /* of the last function */
    uint16_t section;   /* ... which is in this one; SHN_UNDEF: there is none */
};

/* Sets image->symbols and image->names, which the pieces of the file determine, and moves the end
 * of the image behind them. */
void image_symbols_lay_out(struct image *image);

#define IMAGE_SYMBOLS_BUFFER (240u << 10) /* a multiple of both sizes of a symbol */

/*
 * Begins the table; `buffer` has IMAGE_SYMBOLS_BUFFER bytes and is borrowed. 0 or a negative errno;
 * image_symbols_close is safe after either.
 */
int image_symbols_open(struct image_symbols *symbols, struct image *image, uint8_t *buffer);
void image_symbols_close(struct image_symbols *symbols);

/*
 * Where the name of a piece is in .strtab, 0 if it has none there; `next` is 1 before the first
 * piece, and they are asked for in their order.
 */
uint32_t image_symbols_name(uint64_t *next, const struct code *code);

/* Whether a piece has a symbol at all: without a byte there is nothing to look up. */
bool image_symbols_has(const struct code *code);

/*
 * Adds the symbol of a piece that has one. Returns whether .strtab had room for its name: then the
 * caller writes the name and a NUL to .strtab next.
 */
bool image_symbols_add(struct image_symbols *symbols, const struct code *code, uint64_t value,
                       uint16_t section);

/* Closes the table and writes what is left. 0 or a negative errno. */
int image_symbols_finish(struct image_symbols *symbols);

#endif /* JITINJECT_IMAGE_SYMBOLS_H */
