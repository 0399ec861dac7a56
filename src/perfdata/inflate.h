/* SPDX-License-Identifier: MIT */
/*
 * The records inside COMPRESSED and COMPRESSED2 records. All of them together are one zstd stream,
 * flushed at the end of each; a record may begin in one and end in the next.
 */
#ifndef JITINJECT_PERFDATA_INFLATE_H
#define JITINJECT_PERFDATA_INFLATE_H

#include "source.h"

struct inflate;

/* 0 or -ENOMEM; `watch` is borrowed. */
int inflate_new(const struct buffer_watch *watch, struct inflate **out);
void inflate_free(struct inflate *inflate);

/* Back to the start of the stream. */
void inflate_reset(struct inflate *inflate);

/*
 * Announces the next compressed record: `size` bytes of zstd data are at the position of the source
 * inflate_pull() gets, followed by `padding`; `offset` is where the record begins, for reports.
 */
void inflate_begin(struct inflate *inflate, uint64_t offset, uint64_t size, uint64_t padding);

/*
 * Unpacks more of the announced record, taking its bytes from `source`. 1: there is more to see;
 * 0: it is used up; or a negative errno: -EBADMSG with *reason for a broken stream, else as
 * source_need().
 */
int inflate_pull(struct inflate *inflate, struct source *source, const char **reason);

/* The bytes unpacked and not taken yet. */
const uint8_t *inflate_bytes(const struct inflate *inflate, size_t *size);
void inflate_take(struct inflate *inflate, size_t size);

/* Where the compressed record is that was announced last. */
uint64_t inflate_offset(const struct inflate *inflate);

#endif /* JITINJECT_PERFDATA_INFLATE_H */
