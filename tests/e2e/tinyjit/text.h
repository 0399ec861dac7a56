/* SPDX-License-Identifier: MIT */
/* The code of a shared object, which can be mapped anywhere and run there. */
#ifndef TINYJIT_TEXT_H
#define TINYJIT_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    int fd;
    uint64_t offset, size; /* in the file */
    size_t function;       /* where overlay_burn is in it */
};

void text_open(struct text *text, const char *path);
void text_map(const struct text *text, uint8_t *at);

#endif /* TINYJIT_TEXT_H */
