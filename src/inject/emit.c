/* SPDX-License-Identifier: MIT */
#include "recording.h"
#include "stopwatch.h"

#include "jitinject/io.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The target of an image: its dump's word, or the recording's where there is no dump, or it has
 * none.
 */
static struct image_target find_target(const struct recording *recording,
                                       const struct place_file *file)
{
    const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t machine = EM_NONE;
    bool swapped = perfdata_swapped(recording->data);

    for (size_t i = 0; i < file->code_count; i++) {
        if (file->codes[i]->source < recording->dump_count) {
            const struct dump *dump = &recording->dumps[file->codes[i]->source];
            machine = jitdump_header(dump->file)->elf_machine;
            swapped = jitdump_header(dump->file)->swapped;
            break;
        }
    }
    return image_target_of(machine, perfdata_arch(recording->data), swapped != host_is_big);
}

/* Where the images go, as an absolute path. */
static int find_directory(const struct recording *recording, char directory[PATH_MAX])
{
    const char *wanted = recording->options->so_dir;
    char parent[PATH_MAX];

    if (!wanted) {
        const char *output = recording->options->output;
        const char *slash = outfile_is_stream(recording->output) ? NULL : strrchr(output, '/');
        const int size = slash ? (int)(slash + 1 - output) : 0;
        if (size >= PATH_MAX)
            return -ENAMETOOLONG;
        snprintf(parent, sizeof(parent), "%.*s", size, output);
        wanted = size ? parent : ".";
    }
    if (!realpath(wanted, directory)) {
        const int err = -errno;
        diag_report(recording->diag, DIAG_ERROR, wanted, DIAG_NO_OFFSET,
                    "cannot write the shared objects there: %s", strerror(-err));
        return err;
    }
    if (strcmp(directory, "/") == 0)
        *directory = '\0';
    return 0;
}

/*
 * Readers look at the name. It contains "jitted-", by which some know code of a JIT, and does not
 * begin with it, by which others take the file for one function of perf inject. DESIGN.md, "The
 * name".
 */
static int image_path(const char *directory, const struct place_file *file, char path[PATH_MAX])
{
    const int size =
        snprintf(path, PATH_MAX, "%s/jit-%u-jitted-%u.so", directory, file->pid, file->number);

    return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* What an output of that name would be written to, if there is something. */
static bool stat_output(const char *path, struct stat *status)
{
    return (is_standard(path) ? fstat(STDOUT_FILENO, status) : stat(path, status)) == 0;
}

static bool is_an_input(const struct recording *recording, const struct stat *status)
{
    if (perfdata_has_file(recording->data, status->st_dev, status->st_ino))
        return true;
    for (size_t i = 0; i < recording->input_count; i++)
        if (recording->inputs[i].device == status->st_dev &&
            recording->inputs[i].inode == status->st_ino)
            return true;
    return false;
}

/* Nothing that was read may be written over. */
static int spare_input(const struct recording *recording, const char *path,
                       const struct stat *status)
{
    if (!is_an_input(recording, status))
        return 0;
    diag_report(recording->diag, DIAG_ERROR, is_standard(path) ? "standard output" : path,
                DIAG_NO_OFFSET,
                "is an input of this run and would be overwritten: choose another output");
    return -EEXIST;
}

int emit_spare_inputs(const struct recording *recording, const char *path)
{
    struct stat status;

    return stat_output(path, &status) ? spare_input(recording, path, &status) : 0;
}

/* An error if there is something that cannot be replaced. */
static int spare_others(const struct recording *recording, const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return 0;
    if (S_ISREG(status.st_mode))
        return spare_input(recording, path, &status);
    diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET,
                "is not a regular file: choose another output");
    return -EEXIST;
}

int emit_start(const struct recording *recording, const char *path, mode_t mode,
               struct outfile **out)
{
    int err = spare_others(recording, path);

    if (err)
        return err;
    err = outfile_new(path, mode, out);
    if (err)
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET, "cannot be written: %s",
                    io_open_error(err));
    return err;
}

int emit_start_output(struct recording *recording)
{
    const char *path = recording->options->output;
    struct stat status;
    size_t kernel_files;

    perfdata_kernel_files(recording->data, &kernel_files);
    /* The shell's >(...) is the name of a fifo. */
    if (!is_standard(path) && !(stat_output(path, &status) && S_ISFIFO(status.st_mode)))
        return kernel_files || perfdata_further_parts(recording->data)
                   ? directory_start(recording)
                   : emit_start(recording, path, 0600, &recording->output);
    if (kernel_files)
        diag_report(recording->diag, DIAG_WARNING, perfdata_path(recording->data), DIAG_NO_OFFSET,
                    "the code of the kernel (kcore_dir) is not in the output, which is a stream");
    int err = emit_spare_inputs(recording, path);
    if (err)
        return err;
    err = outfile_new_stream(path, &recording->output);
    if (err)
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET, "cannot be written: %s",
                    io_open_error(err));
    return err;
}

/* Starts the file of an image. */
static int open_image(struct recording *recording, const struct place_file *file, size_t number,
                      const char *directory)
{
    struct inject_file *row = &recording->summary->files[number];
    char path[PATH_MAX];
    int err = image_path(directory, file, path);

    if (err) {
        diag_report(recording->diag, DIAG_ERROR, directory, DIAG_NO_OFFSET,
                    "its path is too long for the names of the shared objects");
        return err;
    }
    row->path = strdup(path);
    return row->path ? emit_start(recording, path, 0666, &recording->images[number]) : -ENOMEM;
}

