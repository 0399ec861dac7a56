/* SPDX-License-Identifier: MIT */
/* Reading DEBUG_INFO records: the pieces between the bytes of a dump and jitdump_lines_next. */
#ifndef JITDUMP_DEBUG_H
#define JITDUMP_DEBUG_H

#include "dump.h"
#include "format.h"

/* A stretch of text that somebody else holds. */
struct debug_text {
    const char *at;
    size_t size;
};

#define DEBUG_PATHS_MAX 8

/* The name of a function, and what it says of its source: nothing, if all that is zero. */
struct debug_name {
    struct debug_text text;
    bool is_parsed;                           /* what follows is set */
    struct debug_text paths[DEBUG_PATHS_MAX]; /* of its file, the likeliest first */
    size_t path_count;
    int32_t line, column;
    bool is_baseline; /* compiled by V8's Sparkplug */
};

/* Understands names as V8 has them, "JS:*add /tmp/app.js:2:13", unless that has been done: few of
 * them are ever asked. */
void debug_name_parse(struct debug_name *name);
/* Whether it has the mark of Sparkplug. Only the rest of the name tells that it is V8's. */
bool debug_name_has_mark(const struct debug_name *name);

struct debug_parser {
    const uint8_t *at, *end; /* of the entries not read yet */
    uint64_t left;           /* entries, as the record says */
    bool swapped;
    uint64_t low, high; /* plausible addresses */
    uint64_t base;      /* what entries count from: the code's address as they have it */
    struct debug_name *name;
    struct debug_text last_file;
};

/* The next entries, at most `max`; how many, 0 at the end of what can be read. */
size_t debug_parse(struct debug_parser *parser, struct jitdump_line *entries, size_t max);

/* What V8 and LLVM add to the addresses of entries: the place of the code in the ELF files that
 * perf before 5.8 made, which took it for granted. */
#define DEBUG_BIAS 0x40
/* Entries may begin before the code: Erlang's do by up to 55 bytes. */
#define DEBUG_BEFORE 256

#endif /* JITDUMP_DEBUG_H */
