/* SPDX-License-Identifier: MIT */
/* What a mapping event tells of what was mapped, most of it by its name. */
#ifndef INJECT_MAPPED_H
#define INJECT_MAPPED_H

#include "jitinject/perfdata.h"
#include "jitinject/place.h"

/*
 * Runtimes announce a dump by mapping it. Bytes of the path in a name, without what the kernel adds
 * where the file is gone; 0: it is not called like a dump.
 */
size_t mapped_dump_path(const char *name);
/* Whether it is called like a shared object of this program or of perf inject. */
bool mapped_is_image(const char *name);

/* `type` is that of the record: PERFDATA_MMAP or PERFDATA_MMAP2. */
enum place_mapping_kind mapped_kind(const struct perfdata_mapping *mapping, uint32_t type);
/* `file` as place takes it for a mapping of that kind. */
uint64_t mapped_file(const struct perfdata_mapping *mapping, enum place_mapping_kind kind);

#endif /* INJECT_MAPPED_H */
