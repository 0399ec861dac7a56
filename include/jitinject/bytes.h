/* SPDX-License-Identifier: MIT */
/*
 * Integers of either byte order at any alignment, and small arithmetic. `swapped` says that the
 * bytes are in the order that this machine does not use.
 */
#ifndef JITINJECT_BYTES_H
#define JITINJECT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t bytes_u16(const void *at, bool swapped)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t bytes_u32(const void *at, bool swapped)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64(const void *at, bool swapped)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return swapped ? __builtin_bswap64(value) : value;
}

static inline void bytes_put_u16(void *at, uint16_t value, bool swapped)
{
    value = swapped ? __builtin_bswap16(value) : value;
    memcpy(at, &value, sizeof(value));
}

static inline void bytes_put_u32(void *at, uint32_t value, bool swapped)
{
    value = swapped ? __builtin_bswap32(value) : value;
    memcpy(at, &value, sizeof(value));
}

static inline void bytes_put_u64(void *at, uint64_t value, bool swapped)
{
    value = swapped ? __builtin_bswap64(value) : value;
    memcpy(at, &value, sizeof(value));
}

/* `align` is a power of two; the caller rules out an overflow upwards. */
static inline uint64_t bytes_align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static inline uint64_t bytes_align_down(uint64_t value, uint64_t align)
{
    return value & ~(align - 1);
}

#endif /* JITINJECT_BYTES_H */
