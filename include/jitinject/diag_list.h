/* SPDX-License-Identifier: MIT */
/* Reports that are kept to be handed on later: those of work that is done before it is asked for.
 */
#ifndef JITINJECT_DIAG_LIST_H
#define JITINJECT_DIAG_LIST_H

#include "jitinject/diag.h"

#include <stdbool.h>
#include <stddef.h>

/* More are not kept: an input may be made of nothing but oddities. */
#define DIAG_LIST_MAX 1000

/* All zero is empty. */
struct diag_list {
    struct diag_kept *kept;
    size_t count, capacity;
    bool lost;   /* some are not kept */
    bool failed; /* one that is kept is an error */
};

/* A sink that keeps reports in `list`, with strings of their own. */
struct diag diag_list_sink(struct diag_list *list);
/* Hands all reports on, in their order, and a warning where some are lost. */
void diag_list_replay(const struct diag_list *list, const struct diag *diag);
void diag_list_clear(struct diag_list *list);

#endif /* JITINJECT_DIAG_LIST_H */
