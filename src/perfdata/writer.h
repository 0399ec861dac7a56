/* SPDX-License-Identifier: MIT */
/* What the modules that write share. */
#ifndef JITINJECT_PERFDATA_WRITER_H
#define JITINJECT_PERFDATA_WRITER_H

#include "internal.h"

/* An AUXTRACE record that was kept: the index of these in the features names their places. */
struct moved {
    uint64_t from, to;
};

struct perfdata_writer {
    struct perfdata *data;
    bool pipe; /* form of the output */
    int fd;
    int err;         /* the first that occurred; nothing more is written then */
    uint64_t offset; /* in the output, of the next byte, with what is not written yet */

    /* Kept records that lie one behind another in a buffer of the reader, not written yet. */
    const uint8_t *run;
    size_t run_size;
    /* What was put together from small pieces, before the run. */
    uint8_t *staged;
    size_t staged_size;

    struct moved *moved; /* ascending */
    size_t moved_count, moved_capacity;
    uint8_t *build_ids; /* rows for the feature */
    size_t build_ids_size, build_ids_capacity;
};

/* Appends to the output. Errors stay in writer->err. */
void writer_append(struct perfdata_writer *writer, const void *bytes, size_t size);
/* Appends a stretch of a file of the input: of the one with the header, or of `fd`. */
void writer_append_input(struct perfdata_writer *writer, const struct section *section);
void writer_append_file(struct perfdata_writer *writer, int fd, const struct section *section);
/* Writes out all that is held back. */
void writer_flush(struct perfdata_writer *writer);

/* pipe.c: a beginning in pipe form, made from an input in file form. 0 or a negative errno. */
int writer_begin_pipe(struct perfdata_writer *writer);

/* tail.c: what lies behind the data, and the header. The data end at writer->offset. */
void writer_finish_file_form(struct perfdata_writer *writer);

#endif /* JITINJECT_PERFDATA_WRITER_H */
