/* SPDX-License-Identifier: MIT */
#include "jitinject/image.h"

#include "internal.h"
#include "unwind.h"

#include "jitinject/diag_list.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Line tables are written beside the rest: they are made of other records, and lie behind all else.
 */
struct lines {
    struct image image; /* the same, with sections and an output of its own */
    struct diag_list reports;
    struct diag diag; /* keeps them: what was said first would be chance */
    bool wanted;
    pthread_t thread;
    bool running; /* the thread was started */
    int err;
};

static void write_lines(struct lines *lines)
{
    lines->err = image_write_lines(&lines->image);
}

static void *write_lines_beside(void *context)
{
    struct lines *lines = context;
    struct timespec cpu = {0};

    write_lines(lines);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    lines->image.stats->second_cpu = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    return NULL;
}

static int lines_begin(struct lines *lines, const struct image *image)
{
    lines->image = *image;
    lines->image.sections = NULL;
    lines->image.section_count = lines->image.section_capacity = 0;
    lines->diag = diag_list_sink(&lines->reports);
    lines->image.diag = &lines->diag;
    int err = image_output_open(&lines->image.output, image->output.fd);

    lines->wanted = !err && image_has_lines(image);
    if (lines->wanted)
        lines->running = pthread_create(&lines->thread, NULL, write_lines_beside, lines) == 0;
    return err;
}

/*
 * Writes them now if that has not been done, and adds them to the image. `err` is what the rest
 * came to: where it failed, nobody hears of them.
 */
static int lines_finish(struct lines *lines, struct image *image, int err)
{
    if (lines->running)
        pthread_join(lines->thread, NULL);
    else if (lines->wanted && !err)
        write_lines(lines);
    if (err)
        return err;
    diag_list_replay(&lines->reports, image->diag);
    err = lines->err;
    for (size_t i = 0; i < lines->image.section_count && !err; i++)
        err = image_add_section(image, &lines->image.sections[i]);
    if (lines->wanted && !err)
        image_output_join(&image->output, &lines->image.output);
    return err;
}

static void lines_free(struct lines *lines)
{
    if (lines->image.output.hash)
        image_output_close(&lines->image.output);
    diag_list_clear(&lines->reports);
    free(lines->image.sections);
}

/* All but the headers. */
static int write_content(struct image *image)
{
    struct lines lines = {0};
    struct unwind *unwind = NULL;
    int err = lines_begin(&lines, image);

    err = err ?: unwind_new(image, &unwind);
    err = err ?: image_write_text(image, unwind);
    err = err ?: unwind_finish(unwind);
    err = err ?: image_add_symbols(image);
    err = lines_finish(&lines, image, err);
    unwind_free(unwind);
    lines_free(&lines);
    return err;
}

int image_write(const struct place_file *file, const struct image_source *sources,
                const struct image_target *target, const struct image_options *options, int fd,
                const struct diag *diag, uint8_t build_id[IMAGE_BUILD_ID_SIZE],
                struct image_stats *stats)
{
    struct image image = {.file = file,
                          .sources = sources,
                          .target = target,
                          .options = options,
                          .diag = diag,
                          .stats = stats};
    int err = image_output_open(&image.output, fd);

    *stats = (struct image_stats){0};
    err = err ?: image_layout(&image);
    err = err ?: write_content(&image);
    err = err ?: image_write_headers(&image);
    if (!err) {
        image_output_digest(&image.output, build_id);
        err = image_write_note(&image, build_id);
    }
    if (err == -ENOMEM)
        diag_report(diag, DIAG_ERROR, NULL, DIAG_NO_OFFSET,
                    "not enough memory for the image of process %u", file->pid);
    stats->bytes_written = image.output.written;
    image_output_close(&image.output);
    free(image.sections);
    return err;
}
