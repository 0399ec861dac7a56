/* SPDX-License-Identifier: MIT */
#include "word.h"

#include "encode.h"
#include "jitinject/bytes.h"
#include "jitinject/io.h"

#include <string.h>

/* Bytes [start, start + size) of the code, as they will be in its file. 0 or a negative errno. */
static int read_code(const struct image *image, const struct word_piece *piece, uint64_t start,
                     size_t size, uint8_t *bytes)
{
    const struct code *code = piece->code;
    const struct image_source *source = &image->sources[code->source];

    memset(bytes, 0, size);
    if (code->flags & CODE_NO_BYTES)
        return 0;
    const ssize_t got =
        io_pread(source->fd, bytes, size, code->name + code->code_delta + (start - piece->start));
    return got < 0 ? (int)got : 0;
}

static uint64_t value_at(const struct image_target *target, const uint8_t *bytes)
{
    const bool swapped = image_target_swapped(target);

    return target->is_64bit ? bytes_u64(bytes, swapped) : bytes_u32(bytes, swapped);
}

/* Sets the values of the word that is `at` bytes into what was read; how many of them differ. */
static size_t take_values(const struct word *word, const struct image_target *target, size_t at,
                          uint64_t *values)
{
    size_t different = 0;

    for (size_t i = 0; i < word->count; i++) {
        size_t k = 0;
        values[i] = value_at(target, &word->code[i][at]);
        while (k < i && values[k] != values[i])
            k++;
        different += k == i;
    }
    return different;
}

/*
 * Looks where all pieces are: one that runs has all of its bytes in place. Readers fetch memory in
 * aligned words, so it is one of these.
 */
int word_find(struct word *word, const struct image *image)
{
    const struct word_piece *pieces = word->pieces;
    const size_t word_size = image->target->is_64bit ? 8 : 4;
    uint64_t start = 0, end = UINT64_MAX, values[WORD_PIECES_MAX];
    size_t best = 0;
    int err = 0;

    word->found = false;
    for (size_t i = 0; i < word->count; i++) {
        start = pieces[i].start > start ? pieces[i].start : start;
        end = pieces[i].end < end ? pieces[i].end : end;
    }
    start = bytes_align_up(start, word_size); /* as its address is: the base is that of a page */
    if (start >= end)
        return 0;
    const size_t size = end - start < WORD_SEARCH_SIZE ? (size_t)(end - start) : WORD_SEARCH_SIZE;
    for (size_t i = 0; i < word->count && !err; i++)
        err = read_code(image, &pieces[i], start, size, word->code[i]);
    for (size_t at = 0; !err && at + word_size <= size && best < word->count; at += word_size) {
        const size_t different = take_values(word, image->target, at, values);
        if (different <= best)
            continue;
        best = different;
        word->found = true;
        word->addr = pieces[0].code->addr + (start + at - pieces[0].start);
        memcpy(word->values, values, word->count * sizeof(*values));
    }
    return err;
}
