/* SPDX-License-Identifier: MIT */
/* What a reader knows, and what the index takes from it beyond its records. */
#ifndef JITDUMP_READER_H
#define JITDUMP_READER_H

#include "trust.h"

struct jitdump_reader {
    const struct jitdump *dump;
    const struct diag *diag;
    struct window window;
    uint64_t next;     /* where the last record ended */
    uint64_t resume;   /* where records go on, if a search has passed over `next` already, else 0 */
    struct frame sure; /* a record that is one if it is in time; size 0: none */
    struct trust_times times;
    struct jitdump_stats stats;
};

/* A record that the caller found to be invalid: reported and counted like the reader's own. */
void reader_reject(struct jitdump_reader *reader, const struct jitdump_record *record,
                   const char *why);

/* Counts a record that is whole. */
void reader_count(struct jitdump_reader *reader, const struct jitdump_record *record);

/*
 * Goes on where another reader of the dump has come to, which began where this one is, and found
 * nothing odd; its last record was of `last_time`.
 */
void reader_go_on(struct jitdump_reader *reader, const struct jitdump_reader *other,
                  uint64_t last_time);

#endif /* JITDUMP_READER_H */
