/* SPDX-License-Identifier: MIT */
/* What all samples of a recording, or of a stretch of it, tell: in whatever order they come. */
#ifndef INJECT_TALLY_H
#define INJECT_TALLY_H

#include "jitinject/perfdata.h"
#include "jitinject/rangemap.h"

/* All zero is nothing. */
struct tally {
    bool with_processes;            /* which ones have samples is asked for */
    bool timed;                     /* at least one sample has a time */
    uint64_t first_time, last_time; /* ns */
    uint64_t samples;
    struct rangemap processes; /* pids, each a range of one */
};

/* 0 or -ENOMEM. */
int tally_samples(struct tally *tally, const struct perfdata_samples *samples);
/* A sample of which perfdata_next_samples may not know all. */
int tally_record(struct tally *tally, const struct perfdata *data,
                 const struct perfdata_record *record);
/* Adds those of another stretch. */
int tally_add(struct tally *tally, const struct tally *other);
void tally_clear(struct tally *tally);

#endif /* INJECT_TALLY_H */
