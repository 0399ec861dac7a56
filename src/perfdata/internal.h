/* SPDX-License-Identifier: MIT */
/* What the modules of this part share. */
#ifndef JITINJECT_PERFDATA_INTERNAL_H
#define JITINJECT_PERFDATA_INTERNAL_H

#include "attrs.h"
#include "inflate.h"
#include "source.h"

#include "jitinject/bytes.h"
#include "jitinject/perfdata.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* perf.data-file-format.txt, "struct perf_header"; without the feature bits until Linux 2.6.33. */
#define HEADER_MAGIC      8
#define HEADER_SIZE       104
#define HEADER_SIZE_OLD   72
#define HEADER_SIZE_PIPE  16
#define HEADER_ATTRS      24
#define HEADER_DATA       40
#define HEADER_TYPES      56
#define HEADER_FEATURES   72
#define FEATURE_BITS      256
#define SECTION_SIZE      16
#define RECORD_HEADER     8
#define MISC_CPUMODE_MASK 7
#define MISC_MMAP_DATA    (1u << 13)
#define MISC_COMM_EXEC    (1u << 13)
#define MISC_FORK_EXEC    (1u << 13)
#define MISC_BUILD_ID     (1u << 14)
#define MISC_ID_SIZE      (1u << 15)

/* As many as stay in the innermost cache. */
#define SAMPLES_AT_ONCE 128

struct section {
    uint64_t offset, size;
};

struct feature {
    unsigned bit;
    struct section payload;
};

/* Where an attr of the file form keeps its ids. */
struct attr_ids {
    uint64_t reference; /* offset in the file of the section {offset, size} that names them */
    struct section ids;
};

/* A file with records. */
struct part {
    char *path;
    int fd;
    struct section records;
    dev_t device;
    ino_t inode;
};

/* What the recording lies in: open.c, parts.c, kernel.c. */
struct files {
    char *name;      /* as given: a file or a directory */
    char *main_path; /* of a directory: the file with the header */
    bool is_directory;
    dev_t device; /* of the file with the header */
    ino_t inode;
    struct part *parts; /* in the order of reading; the first has the header */
    size_t part_count, part_capacity;
    size_t part; /* that is being read */
    bool split;  /* the header says that there are several */
    struct perfdata_kernel_file kernel[PERFDATA_KERNEL_FILES];
    size_t kernel_count;
};

/* What the file form has outside of its records, and where: header.c, features.c. */
struct header {
    uint8_t bytes[HEADER_SIZE]; /* as found */
    uint64_t size;              /* of these; HEADER_SIZE_PIPE in pipe form */
    struct section attrs, records;
    struct attr_ids *attr_ids; /* one for each attr */
    size_t attr_ids_capacity;
    struct feature features[FEATURE_BITS];
    size_t feature_count;
    size_t long_size; /* bytes of the words that the bit map of the features is made of */
};

struct perfdata {
    bool is_branch; /* header, attrs and files are those of another one */
    const struct diag *diag;
    struct files files;
    const char *path; /* of the file that is being read */
    int fd;           /* of the one with the header */
    uint64_t file_size;

    struct header header;
    bool pipe, swapped, big_endian;
    bool unclosed; /* perf record did not come to write sizes and features */

    /* What it tells of itself, in the header or in records. */
    struct attrs attrs;
    char *arch;
    struct perfdata_time_conv time_conv;
    struct perfdata_wall_clock wall_clock;

    /* The records. */
    struct source source;
    struct inflate *inflate; /* once there is something compressed */
    uint64_t pieces_end;     /* up to here in the file, a compressed record is made of such ones */
    uint64_t pieces_padding; /* bytes behind that */
    struct buffer_watch watch;
    uint64_t payload; /* bytes after the last record that are not part of its size */
    uint64_t number;  /* of the next record */
    bool ended;       /* a pass has come to the end: what is odd there has been said */
    uint64_t learned; /* records below this number have been asked for attrs, arch and so on */
    struct perfdata_sample samples[SAMPLES_AT_ONCE];
};

/* Reports an error and is its errno: return perfdata_fail(data, -EBADMSG, offset, "...", ...); */
#define perfdata_fail(data, err, offset, ...)                                                      \
    (diag_report((data)->diag, DIAG_ERROR, (data)->path, (offset), __VA_ARGS__), (err))

/* Whether the section lies within the first `limit` bytes. */
static inline bool section_within(const struct section *section, uint64_t limit)
{
    return section->offset <= limit && section->size <= limit - section->offset;
}

/* Memory for all of a section, free() frees it; NULL: there is not as much, as of one of 4 GiB on a
 * 32-bit machine. */
static inline uint8_t *section_memory(const struct section *section)
{
    const size_t size = (size_t)section->size;

    return size == section->size ? malloc(size ? size : 1) : NULL;
}

static inline void put_record_header(uint8_t *bytes, uint32_t type, uint16_t misc, size_t size,
                                     bool swapped)
{
    bytes_put_u32(bytes, type, swapped);
    bytes_put_u16(bytes + 4, misc, swapped);
    bytes_put_u16(bytes + 6, (uint16_t)size, swapped);
}

static inline struct section section_at(const uint8_t *bytes, bool swapped)
{
    return (struct section){bytes_u64(bytes, swapped), bytes_u64(bytes + 8, swapped)};
}

/* header.c: reads the header, attrs and features of either form; reports what is wrong. */
int header_read(struct perfdata *data);
/* As attrs_add for what is at `offset`; -EBADMSG, reported, for its -EINVAL. */
int header_add_attr(struct perfdata *data, const uint8_t *bytes, size_t size, const uint8_t *ids,
                    size_t id_count, uint64_t offset);
/* Whether the first bytes are those of a perf.data in either byte order. */
bool header_has_magic(const uint8_t magic[HEADER_MAGIC]);

#define OWNER_IS_NOT_TRUSTED "belongs neither to you nor to root; use -f if you trust its owner"

static inline bool owner_is_trusted(const struct stat *status)
{
    return status->st_uid == 0 || status->st_uid == geteuid();
}

/* kernel.c: opens the code of the kernel in a directory. 0 or -ENOMEM. */
int kernel_open(struct perfdata *data, bool force);
void kernel_close(struct perfdata *data);

/* parts.c: finds the files with records, once the header is read. 0 or a negative errno, reported.
 */
int parts_open(struct perfdata *data, bool force);
void parts_close(struct perfdata *data);
/* Goes to the beginning of a part. */
void parts_enter(struct perfdata *data, size_t number);
/* Bytes of records in the largest of them. */
uint64_t parts_largest(const struct perfdata *data);

/* spool.c: reads data->fd to its end and puts a file with all that came in its place. */
int spool_input(struct perfdata *data);

/* features.c: the feature table behind the data. */
int features_read(struct perfdata *data);
/* Which byte of the header has the bit of a feature; within the byte it is bit % 8. */
size_t features_byte(const struct perfdata *data, unsigned bit);
/* The payload of a feature, of which it takes what is of use. 0 or -ENOMEM. */
int features_take(struct perfdata *data, uint64_t feature, const uint8_t *payload, size_t size);

/*
 * compressed.c: sets inflating up with the zstd data of the COMPRESSED or COMPRESSED2 record at the
 * position. -ENODATA: it does not fit the data; else the errno of the disk.
 */
int compressed_begin(struct perfdata *data, uint32_t type, uint16_t size);

/* learn.c: takes attrs, arch and time conversion out of the records that carry them. */
int learn_record(struct perfdata *data, const struct perfdata_record *record);

#endif /* JITINJECT_PERFDATA_INTERNAL_H */
