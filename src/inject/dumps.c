/* SPDX-License-Identifier: MIT */
#include "dumps.h"

#include "ahead.h"
#include "claims.h"
#include "clock.h"
#include "owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* A program that runs has not written the end of its last record yet: that is no damage. */
static void report_cut(const struct recording *recording, const struct dump *dump)
{
    const char *path = jitdump_path(dump->file);
    const uint64_t bytes = dump->index.stats.cut_bytes, at = jitdump_size(dump->file) - bytes;

    if (tasks_ended(&recording->tasks, dump->pid)) /* who has its pid now is another one */
        diag_report(recording->diag, DIAG_WARNING, path, at,
                    "the dump is cut within a record: its last %" PRIu64 " bytes are lost", bytes);
    else if (find_lives(dump->pid, recording->end_time))
        diag_report(recording->diag, DIAG_WARNING, path, at,
                    "process %" PRIu32 " still runs and writes its dump: the last record, of which "
                    "%" PRIu64 " bytes are there, and what it logs from now on are missing",
                    dump->pid, bytes);
    else
        diag_report(recording->diag, DIAG_WARNING, path, at,
                    "the dump is cut within a record: its last %" PRIu64 " bytes are lost, which "
                    "is normal if it was copied while process %" PRIu32 " ran, as that did when "
                    "the recording ended",
                    bytes, dump->pid);
}

/* Code that runs is of the machine that runs it, but for emulators that log what they emulate. */
static void report_machine(const struct recording *recording, const struct dump *dump)
{
    const uint32_t machine = jitdump_header(dump->file)->elf_machine;
    const char *arch = perfdata_arch(recording->data);

    if (!image_runs_on(machine, arch))
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "its header says that the code is of ELF machine %" PRIu32
                    ", but the recording is of %s: perf annotate may not show it",
                    machine, arch);
}

/* What a dump holds, and what was wrong with it as a whole that its reader does not say. */
static void report_index(const struct recording *recording, const struct dump *dump)
{
    const struct jitdump_stats *stats = &dump->index.stats;

    if (dump->index.count == 0)
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "holds no code");
    else
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "%" PRIu64 " loads, %" PRIu64 " moves, %" PRIu64 " line tables, %" PRIu64
                    " unwind tables, %" PRIu64 " other records",
                    stats->loads, stats->moves, stats->debug_infos, stats->unwinding_infos,
                    stats->closes + stats->unknown);
    report_machine(recording, dump);
    if (stats->cut_bytes)
        report_cut(recording, dump);
    if (stats->without_bytes)
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "%" PRIu64
                    " functions come without their code: they have names and lines, but perf "
                    "annotate has no instructions of them to show",
                    stats->without_bytes);
    if (stats->nameless)
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "%" PRIu64 " functions have an empty name: readers show a blank for them",
                    stats->nameless);
    if (stats->loads && !stats->moves && !stats->code_bytes && !stats->without_bytes)
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "its functions have a code_size of 0, all %" PRIu64
                    " of them: they name nothing",
                    stats->loads);
}

/* How to read the line tables of a dump. */
static void choose_lines(const struct recording *recording, size_t number)
{
    const struct inject_options *options = recording->options;
    const struct dump *dump = &recording->dumps[number];
    struct jitdump_line_traits *traits = &recording->sources[number].lines;

    *traits = dump->index.lines;
    if (!traits->has_lines && dump->index.stats.debug_infos)
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "none of its line tables has a line at an address of its function");
    if (!traits->has_lines)
        return;
    if (options->has_debug_bias)
        traits->bias = options->debug_bias;
    else if (traits->bias)
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "its writer adds %" PRIu64
                    " to the addresses of its line tables: taken off again",
                    traits->bias);
}

/* Whether all of a dump is of the process that its header tells, and says which dump it is in. */
static bool has_owners(const struct dump *dump, size_t number)
{
    return dump->index.count > 0 && jitdump_index_code(&dump->index, 0)->source == number &&
           dump->index.stats.others == 0 && dump->pid == jitdump_header(dump->file)->pid;
}

/* Says which dump a piece of code is in, and which process of the recording it is of. Most often
 * both are right already. */
static void name_owners(const struct recording *recording, size_t number)
{
    struct dump *dump = &recording->dumps[number];
    const bool is_right = has_owners(dump, number);

    for (size_t i = 0; i < dump->index.count && !dump->unowned && !is_right; i++) {
        struct code *code = jitdump_index_code(&dump->index, i);
        code->source = (uint16_t)number;
        if (code->pid != dump->pid) /* it is in most, and they are many */
            code->pid = owner_pid(recording, dump, code->pid);
    }
}

static int add_codes(const struct recording *recording, const struct dump *dump)
{
    int err = place_expect_codes(recording->place, dump->pid, dump->index.count);

    for (size_t first = 0, count; first < dump->index.count && !err; first += count) {
        struct code *codes = jitdump_index_run(&dump->index, first, &count);
        err = place_add_codes(recording->place, codes, count);
    }
    return err;
}

/* Gives the code of a dump to its processes. */
static int use_dump(struct recording *recording, size_t number)
{
    struct dump *dump = &recording->dumps[number];

    recording->sources[number] = (struct image_source){.path = jitdump_path(dump->file),
                                                       .fd = jitdump_fd(dump->file),
                                                       .size = jitdump_size(dump->file),
                                                       .dump = dump->file};
    if (dump->unowned || !dump->clock.placed)
        return 0;
    recording->summary->dumps++;
    choose_lines(recording, number);
    return add_codes(recording, dump);
}

/* A marker whose dump was read gives the time that it began; another is a mapping like any. */
static int use_marker(struct place *place, const struct marker *marker, uint64_t file)
{
    const struct place_mapping mapping = {.pid = marker->pid,
                                          .time = marker->time,
                                          .addr = marker->addr,
                                          .len = marker->len,
                                          .file = file,
                                          .kind = PLACE_FILE,
                                          .record = marker->record};

    return marker->dump == NO_DUMP ? place_add_mapping(place, &mapping)
                                   : place_add_dump(place, marker->pid, marker->time);
}

static int use_markers(const struct recording *recording)
{
    int err = 0;

    for (size_t i = 0; i < recording->marker_count && !err; i++)
        err = use_marker(recording->place, &recording->markers[i], i + 1);
    return err;
}

int dumps_read(struct recording *recording)
{
    ahead_end(recording->ahead);
    tasks_sort(&recording->tasks);
    int err = claims_find_dumps(recording);
    ahead_finish(recording->ahead, &recording->summary->times[INJECT_INDEX]);
    if (!err) {
        recording->sources = calloc(recording->dump_count + 1, sizeof(*recording->sources));
        err = recording->sources ? 0 : -ENOMEM;
    }
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        report_index(recording, &recording->dumps[i]);
        name_owners(recording, i);
    }
    if (!err)
        err = clock_align(recording);
    for (size_t i = 0; i < recording->dump_count && !err; i++)
        err = use_dump(recording, i);
    if (!err)
        err = use_markers(recording);
    return err;
}
