/* SPDX-License-Identifier: MIT */
/* What the modules that write share. */
#ifndef JITINJECT_PERFDATA_WRITER_H
#define JITINJECT_PERFDATA_WRITER_H

#include "behind.h"
#include "internal.h"

/* An AUXTRACE record that was kept: the index of these in the features names their places. */
struct moved {
    uint64_t from, to;
};

struct perfdata_writer {
    struct perfdata *data;
    const struct perfdata_attr *mapping_attr; /* whose sample id mapping events have, or NULL */
    bool pipe;                                /* form of the output */
    const int *part_fds; /* of the further files, where these are written; else NULL */
    size_t part;         /* that is being written */
    int fd;              /* of that; 0, the file with the header, comes first and last */
    int main_fd;
    int err;               /* the first that occurred; nothing more is written then */
    uint64_t offset;       /* in that file, of the next byte, with what is not written yet */
    uint64_t written;      /* and without */
    uint64_t main_offset;  /* in the file with the header, while another one is written */
    uint64_t further_size; /* of the other files that are done */
    struct behind *behind; /* NULL: the output is a stream */

    /* Kept records that lie one behind another in a buffer of the reader, not written yet. */
    const uint8_t *run;
    size_t run_size;
    /* What was put together from small pieces, before the run: one of two by turns. */
    uint8_t *staging[2];
    size_t turn;
    uint8_t *staged;
    size_t staged_size;

    struct moved *moved; /* ascending */
    size_t moved_count, moved_capacity;
    uint8_t *build_ids; /* rows for the feature */
    size_t build_ids_size, build_ids_capacity;
};

/* Whether the feature says something of the input that is not so in what is written. */
static inline bool writer_leaves_out(const struct perfdata_writer *writer, uint64_t bit)
{
    return bit == PERFDATA_FEATURE_COMPRESSED ||
           (bit == PERFDATA_FEATURE_DIR_FORMAT && !writer->part_fds);
}

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
