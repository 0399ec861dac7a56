/* SPDX-License-Identifier: MIT */
/*
 * Code, symbols and names. The pieces come in the order of the image and lie in the order of the
 * sources: they are taken in batches of what fits into the buffers, and each batch is read in the
 * order of the sources. A piece or a name that does not fit goes on in the next batch. Unwind
 * tables lie between the pieces in a dump, so what is read goes to these, too.
 */
#include "internal.h"

#include "fetch.h"
#include "jitinject/array.h"
#include "symbols.h"
#include "unwind.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BUFFER  (256u << 10)
#define NAMES_BUFFER (128u << 10)
#define TEXT_RUNS    4096
#define BUFFERS      (TEXT_BUFFER + NAMES_BUFFER + IMAGE_FETCH_BUFFER + IMAGE_SYMBOLS_BUFFER)
/* Gaps of this size and more are not written. */
#define TEXT_HOLE 4096

/* Bytes of the buffer that go to the file with one write. */
struct run {
    uint64_t offset; /* in the file */
    size_t at, size; /* in the buffer */
};

struct text {
    struct image *image;
    struct image_fetch *fetch;
    struct image_symbols symbols;
    struct image_stream names;
    uint8_t *buffer; /* for code; behind it are the buffers of the others, on the same huge page */
    size_t used;
    struct run *runs;
    size_t run_count;
};

static int hear(void *context, uint16_t source, uint64_t offset, const uint8_t *bytes, size_t size)
{
    return unwind_take(context, source, offset, bytes, size);
}

static int text_open(struct text *text, struct image *image, struct unwind *unwind)
{
    const struct image_fetch_listener listener = {.heard = hear, .context = unwind};

    *text = (struct text){.image = image,
                          .buffer = array_new(BUFFERS, 1),
                          .runs = malloc(TEXT_RUNS * sizeof(struct run))};
    if (!text->buffer || !text->runs)
        return -ENOMEM;
    uint8_t *names = text->buffer + TEXT_BUFFER, *fetched = names + NAMES_BUFFER;
    uint8_t *symbols = fetched + IMAGE_FETCH_BUFFER;
    int err = image_fetch_new(image->sources, image->diag, &listener, fetched, &text->fetch);

    err = err ?: image_symbols_open(&text->symbols, image, symbols);
    err = err
              ?: image_stream_open(&text->names, &image->output, image->names.offset, names,
                                   NAMES_BUFFER);
    return err;
}

static void text_close(struct text *text)
{
    image_stream_close(&text->names);
    image_symbols_close(&text->symbols);
    image_fetch_free(text->fetch);
    free(text->runs);
    free(text->buffer);
}

/* Reads the batch and writes it; names only once they are worth a write. */
static int flush_batch(struct text *text)
{
    int err = image_fetch_run(text->fetch);

    for (size_t i = 0; i < text->run_count && !err; i++) {
        const struct run *run = &text->runs[i];
        err = image_output_write(&text->image->output, text->buffer + run->at, run->size,
                                 run->offset);
    }
    text->used = 0;
    text->run_count = 0;
    if (!err && image_stream_room(&text->names) < NAMES_BUFFER / 2)
        err = image_stream_flush(&text->names);
    return err;
}

/*
 * The run that takes the byte at `offset` next: the last one, with zeros up to there, or a new one.
 * NULL if the buffers are full.
 */
static struct run *run_for(struct text *text, uint64_t offset)
{
    struct run *last = text->run_count ? &text->runs[text->run_count - 1] : NULL;
    const uint64_t end = last ? last->offset + last->size : 0;

    if (last && offset >= end && offset - end < TEXT_HOLE) {
        const size_t gap = (size_t)(offset - end);
        if (gap >= TEXT_BUFFER - text->used)
            return NULL;
        memset(text->buffer + text->used, 0, gap);
        text->used += gap;
        last->size += gap;
        return last;
    }
    if (text->run_count == TEXT_RUNS || text->used == TEXT_BUFFER)
        return NULL;
    /* So that what is written ends where a large page of the file system's does. */
    if (text->run_count == 0)
        text->used = (size_t)(offset % TEXT_BUFFER);
    struct run *run = &text->runs[text->run_count++];
    *run = (struct run){.offset = offset, .at = text->used};
    return run;
}

static int add_code(struct text *text, const struct code *code, uint64_t offset)
{
    uint64_t from, left = code->size;
    int err = 0;

    /* What is never written reads as zeros. */
    if (code->flags & CODE_NO_BYTES)
        return 0;
    if (__builtin_add_overflow(code->name, code->code_delta, &from))
        from = UINT64_MAX;
    while (left && !err) {
        struct run *run = image_fetch_is_full(text->fetch) ? NULL : run_for(text, offset);
        if (!run) {
            err = flush_batch(text);
            continue;
        }
        const size_t room = TEXT_BUFFER - text->used;
        const size_t part = left < room ? (size_t)left : room;
        err = image_fetch_add(text->fetch, code->source, from, part, text->buffer + text->used);
        text->used += part;
        run->size += part;
        from += part;
        offset += part;
        left -= part;
    }
    text->image->stats->code_bytes += code->size;
    return err;
}

static int add_name(struct text *text, const struct code *code)
{
    uint64_t from = code->name, left = code->name_size;
    int err = 0;

    while (left && !err) {
        const size_t room = image_stream_room(&text->names);
        if (!room || image_fetch_is_full(text->fetch)) {
            err = flush_batch(text);
            continue;
        }
        const size_t part = left < room ? (size_t)left : room;
        err = image_fetch_add(text->fetch, code->source, from, part,
                              image_stream_take(&text->names, part));
        from += part;
        left -= part;
    }
    /* The names in the buffer have still to be read, and then written after that. */
    if (!err && !image_stream_room(&text->names))
        err = flush_batch(text);
    if (!err)
        *image_stream_take(&text->names, 1) = '\0';
    return err;
}

static int add_piece(struct text *text, const struct code *code, uint64_t offset, uint16_t section)
{
    if (!image_symbols_has(code))
        return 0;
    const bool named = image_symbols_add(&text->symbols, code, offset, section);
    int err = named ? add_name(text, code) : 0;

    return err ?: add_code(text, code, offset);
}

/* The walk over the pieces, by extent and by address: by their offset in the file. */
static int add_pieces(struct text *text)
{
    const struct image *image = text->image;
    const struct place_file *file = image->file;
    size_t section = IMAGE_FIRST_TEXT;
    int err = 0;

    *image_stream_take(&text->names, 1) = '\0';
    for (size_t i = 0; i < file->extent_count && !err; i++) {
        const struct place_extent *extent = &file->extents[i];
        while (extent->offset >= image->sections[section].offset + image->sections[section].size &&
               extent->size)
            section++;
        for (size_t k = extent->first; k < extent->first + extent->count && !err; k++) {
            const struct code *code = file->codes[k];
            const uint64_t delta = code->addr - extent->addr;
            assert(delta <= extent->size && code->size <= extent->size - delta);
            err = add_piece(text, code, extent->offset + delta, (uint16_t)section);
        }
    }
    return err;
}

int image_write_text(struct image *image, struct unwind *unwind)
{
    struct text text;
    int err = text_open(&text, image, unwind);

    err = err ?: add_pieces(&text);
    err = err ?: flush_batch(&text);
    err = err ?: image_stream_flush(&text.names);
    err = err ?: image_symbols_finish(&text.symbols);
    text_close(&text);
    return err;
}
