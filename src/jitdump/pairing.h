/* SPDX-License-Identifier: MIT */
/*
 * Which DEBUG_INFO and which UNWINDING_INFO belong to a LOAD.
 *
 * A DEBUG_INFO has the address of its code, and that decides: writers with several threads, and
 * LLVM, which writes all tables of a module before all its code, do not keep the two side by side.
 * An UNWINDING_INFO has nothing but its place in the file.
 */
#ifndef JITDUMP_PAIRING_H
#define JITDUMP_PAIRING_H

#include "jitinject/hashmap.h"

#include "jitinject/jitdump.h"

/* A LOAD that came right after a DEBUG_INFO of another address, and has none of its own. */
struct pairing_guess {
    uint64_t addr, debug; /* of the DEBUG_INFO */
    size_t code;
};

/* All zero: nothing waits. */
struct pairing {
    struct hashmap debugs; /* address to offset, of each DEBUG_INFO that waits for its LOAD */
    uint64_t last_addr,
        last_debug; /* the DEBUG_INFO after which no LOAD came yet; offset 0: none */
    struct pairing_guess *guesses;
    size_t guess_count, guess_capacity;
    uint64_t unwind; /* offset of the UNWINDING_INFO that waits, 0: none */
    uint32_t unwind_size;
    bool unwind_is_shared; /* by all LOADs to come, not for the next one alone */
    uint64_t unpaired;     /* DEBUG_INFO that were given up */
};

void pairing_clear(struct pairing *pairing);

/* The records in their order. 0 or -ENOMEM. `number` is the place of `code` among the pieces. */
int pairing_debug(struct pairing *pairing, const struct jitdump_record *record);
void pairing_unwinding(struct pairing *pairing, const struct jitdump_record *record);
int pairing_load(struct pairing *pairing, struct code *code, size_t number);

/*
 * Whether nothing waits that later records could change or could be changed by, but for an
 * UNWINDING_INFO if they begin `with_unwinding`.
 */
bool pairing_is_idle(const struct pairing *pairing, bool with_unwinding);
/*
 * Goes on, where it is idle, with what came of the records that follow; their pieces are numbered
 * from `first` on. `later` is empty then. 0, or -ENOMEM and nothing has changed.
 */
int pairing_append(struct pairing *pairing, struct pairing *later, size_t first);

/*
 * Finds a LOAD for what still waits at the end of a dump, `truncated` or not, with these
 * pieces. `unpaired` is final after it. 0 or -ENOMEM.
 */
int pairing_finish(struct pairing *pairing, const struct jitdump_index *index, bool truncated);

#endif /* JITDUMP_PAIRING_H */
