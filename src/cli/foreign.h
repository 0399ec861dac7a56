/* SPDX-License-Identifier: MIT */
/* Options of perf inject that this tool does not have. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

struct foreign_option {
    const char *name;
    const char *purpose; /* completes "an option that ..." */
};

/* The one that an argument is, be it with a value behind `=`; NULL: none. */
const struct foreign_option *foreign_find(const char *argument);

#endif /* CLI_FOREIGN_H */
