/* SPDX-License-Identifier: MIT */
/* A mapping in one line. */
#ifndef TEST_PLACE_MAPPING_H
#define TEST_PLACE_MAPPING_H

#include "jitinject/place.h"

static inline int add_mapping(struct place *place, uint32_t pid, uint64_t time, uint64_t addr,
                              uint64_t len, uint64_t offset, enum place_mapping_kind kind,
                              uint64_t file, uint64_t record)
{
    const struct place_mapping mapping = {.pid = pid,
                                          .time = time,
                                          .addr = addr,
                                          .len = len,
                                          .offset = offset,
                                          .file = file,
                                          .kind = kind,
                                          .record = record};

    return place_add_mapping(place, &mapping);
}

#endif /* TEST_PLACE_MAPPING_H */
