/* SPDX-License-Identifier: MIT */
/*
 * Reading perf.data as a stream of records, and writing it again with records left out and mmap2
 * events slipped in. Format: tools/perf/Documentation/perf.data-file-format.txt and perf_event.h of
 * Linux.
 *
 * Input forms: file form ("PERFILE2", header of 104 bytes) or pipe form (header of 16 bytes), from
 * a file or through a pipe, with or without COMPRESSED / COMPRESSED2 records. The output is
 * uncompressed, in the form of the input or in pipe form. Memory is bounded by the read buffer and
 * the header, not by the number of records.
 */
#ifndef JITINJECT_PERFDATA_H
#define JITINJECT_PERFDATA_H

#include "jitinject/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum perfdata_type {
    PERFDATA_MMAP = 1,
    PERFDATA_LOST = 2,
    PERFDATA_COMM = 3,
    PERFDATA_EXIT = 4,
    PERFDATA_FORK = 7,
    PERFDATA_READ = 8,
    PERFDATA_SAMPLE = 9,
    PERFDATA_MMAP2 = 10,
    PERFDATA_HEADER_ATTR = 64,
    PERFDATA_EVENT_TYPE = 65,
    PERFDATA_TRACING_DATA = 66,
    PERFDATA_BUILD_ID = 67,
    PERFDATA_FINISHED_ROUND = 68,
    PERFDATA_AUXTRACE = 71,
    PERFDATA_TIME_CONV = 79,
    PERFDATA_HEADER_FEATURE = 80,
    PERFDATA_COMPRESSED = 81,
    PERFDATA_COMPRESSED2 = 83,
};

enum perfdata_feature {
    PERFDATA_FEATURE_TRACING_DATA = 1,
    PERFDATA_FEATURE_BUILD_ID = 2,
    PERFDATA_FEATURE_HOSTNAME = 3,
    PERFDATA_FEATURE_ARCH = 6,
    PERFDATA_FEATURE_AUXTRACE = 18,
    PERFDATA_FEATURE_DIR_FORMAT = 24,
    PERFDATA_FEATURE_COMPRESSED = 27,
    PERFDATA_FEATURE_CLOCK_DATA = 29,
};

struct perfdata;

/* One event of the recording: perf_event_attr of include/uapi/linux/perf_event.h, as far as anybody
 * here needs it. */
struct perfdata_attr {
    uint32_t type, size;
    uint64_t config;
    uint64_t sample_type; /* PERF_SAMPLE_* */
    uint64_t flags;       /* the bit field at offset 40 */
    int32_t clockid;
    bool sample_id_all, use_clockid, tracks_mmap; /* mmap or mmap2 bit */
    bool takes_samples;                           /* false for the software dummy event */
    bool takes_stacks; /* copies of the stack, through which readers find their way by tables */
    uint64_t *ids;     /* owned by the perfdata */
    size_t id_count;
};

struct perfdata_options {
    bool force; /* read a file that belongs to another user, as perf's -f */
};

/*
 * Opens and checks the header, attrs and feature table. "-" is standard input. What is not a
 * regular file (pipe, fifo, device) is read to its end first, into memory up to 32 MiB and an
 * unnamed file in $TMPDIR past that. Of a directory (perf record --threads) the records of its
 * files come one file after another. Errors are reported to `diag` with the place and what to do:
 * -EBADMSG not perf.data or damaged, -EPERM owner, or those of the disk. `diag` is kept and must
 * outlive the perfdata.
 */
int perfdata_open(const char *path, const struct perfdata_options *options, const struct diag *diag,
                  struct perfdata **out);
void perfdata_free(struct perfdata *data);
/* What the input is called in messages. */
const char *perfdata_path(const struct perfdata *data);
/* The same of the file of it that the last record is in, which that one's offset is of. */
const char *perfdata_record_path(const struct perfdata *data);
/* Whether it is a file with records of this recording. */
bool perfdata_has_file(const struct perfdata *data, dev_t device, ino_t inode);

/*
 * How many files with records a directory of perf record --threads has beside the one with the
 * header: "data.0", "data.1" and so on. 0: it is one file, or does not say that it is several.
 */
size_t perfdata_further_parts(const struct perfdata *data);

/* A file of the kernel's code, which lies beside the records of perf record --kcore. */
struct perfdata_kernel_file {
    const char *name; /* in the directory of the recording: "kcore_dir/kcore" */
    int fd;           /* for reading at any offset; owned by the perfdata */
    uint64_t size;    /* bytes */
};
#define PERFDATA_KERNEL_FILES 3 /* at most */
/* None where the input is no directory. */
const struct perfdata_kernel_file *perfdata_kernel_files(const struct perfdata *data,
                                                         size_t *count);

/* Owned by the perfdata, as all that is returned here is. In pipe form the attrs come as records:
 * complete, and in their place, only after a first full pass with perfdata_next. */
