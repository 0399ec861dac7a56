/* SPDX-License-Identifier: MIT */
/* Makes perf.data files of either form and byte order, word by word, and runs them. */
#ifndef TEST_PERFDATA_BUILD_H
#define TEST_PERFDATA_BUILD_H

#include "jitinject/perfdata.h"

struct build {
    uint8_t *bytes;
    size_t size, capacity;
    bool big; /* byte order */
};

void build_free(struct build *build);
void build_bytes(struct build *build, const void *bytes, size_t size);
void build_zeros(struct build *build, size_t size);
void build_u16(struct build *build, uint16_t value);
void build_u32(struct build *build, uint32_t value);
void build_u64(struct build *build, uint64_t value);
/* With its NUL, zero padded to a multiple of `align`. */
void build_text(struct build *build, const char *text, size_t align);
void build_set_u16(struct build *build, size_t at, uint16_t value);
void build_set_u64(struct build *build, size_t at, uint64_t value);
/* Reading back. */
uint16_t build_get_u16(const struct build *build, size_t at);
uint32_t build_get_u32(const struct build *build, size_t at);
uint64_t build_get_u64(const struct build *build, size_t at);

/* A record: what comes between the two is its body. */
size_t build_record(struct build *build, uint32_t type, uint16_t misc);
void build_end(struct build *build, size_t record);

/* A sample_type and the flags of an attr; names as in perf_event.h. */
enum {
    IP = 1 << 0,
    TID = 1 << 1,
    TIME = 1 << 2,
    ADDR = 1 << 3,
    ID = 1 << 6,
    CPU = 1 << 7,
    PERIOD = 1 << 8,
    STREAM_ID = 1 << 9,
    IDENTIFIER = 1 << 16,
};
#define FLAG_MMAP          (UINT64_C(1) << 8)
#define FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define FLAG_MMAP2         (UINT64_C(1) << 23)
#define FLAG_USE_CLOCKID   (UINT64_C(1) << 25)
#define FLAG_BUILD_ID      (UINT64_C(1) << 34)

struct build_attr {
    uint32_t type;
    uint64_t config, sample_type, flags;
    int32_t clockid;
    uint32_t size;    /* 0: 128 */
    bool size_unsaid; /* the field says 0; size is 64 then */
    uint64_t ids[4];
    size_t id_count;
};
void build_attr(struct build *build, const struct build_attr *attr);

struct build_feature {
    unsigned bit;
    const struct build *payload;
};

struct build_file {
    const struct build_attr *attrs;
    size_t attr_count;
    const struct build *data;
    const struct build_feature *features; /* by bit */
    size_t feature_count;
    bool attrs_behind; /* attrs and ids behind all else */
    bool old_header;   /* of 72 bytes */
};
/* Returns the offset of the data. */
size_t build_file(struct build *build, const struct build_file *file);
void build_pipe(struct build *build);

/* ---- Running ---- */

struct reports {
    unsigned errors, warnings;
    char text[512]; /* of the last */
    uint64_t offset;
};
struct diag reports_diag(struct reports *reports);

/* A file in memory with a path. */
struct memory_file {
    int fd;
    char path[32];
};
void memory_file_new(struct memory_file *file, const struct build *content);
void memory_file_free(struct memory_file *file);
/* All of it, appended to `build`. */
void memory_file_read(const struct memory_file *file, struct build *build);

/* A perf.data opened from memory. */
struct opened {
    struct reports reports;
    struct diag diag;
    struct memory_file file;
    struct perfdata *data;
    int err;
};
void opened_new(struct opened *opened, const struct build *content);
void opened_free(struct opened *opened);
/* Reads on to the end: the number of records, or the error. */
int64_t opened_pass(struct opened *opened);

/*
 * Reads all of it twice, once with perfdata_next_samples: the samples and the numbers of the other
 * records, as well as how it ends, have to be the same. Returns how many samples came at once.
 */
uint64_t opened_check_samples(struct opened *opened);

#endif /* TEST_PERFDATA_BUILD_H */
