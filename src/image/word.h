/* SPDX-License-Identifier: MIT */
/*
 * A word of the code that tells pieces apart which are at the same addresses one after the other:
 * whoever reads it in the process knows which of them is there.
 */
#ifndef JITINJECT_IMAGE_WORD_H
#define JITINJECT_IMAGE_WORD_H

#include "internal.h"

/* Each piece is of a layer of its own, and so many have a base. */
#define WORD_PIECES_MAX 64
/* How far into the code, at most, it is looked for. */
#define WORD_SEARCH_SIZE 256

struct word_piece {
    const struct code *code;
    uint64_t start, end; /* in files of the base */
};

struct word {
    struct word_piece pieces[WORD_PIECES_MAX]; /* the question */
    size_t count;
    bool found; /* the answer: all pieces are where a word is */
    uint64_t addr;
    uint64_t values[WORD_PIECES_MAX]; /* of the word in each piece; equal ones are not told apart */
    uint8_t code[WORD_PIECES_MAX][WORD_SEARCH_SIZE]; /* for the search itself */
};

/* Finds the word that differs most. 0 or a negative errno. */
int word_find(struct word *word, const struct image *image);

#endif /* JITINJECT_IMAGE_WORD_H */
