/* SPDX-License-Identifier: MIT */
/* Numbers of DWARF that take as many bytes as they need (DWARF 5, 7.6). */
#ifndef JITINJECT_IMAGE_LEB_H
#define JITINJECT_IMAGE_LEB_H

#include <stdint.h>

/* Bytes of one of 64 bits at most. */
#define LEB_MAX 10

/* Write a number to `at`, and return what is behind it. */
static inline uint8_t *leb_write_unsigned(uint8_t *at, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *leb_write_signed(uint8_t *at, int64_t value)
{
    /* The last byte's sixth bit is the sign. */
    for (; value < -64 || value > 63; value >>= 7)
        *at++ = (uint8_t)((uint64_t)value | 0x80);
    *at++ = (uint8_t)((uint64_t)value & 0x7f);
    return at;
}

#endif /* JITINJECT_IMAGE_LEB_H */
