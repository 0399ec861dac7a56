/* SPDX-License-Identifier: MIT */
/* The files that were read beside the recording: none of them is to be written over. */
#ifndef INJECT_INPUTS_H
#define INJECT_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct input {
    dev_t device;
    ino_t inode;
};

/* All zero is none. */
struct inputs {
    struct input *list;
    size_t count, capacity;
};

/* 0 or -ENOMEM. */
int inputs_add(struct inputs *inputs, dev_t device, ino_t inode);
bool inputs_have(const struct inputs *inputs, dev_t device, ino_t inode);
void inputs_clear(struct inputs *inputs);

#endif /* INJECT_INPUTS_H */
