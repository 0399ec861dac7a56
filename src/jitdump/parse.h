/* SPDX-License-Identifier: MIT */
/* The fields of one record. */
#ifndef JITDUMP_PARSE_H
#define JITDUMP_PARSE_H

#include "frame.h"

/*
 * Takes the whole record at `frame` apart. NULL, or what is wrong with it, to follow "the record
 * ..."; *record is then not set. Moves the window; a name points into it. Look at window->error
 * afterwards.
 */
const char *parse_record(struct window *window, const struct frame *frame,
                         struct jitdump_record *record);

#endif /* JITDUMP_PARSE_H */
