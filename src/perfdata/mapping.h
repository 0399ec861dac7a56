/* SPDX-License-Identifier: MIT */
/* Where MMAP and MMAP2 keep their fields: include/uapi/linux/perf_event.h, enum perf_event_type. */
#ifndef JITINJECT_PERFDATA_MAPPING_H
#define JITINJECT_PERFDATA_MAPPING_H

enum {
    MAPPING_PID = 8,
    MAPPING_TID = 12,
    MAPPING_ADDR = 16,
    MAPPING_LEN = 24,
    MAPPING_PGOFF = 32,
    MMAP_FILENAME = 40,
    MMAP2_MAJOR = 40,
    MMAP2_MINOR = 44,
    MMAP2_INODE = 48,
    MMAP2_GENERATION = 56,
    MMAP2_PROT = 64,
    MMAP2_FLAGS = 68,
    MMAP2_FILENAME = 72,
};

#endif /* JITINJECT_PERFDATA_MAPPING_H */
