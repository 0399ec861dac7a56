/* SPDX-License-Identifier: MIT */
/* What an UNWINDING_INFO record holds. */
#ifndef JITDUMP_UNWINDING_H
#define JITDUMP_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes that tell which of the two it begins with: these of the data, and of its end as long as the
 * header. */
#define UNWINDING_MARK 4

/* Whether the record has both, so that it is a question which one comes first. */
static inline bool unwinding_has_both(uint64_t size, uint64_t header_size)
{
    return header_size >= UNWINDING_MARK && header_size < size;
}

/*
 * Whether .eh_frame_hdr is in front of .eh_frame. The specification wants it so, and LLVM's ORC
 * does; perf and most writers have it at the end. A header starts with its version, 1, and mostly
 * with 01 1b 03 3b; an .eh_frame with the length of its CIE, which is a multiple of 4.
 */
static inline bool unwinding_header_first(const uint8_t first[UNWINDING_MARK],
                                          const uint8_t last[UNWINDING_MARK])
{
    static const uint8_t usual[UNWINDING_MARK] = {0x01, 0x1b, 0x03, 0x3b};

    return first[0] == usual[0] && memcmp(last, usual, sizeof(usual)) != 0;
}

#endif /* JITDUMP_UNWINDING_H */
