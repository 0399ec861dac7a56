/* SPDX-License-Identifier: MIT */
/* The dumps of a recording: found by their markers, each read once, their code given to its
 * processes. */
#include "find.h"
#include "recording.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* code->source has 16 bits. */
#define DUMPS_MAX UINT16_MAX

/* The dump of a marker, or NULL; why not is reported. */
static struct jitdump *open_dump(const struct recording *recording, const struct marker *marker)
{
    struct jitdump *file = NULL;
    struct find find;
    bool found = false;

    find_begin(&find, recording->options, marker->path, marker->pid, recording->last_time);
    while (!file && find_next(&find)) {
        found = true;
        jitdump_open(find.path, recording->diag, &file);
    }
    find_end(&find);
    if (!found)
        diag_report(recording->diag, DIAG_WARNING, marker->path, DIAG_NO_OFFSET,
                    "the dump of process %u is neither there nor beside the recording: its code "
                    "stays without names; name its directory by --dump-dir",
                    marker->pid);
    return file;
}

static size_t find_dump(const struct recording *recording, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].device == device && recording->dumps[i].inode == inode)
            return i;
    return NO_DUMP;
}

static int add_dump(struct recording *recording, struct jitdump *file, size_t *number)
{
    if (recording->dump_count == DUMPS_MAX)
        return -EOVERFLOW;
    if (!array_reserve(&recording->dumps, &recording->dump_capacity, recording->dump_count + 1))
        return -ENOMEM;
    struct dump *dump = &recording->dumps[recording->dump_count];
    *dump = (struct dump){.file = file, .inner_pid = jitdump_header(file)->pid};
    jitdump_identity(file, &dump->device, &dump->inode);
    *number = recording->dump_count++;
    return 0;
}

/* The dump of a marker: opened, or one that is open already, or none. */
static int find_marked(struct recording *recording, struct marker *marker)
{
    struct jitdump *file = open_dump(recording, marker);
    dev_t device;
    ino_t inode;
    int err = 0;

    recording->summary->markers++;
    if (!file)
        return 0;
    jitdump_identity(file, &device, &inode);
    marker->dump = find_dump(recording, device, inode);
    if (marker->dump != NO_DUMP)
        jitdump_free(file);
    else if ((err = add_dump(recording, file, &marker->dump)))
        jitdump_free(file);
    return err;
}

static int compare_paths(const void *left, const void *right)
{
    const struct marker *a = *(struct marker *const *)left, *b = *(struct marker *const *)right;
    int order = strcmp(a->path, b->path);

    return order ? order : (a->record > b->record) - (a->record < b->record);
}

/* Opens each dump once, however often its marker comes. */
static int find_dumps(struct recording *recording)
{
    struct marker **markers = malloc((recording->marker_count + 1) * sizeof(struct marker *));
    int err = 0;

    if (!markers)
        return -ENOMEM;
    for (size_t i = 0; i < recording->marker_count; i++)
        markers[i] = &recording->markers[i];
    qsort(markers, recording->marker_count, sizeof(struct marker *), compare_paths);
    for (size_t i = 0; i < recording->marker_count && !err; i++) {
        if (i > 0 && strcmp(markers[i]->path, markers[i - 1]->path) == 0)
            markers[i]->dump = markers[i - 1]->dump;
        else
            err = find_marked(recording, markers[i]);
    }
    free(markers);
    return err;
}

/* What was wrong with a dump, in one line; its records have had theirs. */
static void report_index(const struct recording *recording, const struct dump *dump)
{
    const struct jitdump_stats *stats = &dump->index.stats;

    diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                "%llu loads, %llu moves, %llu line tables, %llu unwind tables, %llu other records",
                (unsigned long long)stats->loads, (unsigned long long)stats->moves,
                (unsigned long long)stats->debug_infos, (unsigned long long)stats->unwinding_infos,
                (unsigned long long)(stats->closes + stats->unknown));
    if (stats->moves_unresolved)
        diag_report(recording->diag, DIAG_WARNING, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "%llu moves of code that was never loaded: left out",
                    (unsigned long long)stats->moves_unresolved);
}

/* How to read the line tables of a dump. */
static int survey_lines(const struct recording *recording, size_t number)
{
    const struct inject_options *options = recording->options;
    const struct dump *dump = &recording->dumps[number];
    struct jitdump_line_traits *traits = &recording->sources[number].lines;
    int err = jitdump_lines_survey(dump->file, &dump->index, traits);

    if (err || !traits->has_lines)
        return err;
    if (options->has_debug_bias)
        traits->bias = options->debug_bias;
    else if (traits->bias)
        diag_report(recording->diag, DIAG_NOTE, jitdump_path(dump->file), DIAG_NO_OFFSET,
                    "its writer adds %llu to the addresses of its line tables: taken off again",
                    (unsigned long long)traits->bias);
    return 0;
}

/* Reads one dump. -EBADMSG: it is of no use, which is no reason to stop. */
static int read_dump(struct recording *recording, size_t number)
{
    struct dump *dump = &recording->dumps[number];
    int err = jitdump_index_build(dump->file, (uint16_t)number, recording->diag, &dump->index);

    if (!err)
        err = clock_align(recording, dump);
    if (err)
        return err;
    report_index(recording, dump);
    err = survey_lines(recording, number);
    if (err)
        return err;
    for (size_t i = 0; i < dump->index.count; i++)
        dump->index.codes[i].pid = owner_pid(recording, dump, dump->index.codes[i].pid);
    return place_add_codes(recording->place, dump->index.codes, dump->index.count);
}

/* Markers whose dump was read give the time that it began; the others are mappings like any. */
static int use_markers(struct recording *recording, const bool *usable)
{
    int err = 0;

    for (size_t i = 0; i < recording->marker_count && !err; i++) {
        struct marker *marker = &recording->markers[i];
        if (marker->dump != NO_DUMP && !usable[marker->dump])
            marker->dump = NO_DUMP;
        if (marker->dump == NO_DUMP)
            err = place_add_mapping(recording->place, marker->pid, marker->time, marker->addr,
                                    marker->len, PLACE_FILE, i + 1, marker->record);
        else
            err = place_add_dump(recording->place, marker->pid, marker->time);
    }
    return err;
}

int dumps_read(struct recording *recording)
{
    bool *usable = NULL;
    int err = find_dumps(recording);

    if (!err) {
        usable = calloc(recording->dump_count + 1, sizeof(*usable));
        recording->sources = calloc(recording->dump_count + 1, sizeof(*recording->sources));
        if (!usable || !recording->sources)
            err = -ENOMEM;
    }
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        struct jitdump *file = recording->dumps[i].file;
        recording->sources[i] = (struct image_source){.path = jitdump_path(file),
                                                      .fd = jitdump_fd(file),
                                                      .size = jitdump_size(file),
                                                      .dump = file};
        owner_find(recording, i);
    }
    for (size_t i = 0; i < recording->dump_count && !err; i++) {
        err = read_dump(recording, i);
        usable[i] = !err;
        recording->summary->dumps += usable[i];
        if (err == -EBADMSG || err == -EIO)
            err = 0;
    }
    if (!err)
        err = use_markers(recording, usable);
    free(usable);
    return err;
}
