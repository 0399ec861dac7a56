/* SPDX-License-Identifier: MIT */
/* How much some bytes look like a record. Records have no mark of their own. */
#ifndef JITDUMP_TRUST_H
#define JITDUMP_TRUST_H

#include "frame.h"

enum trust {
    TRUST_NONE,     /* no record */
    TRUST_DOUBTFUL, /* one only if others follow it: of an unknown type, damaged, or foreign bytes
                     */
    TRUST_CERTAIN,
};

/* Times of records that are good, to measure others by. */
struct trust_times {
    bool known;
    uint64_t first, last;
};

static inline void trust_note_time(struct trust_times *times, uint64_t time)
{
    if (!times->known)
        times->first = time;
    times->known = true;
    times->last = time;
}

/* Whether two records may be so far apart: three days in ns, about one in cycles. */
static inline bool trust_is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) < (uint64_t)1 << 48;
}

/* Whether a record may be of that time. Either of the two will do: one of them may itself come from
 * a damaged record. */
static inline bool trust_in_time(const struct trust_times *times, uint64_t time)
{
    return !times->known || trust_is_near(time, times->first) || trust_is_near(time, times->last);
}

/* By all its fixed fields, as far as the dump has them. */
enum trust trust_of(struct window *window, const struct frame *frame,
                    const struct trust_times *times);

#endif /* JITDUMP_TRUST_H */
