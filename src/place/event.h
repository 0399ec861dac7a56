/* SPDX-License-Identifier: MIT */
/*
 * What changes what a process has mapped: an event to write, and, where it is about code or takes
 * its place, a change of the process's history. Where addresses are used again there are two for
 * each piece, so it is as small as can be.
 */
#ifndef PLACE_EVENT_H
#define PLACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint64_t time, addr;
    uint32_t len;
    uint32_t value;         /* MAPPED_FILE: there is nothing to write; else which bias it has */
    uint32_t process : 29;  /* its number */
    uint32_t is_long : 1;   /* `len` is in units of 4 GiB: a damaged recording maps all there is */
    uint32_t is_change : 1; /* of the history */
    uint32_t is_piece : 1;  /* all of it is of one piece of code */
} __attribute__((packed, aligned(4)));

static inline uint64_t event_len(const struct event *event)
{
    return event->is_long ? (uint64_t)event->len << 32 : event->len;
}

/* First address behind it. */
static inline uint64_t event_end(const struct event *event)
{
    return event->addr + event_len(event);
}

static inline bool event_covers(const struct event *event, uint64_t addr)
{
    return addr - event->addr < event_len(event);
}

#endif /* PLACE_EVENT_H */