const struct perfdata_attr *perfdata_attrs(const struct perfdata *data, size_t *count);
bool perfdata_swapped(const struct perfdata *data);
/* The HEADER_ARCH string ("x86_64", "aarch64", ...) as uname -m, or NULL if not recorded. */
const char *perfdata_arch(const struct perfdata *data);

/* CLOCK_DATA: what the clock of the recording was at some time of day. perf record -k writes it. In
 * pipe form it is there after a first full pass. */
struct perfdata_wall_clock {
    bool present;
    uint64_t clock; /* ns, as in the records */
    uint64_t wall;  /* ns since 1970 (CLOCK_REALTIME), at the same time */
};
const struct perfdata_wall_clock *perfdata_wall_clock(const struct perfdata *data);

/* TIME_CONV: how to turn raw timestamps into ns; filled by a pass over the records. */
struct perfdata_time_conv {
    bool present;
    uint64_t shift, mult, zero, cycles, mask;
    bool cap_time_zero, cap_time_short;
};
const struct perfdata_time_conv *perfdata_time_conversion(const struct perfdata *data);
/* ns of a raw timestamp (perf_event.h, cap_user_time_zero and cap_user_time_short). */
uint64_t perfdata_time_from_arch(const struct perfdata_time_conv *conv, uint64_t cycles);

/* A record, valid until the next call of perfdata_next. */
struct perfdata_record {
    uint64_t number; /* 0, 1, 2 ... in the order in which every pass delivers them */
    uint64_t offset; /* in its file; for a record out of a compressed one, that one's offset */
    uint32_t type;
    uint16_t misc;
    uint16_t size;        /* header.size */
    const uint8_t *bytes; /* header and body, `size` bytes */
    uint64_t payload; /* bytes that follow outside of size (AUXTRACE, TRACING_DATA); perfdata_keep
                         copies them */
};

/* Starts over at the first record. */
void perfdata_rewind(struct perfdata *data);
/*
 * 1: *record is set; 0: the end of the data; <0: reported, -EBADMSG (a record of impossible size,
 * data cut, a zstd stream that is broken) or of the disk. COMPRESSED records are not delivered,
 * their content is.
 */
int perfdata_next(struct perfdata *data, struct perfdata_record *record);

/*
 * As perfdata_next where the next record is what nearly all are: in the file as it is, whole, with
 * nothing behind it, and an event of the kernel or the end of a round. False: it is something else,
 * and is still the next.
 */
bool perfdata_next_plain(struct perfdata *data, struct perfdata_record *record);

/*
 * A branch reads the records from somewhere on for itself, with perfdata_next_samples and
 * perfdata_next_plain: in another thread, while `data` is read up to there. It begins at what looks
 * like the end of a round - nothing else can be told from what is within a record - and is right
 * only if `data` comes upon that record, too.
 *
 * Makes one for the second half of what `data` has still to read; it has the offset of where it
 * begins to look, and reads nothing yet. Not rewound, and freed before `data`. -ENOTSUP: that of a
 * pipe, of a directory and of compressed records cannot be read so; -ENOMEM.
 */
int perfdata_branch(const struct perfdata *data, struct perfdata **branch);
/* Goes to the end of a round. Its offset in the file, or UINT64_MAX: there is none near. */
uint64_t perfdata_branch_begin(struct perfdata *branch);
/*
 * What `data` returned last is where the branch began: goes on where that has come to. The numbers
 * of the branch's records counted from 0; returns what has to be added to them.
 */
uint64_t perfdata_branch_join(struct perfdata *data, const struct perfdata *branch);
/* Bytes of the file with records that is being read that are still to read. */
uint64_t perfdata_left(const struct perfdata *data);

/* Whether it is one: some records have 0 or ~0 in the place of a time. */
static inline bool perfdata_is_time(uint64_t time)
{
    return time != 0 && time != UINT64_MAX;
}

/* Whether samples have times, of some event at least: known as the attrs are. */
bool perfdata_is_timed(const struct perfdata *data);
/*
 * Time of a record in ns, or where no samples have any, so that records count as they come, a
 * number that is greater from record to record. False: it has none (type >= 64, no TIME in its
 * sample_type, or what is there is none).
 */
bool perfdata_time(const struct perfdata *data, const struct perfdata_record *record,
                   uint64_t *time);

/*
 * Whether readers take the records as they come, not by their times: events have none (no
 * sample_id_all, as before Linux 2.6.38), but for samples, forks and exits; or nothing has one.
 */
bool perfdata_in_file_order(const struct perfdata *data);

/* A cpumode: PERF_RECORD_MISC_USER. */
#define PERFDATA_CPUMODE_USER 2

struct perfdata_sample {
    uint64_t ip, time;
    uint32_t pid, tid;
    uint8_t cpumode; /* what was running: PERF_RECORD_MISC_CPUMODE_MASK of misc */
};
/* False if the sample's attr lacks one of IP, TID and TIME, which is as of perfdata_time where no
 * attr has it, or the record is too short. */
