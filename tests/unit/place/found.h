/* SPDX-License-Identifier: MIT */
/* What is found at one address. */
#ifndef TEST_PLACE_FOUND_H
#define TEST_PLACE_FOUND_H

#include "jitinject/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* `view` covers the address. */
static inline enum place_found found_in(const struct place_view *view, uint64_t addr)
{
    struct place_query query = {.view = view, .addr = addr};

    if (!view->grid)
        return view->found;
    if (place_grid_is_full(view->grid, addr))
        return PLACE_NAMED;
    place_search(&query, 1);
    return query.named ? PLACE_NAMED : PLACE_UNNAMED;
}

static inline enum place_found found_at(struct place *place, uint32_t pid, uint64_t addr,
                                        uint64_t time)
{
    struct place_view view;

    assert_int_equal(place_look(place, pid, addr, time, &view), 0);
    return found_in(&view, addr);
}

#endif /* TEST_PLACE_FOUND_H */
