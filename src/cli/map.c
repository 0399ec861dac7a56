/* SPDX-License-Identifier: MIT */
/* `jitinject map`: a perf map of a jitdump, for tools that read nothing else. */
#include "command.h"
#include "map_options.h"
#include "report.h"

#include "jitinject/array.h"
#include "jitinject/jitdump.h"
#include "jitinject/outfile.h"
#include "jitinject/perfmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pieces of one process, in the order of their times. */
struct pieces {
    struct code **codes;
    size_t count, capacity;
    uint64_t foreign; /* pieces of other processes */
    uint32_t foreign_pid;
};

static int compare_times(const void *left, const void *right)
{
    const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->layer < b->layer ? -1 : 1;
}

static int collect(struct jitdump_index *index, uint32_t pid, struct pieces *pieces)
{
    if (!array_reserve(&pieces->codes, &pieces->capacity, index->count))
        return -ENOMEM;
    for (size_t i = 0; i < index->count; i++) {
        struct code *code = jitdump_index_code(index, i);
        if (code->pid == pid) {
            code->layer = (uint32_t)pieces->count; /* the order of the dump, for equal times */
            pieces->codes[pieces->count++] = code;
        } else {
            pieces->foreign++;
            pieces->foreign_pid = code->pid;
        }
    }
    if (pieces->count > 1)
        qsort(pieces->codes, pieces->count, sizeof(struct code *), compare_times);
    return 0;
}

static void report_foreign(const struct map_options *options, const struct pieces *pieces,
                           const struct diag *diag)
{
    if (pieces->foreign && !options->has_pid)
        diag_report(diag, DIAG_WARNING, options->dump, DIAG_NO_OFFSET,
                    "%" PRIu64 " functions of other processes, %" PRIu32
                    " for one, are left out: ask for them by --pid",
                    pieces->foreign, pieces->foreign_pid);
    if (pieces->count == 0)
        diag_report(diag, DIAG_WARNING, options->dump, DIAG_NO_OFFSET,
                    "has no code of the process: the map is empty");
}

static void report_cut(const struct jitdump *dump, const struct jitdump_index *index,
                       const struct diag *diag)
{
    const uint64_t bytes = index->stats.cut_bytes;

    if (bytes)
        diag_report(diag, DIAG_WARNING, jitdump_path(dump), jitdump_size(dump) - bytes,
                    "the dump is cut within a record: its last %" PRIu64 " bytes are lost", bytes);
}

static int write_map(const struct map_options *options, struct jitdump *dump, int fd,
                     const struct diag *diag)
{
    const uint32_t pid = options->has_pid ? options->pid : jitdump_header(dump)->pid;
    struct jitdump_index index = {0};
    struct perfmap_written written = {0};
    struct pieces pieces = {0};
    int err = jitdump_index_build(dump, 0, diag, &index);

    err = err ? err : collect(&index, pid, &pieces);
    if (!err) {
        report_cut(dump, &index, diag);
        report_foreign(options, &pieces, diag);
        err = perfmap_write(pieces.codes, pieces.count, jitdump_fd(dump), jitdump_size(dump), fd,
                            &written);
    }
    if (err == -ENODATA)
        diag_report(diag, DIAG_WARNING, options->dump, DIAG_NO_OFFSET,
                    "ends before a name that it announces: was it changed or cut since it was "
                    "opened?");
    if (!err)
        diag_report(diag, DIAG_NOTE, options->dump, DIAG_NO_OFFSET,
                    "process %" PRIu32 ": %" PRIu64 " entries; left out are %" PRIu64
                    " functions whose addresses later ones have, and %" PRIu64 " without a name",
                    pid, written.entries, written.replaced, written.nameless);
    free(pieces.codes);
    jitdump_index_clear(&index);
    return err;
}

/* A dump is never written over, nor anything that is not a file. */
static int check_output(const struct map_options *options, const struct jitdump *dump,
                        const struct diag *diag)
{
    struct stat status;
    dev_t device;
    ino_t inode;

    if (stat(options->output, &status) < 0)
        return 0;
    jitdump_identity(dump, &device, &inode);
    if (status.st_dev == device && status.st_ino == inode)
        diag_report(diag, DIAG_ERROR, options->output, DIAG_NO_OFFSET,
                    "is the dump and would be overwritten: choose another output");
    else if (!S_ISREG(status.st_mode))
        diag_report(diag, DIAG_ERROR, options->output, DIAG_NO_OFFSET,
                    "is not a regular file: choose another output");
    else
        return 0;
    return -EEXIST;
}

static int write_file(const struct map_options *options, struct jitdump *dump,
                      const struct diag *diag)
{
    struct outfile *file = NULL;
    int err = check_output(options, dump, diag);

    if (err)
        return err;
    err = outfile_new(options->output, 0666, &file);
    err = err ? err : write_map(options, dump, outfile_fd(file), diag);
    err = err ? err : outfile_commit(file);
    outfile_free(file);
    if (err)
        diag_report(diag, DIAG_ERROR, options->output, DIAG_NO_OFFSET, "no map was written: %s",
                    strerror(-err));
    return err;
}

static int write_stdout(const struct map_options *options, struct jitdump *dump,
                        const struct diag *diag)
{
    const int err = write_map(options, dump, STDOUT_FILENO, diag);

    if (err)
        diag_report(diag, DIAG_ERROR, "standard output", DIAG_NO_OFFSET, "no map was written: %s",
                    strerror(-err));
    return err;
}

int command_map(int argc, char **argv)
{
    struct map_options options = {0};
    const struct diag diag = {.report = report_oddity, .context = &options.report};
    struct jitdump *dump = NULL;
    bool goes_on;
    const int status = map_options_parse(argc, argv, &options, &goes_on);

    if (!goes_on || status)
        return status;
    int err = jitdump_open(options.dump, &diag, &dump);
    if (err)
        diag_report(&diag, DIAG_ERROR, options.dump, DIAG_NO_OFFSET, "no map can be made of it");
    else
        err = options.output ? write_file(&options, dump, &diag)
                             : write_stdout(&options, dump, &diag);
    jitdump_free(dump);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