bool perfdata_sample(const struct perfdata *data, const struct perfdata_record *record,
                     struct perfdata_sample *sample);

/* Samples that lie side by side. */
struct perfdata_samples {
    const struct perfdata_sample *list;
    size_t count;
    uint64_t first_time, last_time; /* of those that have a time; last_time is 0 if none has */
    const uint8_t *bytes;           /* their records, `size` bytes in all */
    size_t size;
};
/*
 * Passes over the samples that come next, as far as they are at hand and perfdata_sample says true
 * of them: most records are such ones, and so many at once cost less than one by one. False: none;
 * perfdata_next tells what comes instead. Valid as a record is.
 */
bool perfdata_next_samples(struct perfdata *data, struct perfdata_samples *samples);

/* MMAP and MMAP2. */
struct perfdata_mapping {
    uint64_t addr, len, pgoff;
    uint64_t inode, inode_generation;
    uint32_t pid, tid, major, minor, prot, flags;
    bool has_build_id;    /* misc bit 14: build-id instead of inode and so on */
    bool is_data;         /* MMAP_DATA, misc bit 13 */
    const char *filename; /* NUL-terminated within the record */
    size_t filename_size; /* without NUL */
};
/* False: the record is too short or its name has no end in it. */
bool perfdata_mapping(const struct perfdata *data, const struct perfdata_record *record,
                      struct perfdata_mapping *mapping);

struct perfdata_task {
    uint32_t pid, ppid, tid, ptid;
    bool was_there; /* a FORK that perf made up at its start, to tell who the parent is: what the
                       process has mapped then is in events of its own */
};
/* FORK and EXIT. */
bool perfdata_task(const struct perfdata *data, const struct perfdata_record *record,
                   struct perfdata_task *task);

/* COMM: whether the process began another program, so that its memory is new from then on. */
bool perfdata_exec(const struct perfdata *data, const struct perfdata_record *record,
                   uint32_t *pid);

/* ---- Writing ---- */

struct perfdata_writer;

enum perfdata_form {
    PERFDATA_FORM_OF_INPUT,
    PERFDATA_FORM_PIPE, /* nothing is written twice: `fd` may be a pipe */
};

/*
 * Starts writing to `fd` (a regular file, written from offset 0 on, or a pipe) what is read from
 * `data`, whose attrs must be complete (one full pass made). The caller rewinds `data` and feeds
 * each record, in order, to perfdata_keep, or does not. -E2BIG, reported: the input has an event
 * with too many ids for the pipe form.
 */
int perfdata_writer_new(struct perfdata *data, enum perfdata_form form, int fd,
                        struct perfdata_writer **out);
void perfdata_writer_free(struct perfdata_writer *writer);

/*
 * Has the records of each of the perfdata_further_parts() written to a file of its own, fds[0] for
 * "data.0" and so on. They stay the caller's, and are used until perfdata_writer_finish.
 */
void perfdata_writer_split(struct perfdata_writer *writer, const int *fds);

/*
 * What follows returns 0 or a negative errno; after a failure nothing more is written, and each
 * returns the first one. What is wrong with the input is reported, and a failed write is the
 * caller's to report.
 */

/* Copies the record byte for byte, with its payload. `record` is the one that perfdata_next
 * returned last. */
int perfdata_keep(struct perfdata_writer *writer, const struct perfdata_record *record);
/* The same of what perfdata_next_samples passed over last. */
int perfdata_keep_samples(struct perfdata_writer *writer, const struct perfdata_samples *samples);

/*
 * Writes an mmap2 event of user mode (prot and flags as given) with the complete sample id of the
 * attr that tracks mappings, at `time` in ns. Names up to PATH_MAX - 1 bytes, or -ENAMETOOLONG.
 */
int perfdata_write_mapping(struct perfdata_writer *writer, const struct perfdata_mapping *mapping,
                           uint64_t time);

/* Adds a row to the build-id feature, or writes a BUILD_ID record at once where
 * perfdata_writer_is_pipe(): it has to come before the mappings of that file. */
int perfdata_write_build_id(struct perfdata_writer *writer, const uint8_t id[20],
                            const char *filename);

/* Waits until all that was handed over is written, as far as it is written behind the caller. */
int perfdata_writer_wait(struct perfdata_writer *writer);
/* Writes the features (table, payloads, the AUXTRACE index moved) and the header. */
int perfdata_writer_finish(struct perfdata_writer *writer);

bool perfdata_writer_is_pipe(const struct perfdata_writer *writer);
/* What a thread that it may have has taken of a processor, in ns, once it is finished. */
uint64_t perfdata_writer_cpu(const struct perfdata_writer *writer);
/* Bytes written so far, to all files. */
uint64_t perfdata_writer_size(const struct perfdata_writer *writer);

#endif /* JITINJECT_PERFDATA_H */
