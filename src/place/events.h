/* SPDX-License-Identifier: MIT */
/* Mapping events, and with each what a reader of it has mapped then. For the timeline only. */
#ifndef PLACE_EVENTS_H
#define PLACE_EVENTS_H

#include "place_internal.h"

/* Makes room for what is to be expected where addresses are used again. 0 or -ENOMEM. */
int events_expect_replaced(struct place *place);

/*
 * Maps [start, end) to the file of `value` from `time` on, and first of all what readers need of a
 * file that has had no event yet. 0 or -ENOMEM.
 */
int events_map_code(struct place *place, struct process *process, uint64_t time, uint64_t start,
                    uint64_t end, uint32_t value);

/* The same for a piece that lies over others, and nothing around it. */
int events_map_piece(struct place *place, struct process *process, uint64_t time,
                     const struct code *code, uint32_t value);

/* A real file takes the place of code; nothing is written for it. 0 or -ENOMEM. */
int events_add_file(struct place *place, struct process *process, const struct mapping *mapping);

/*
 * What [start, end) leaves of our mappings that it covers a part of. perf keeps that, and samply
 * drops it: an event of its own keeps it there, too. Returns how many ranges it wrote.
 */
size_t events_find_rests(const struct rangemap *model, uint64_t start, uint64_t end,
                         struct range rests[2]);
/* Maps them again. 0 or -ENOMEM. */
int events_map_rests(struct place *place, struct process *process, uint64_t time,
                     const struct range *rests, size_t count);

/* Puts them in order, once all are made, and makes the histories of them. 0 or -ENOMEM. */
int events_finish(struct place *place);

#endif /* PLACE_EVENTS_H */
