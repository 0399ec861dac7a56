/* SPDX-License-Identifier: MIT */
/* Putting pieces of code in order, in time linear in their number. */
#ifndef PLACE_ORDER_H
#define PLACE_ORDER_H

#include "jitinject/code.h"

#include <stdbool.h>
#include <stddef.h>

enum order {
    ORDER_TIME,
    ORDER_ADDR,
    ORDER_LAYER,
};

/* Whether they are in it. */
bool order_is(struct code *const *codes, size_t count, enum order by);

/* Pieces that are equal in it keep their order. 0 or -ENOMEM. Memory for a while: 32 bytes a piece,
 * unless they are in order already. */
int order_codes(struct code **codes, size_t count, enum order by);

#endif /* PLACE_ORDER_H */