static int write_image(struct recording *recording, size_t number, struct inject_time *time)
{
    size_t count;
    const struct place_file *file = &place_files(recording->place, &count)[number];
    struct inject_file *row = &recording->summary->files[number];
    const struct image_options options = {.compress_debug = recording->options->compress_debug};
    const struct image_target target = find_target(recording, file);
    const struct diag diag = diag_list_sink(&recording->image_reports[number]);
    struct image_stats stats;

    int err = image_write(file, recording->sources, &target, &options,
                          outfile_fd(recording->images[number]), &diag,
                          recording->build_ids[number], &stats);
    time->cpu += stats.second_cpu;
    if (err)
        return err;
    row->size = stats.file_size;
    row->bytes = stats.bytes_written;
    row->symbols = stats.symbols;
    return 0;
}

/* Takes an image to be written, which may have to be opened first; false: none is left, or it would
 * be of no use. */
static bool take_image(struct recording *recording, size_t *number)
{
    pthread_mutex_lock(&recording->emit_lock);
    while (recording->next_image < recording->images_end &&
           recording->next_image == recording->images_open && !recording->emit_err)
        pthread_cond_wait(&recording->emit_changed, &recording->emit_lock);
    const bool any = recording->next_image < recording->images_end && !recording->emit_err;
    if (any)
        *number = recording->next_image++;
    pthread_mutex_unlock(&recording->emit_lock);
    return any;
}

/* Of several failures the first image's counts: all before it have been tried. */
static void note_failure(struct recording *recording, size_t number, int err)
{
    pthread_mutex_lock(&recording->emit_lock);
    if (err && (!recording->emit_err || number < recording->failed_image)) {
        recording->emit_err = err;
        recording->failed_image = number;
    }
    pthread_mutex_unlock(&recording->emit_lock);
}

/* Done by as many threads as there are, until no image is left. */
static void *write_images(void *context)
{
    struct recording *recording = context;
    struct inject_time time = {0};
    struct stopwatch watch;
    size_t number;

    stopwatch_start(&watch);
    while (take_image(recording, &number))
        note_failure(recording, number, write_image(recording, number, &time));
    stopwatch_stop(&watch, &time);

    pthread_mutex_lock(&recording->emit_lock);
    recording->summary->times[INJECT_EMIT].wall += time.wall;
    recording->summary->times[INJECT_EMIT].cpu += time.cpu;
    pthread_mutex_unlock(&recording->emit_lock);
    return NULL;
}

/* Room for what is known of each image. */
static int reserve_images(struct recording *recording, size_t count)
{
    recording->images = calloc(count + 1, sizeof(struct outfile *));
    recording->image_reports = calloc(count + 1, sizeof(*recording->image_reports));
    recording->build_ids = calloc(count + 1, sizeof(*recording->build_ids));
    recording->summary->files = calloc(count + 1, sizeof(*recording->summary->files));
    if (!recording->images || !recording->image_reports || !recording->build_ids ||
        !recording->summary->files)
        return -ENOMEM;
    recording->image_count = recording->images_end = recording->summary->file_count = count;
    return 0;
}

/* The first one is written while the others are still being opened. */
static int open_images(struct recording *recording, const struct place_file *files)
{
    char directory[PATH_MAX];
    int err = find_directory(recording, directory);

    for (size_t i = 0; i < recording->image_count && !err; i++) {
        err = open_image(recording, &files[i], i, directory);
        if (!err && i == 0)
            recording->emitting =
                pthread_create(&recording->emitter, NULL, write_images, recording) == 0;
        pthread_mutex_lock(&recording->emit_lock);
        recording->images_open += !err;
        pthread_cond_signal(&recording->emit_changed);
        pthread_mutex_unlock(&recording->emit_lock);
    }
    return err;
}

int emit_begin(struct recording *recording)
{
    size_t count;
    const struct place_file *files = place_files(recording->place, &count);
    const int err = reserve_images(recording, count);

    return err || count == 0 ? err : open_images(recording, files);
}

static void finish_images(struct recording *recording)
{
    write_images(recording);
    if (recording->emitting)
        pthread_join(recording->emitter, NULL);
    recording->emitting = false;
}

/* Hands on what was reported of an image, once. */
static void report_image(struct recording *recording, size_t number)
{
    diag_list_replay(&recording->image_reports[number], recording->diag);
    diag_list_clear(&recording->image_reports[number]);
}

/* That of a failed write nobody else has said. */
static void report_failed_image(struct recording *recording)
{
    const size_t number = recording->failed_image;
    const bool is_said = recording->image_reports[number].failed;

    report_image(recording, number);
    if (!is_said)
        diag_report(recording->diag, DIAG_ERROR, recording->summary->files[number].path,
                    DIAG_NO_OFFSET, "cannot be written: %s", strerror(-recording->emit_err));
}

int emit_finish(struct recording *recording)
{
    finish_images(recording);
    const int err = recording->emit_err;
    const size_t good = err ? recording->failed_image : recording->image_count;
    for (size_t i = 0; i < good; i++)
        report_image(recording, i);
    if (err)
        report_failed_image(recording);
    return err;
}

void emit_stop(struct recording *recording)
{
    pthread_mutex_lock(&recording->emit_lock);
    recording->images_end = 0;
    pthread_cond_signal(&recording->emit_changed);
    pthread_mutex_unlock(&recording->emit_lock);
    finish_images(recording);
}
