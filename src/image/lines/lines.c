/* SPDX-License-Identifier: MIT */
/*
 * Line tables: the DEBUG_INFO records of the pieces become .debug_line and what readers need to
 * find their way in it. Pieces are taken in the order of the image, and no more than one unit's
 * worth of them is kept.
 *
 * Where an image has lines at all, each piece has a row: perf gives a file up after some addresses
 * in a row without one. What has no lines is in the file "??", line 0, which readers show as
 * unknown.
 */
#include "../internal.h"

#include "../symbols.h"
#include "rows.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

struct writer {
    struct image *image;
    struct lines_units units;
    struct lines_rows rows;
    struct jitdump_lines *lines;
    uint64_t next_name; /* in .strtab */
};

bool image_has_lines(const struct image *image)
{
    const struct place_file *file = image->file;

    for (size_t i = 0; file->has_debug && i < file->code_count; i++)
        if (file->codes[i]->debug && image->sources[file->codes[i]->source].lines.has_lines)
            return true;
    return false;
}

static int add_piece(struct writer *writer, const struct code *code, uint64_t offset)
{
    const struct image_source *source = &writer->image->sources[code->source];
    struct lines_files *files = &writer->units.files;
    int err = jitdump_lines_open(writer->lines, source->dump, code, source->lines.bias);

    if (err && err != -ENOMEM) /* of which the image tells, once */
        diag_report(writer->image->diag, DIAG_ERROR, source->path, code->debug,
                    "the line table cannot be read: %s", strerror(-err));
    if (err)
        return err;
    err = lines_rows_read(&writer->rows, writer->lines, code, files);
    lines_files_forget(files);
    if (err)
        return err;
    return lines_units_add(&writer->units, offset, code->size,
                           image_symbols_name(&writer->next_name, code), &writer->rows);
}

static int add_pieces(struct writer *writer)
{
    const struct place_file *file = writer->image->file;
    int err = 0;

    for (size_t i = 0; i < file->extent_count && !err; i++) {
        const struct place_extent *extent = &file->extents[i];
        for (size_t k = extent->first; k < extent->first + extent->count && !err; k++) {
            const struct code *code = file->codes[k];
            if (image_symbols_has(code))
                err = add_piece(writer, code, extent->offset + (code->addr - extent->addr));
        }
    }
    return err;
}

int image_write_lines(struct image *image)
{
    struct writer writer = {.image = image, .next_name = 1};
    int err = jitdump_lines_new(&writer.lines);
    err = err ?: lines_units_open(&writer.units, image);
    err = err ?: add_pieces(&writer);
    err = err ?: lines_units_finish(&writer.units);
    if (writer.units.is_full)
        diag_report(image->diag, DIAG_WARNING, NULL, DIAG_NO_OFFSET,
                    "not all line tables of process %u are in its image: DWARF holds 4 GiB of them",
                    image->file->pid);
    lines_units_close(&writer.units);
    lines_rows_free(&writer.rows);
    jitdump_lines_free(writer.lines);
    return err;
}
