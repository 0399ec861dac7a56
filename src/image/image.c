/* SPDX-License-Identifier: MIT */
#include "jitinject/image.h"

#include "internal.h"

#include <errno.h>
#include <stdlib.h>

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
    err = err ?: image_write_unwind(&image);
    err = err ?: image_write_text(&image);
    err = err ?: image_write_lines(&image);
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
