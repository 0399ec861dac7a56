/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

int inputs_add(struct inputs *inputs, dev_t device, ino_t inode)
{
    if (!array_reserve(&inputs->list, &inputs->capacity, inputs->count + 1))
        return -ENOMEM;
    inputs->list[inputs->count++] = (struct input){.device = device, .inode = inode};
    return 0;
}

bool inputs_have(const struct inputs *inputs, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->list[i].device == device && inputs->list[i].inode == inode)
            return true;
    return false;
}

void inputs_clear(struct inputs *inputs)
{
    free(inputs->list);
    *inputs = (struct inputs){0};
}
