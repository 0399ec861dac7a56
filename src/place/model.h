/* SPDX-License-Identifier: MIT */
/* What a reader of the recording has mapped of a process, at the time that the timeline is at. */
#ifndef PLACE_MODEL_H
#define PLACE_MODEL_H

#include "jitinject/rangemap.h"

/* What is mapped; values from MAPPED_FIRST_BIAS on are mappings of ours with one bias each. */
enum mapped {
    MAPPED_ANONYMOUS = 0,
    MAPPED_FILE = 1,
    MAPPED_FIRST_BIAS = 2,
};

/* All zero is nothing. */
struct model {
    struct rangemap ranges;  /* value: enum mapped, or a bias; stamp: since when */
    struct rangemap covered; /* where it has anything but a real file */
    struct rangemap opened;  /* numbers of the files whose first page and tables it has */
};

/* 0 or -ENOMEM. */
int model_copy(struct model *to, const struct model *from);
void model_clear(struct model *model);

#endif /* PLACE_MODEL_H */
