/* SPDX-License-Identifier: MIT */
#include "object.h"

#include "create.h"
#include "replace.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Readers look at the name. It contains "jitted-", by which some know code of a JIT, and does not
 * begin with it, by which others take the file for one function of perf inject. DESIGN.md, "The
 * name".
 */
static int write_path(const char *directory, const struct place_file *layout, char path[PATH_MAX])
{
    const int size =
        snprintf(path, PATH_MAX, "%s/jit-%u-jitted-%u.so", directory, layout->pid, layout->number);

    return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int object_open(const struct recording *recording, const char *directory, struct object *object)
{
    char path[PATH_MAX];
    const int err = write_path(directory, object->layout, path);

    if (err) {
        diag_report(recording->diag, DIAG_ERROR, directory, DIAG_NO_OFFSET,
                    "its path is too long for the names of the shared objects");
        return err;
    }
    object->row->path = strdup(path);
    return object->row->path ? create_file(recording, path, 0666, &object->file) : -ENOMEM;
}

/* What its dump says, or the recording where there is no dump, or it does not say it. */
static struct image_target find_target(const struct recording *recording,
                                       const struct place_file *layout)
{
    const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t machine = EM_NONE;
    bool swapped = perfdata_swapped(recording->data);

    for (size_t i = 0; i < layout->code_count; i++) {
        if (layout->codes[i]->source < recording->dump_count) {
            const struct dump *dump = &recording->dumps[layout->codes[i]->source];
            machine = jitdump_header(dump->file)->elf_machine;
            swapped = jitdump_header(dump->file)->swapped;
            break;
        }
    }
    return image_target_of(machine, perfdata_arch(recording->data), swapped != host_is_big);
}

int object_write(const struct recording *recording, struct object *object, struct inject_time *time)
{
    const struct image_options options = {.compress_debug = recording->options->compress_debug};
    const struct image_target target = find_target(recording, object->layout);
    const struct diag diag = diag_list_sink(&object->reports);
    struct image_stats stats;

    const int err = image_write(object->layout, recording->sources, &target, &options,
                                outfile_fd(object->file), &diag, object->build_id, &stats);
    time->cpu += stats.second_cpu;
    if (err)
        return err;
    object->row->size = stats.file_size;
    object->row->bytes = stats.bytes_written;
    object->row->symbols = stats.symbols;
    return 0;
}

static void report_unwritten(const struct recording *recording, const struct object *object,
                             int err)
{
    diag_report(recording->diag, DIAG_ERROR, object->row->path, DIAG_NO_OFFSET,
                "cannot be written: %s", strerror(-err));
}

void object_report(const struct recording *recording, struct object *object, int err)
{
    const bool is_said = object->reports.failed;

    diag_list_replay(&object->reports, recording->diag);
    diag_list_clear(&object->reports);
    if (err && !is_said)
        report_unwritten(recording, object, err);
}

int object_commit(const struct recording *recording, const struct object *object, bool warns)
{
    int err = outfile_commit_new(object->file);

    if (err == -EEXIST) {
        if (warns)
            replace_warn(recording->diag, object->row->path, object->build_id);
        err = outfile_commit(object->file);
    }
    if (err)
        report_unwritten(recording, object, err);
    return err;
}

void object_clear(struct object *object)
{
    outfile_free(object->file);
    diag_list_clear(&object->reports);
}
