/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "create.h"
#include "directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    const struct recording *recording;
    struct directory *directory; /* that it is, or NULL */
    struct outfile *file;        /* with the records; the directory's where it is one */
};

static bool is_stream(const char *path)
{
    struct stat status;

    /* The shell's >(...) is the name of a fifo. */
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

static int start_stream(struct output *output, bool has_kernel)
{
    const struct recording *recording = output->recording;

    if (has_kernel)
        diag_report(recording->diag, DIAG_WARNING, perfdata_path(recording->data), DIAG_NO_OFFSET,
                    "the code of the kernel (kcore_dir) is not in the output, which is a stream");
    return create_stream(recording, recording->options->output, &output->file);
}

static int start_directory(struct output *output)
{
    const int err = directory_new(output->recording, &output->directory);

    if (!err)
        output->file = directory_data(output->directory);
    return err;
}

static int start(struct output *output)
{
    const struct recording *recording = output->recording;
    size_t kernel_files;

    perfdata_kernel_files(recording->data, &kernel_files);
    if (is_stream(recording->options->output))
        return start_stream(output, kernel_files > 0);
    if (kernel_files > 0 || perfdata_further_parts(recording->data) > 0)
        return start_directory(output);
    return create_file(recording, recording->options->output, 0600, &output->file);
}

int output_new(const struct recording *recording, struct output **out)
{
    struct output *output = calloc(1, sizeof(*output));

    *out = NULL;
    if (!output)
        return -ENOMEM;
    output->recording = recording;
    const int err = start(output);
    if (err)
        output_free(output);
    else
        *out = output;
    return err;
}

bool output_is_stream(const struct output *output)
{
    return outfile_is_stream(output->file);
}

bool output_replaces(const struct output *output)
{
    return !output_is_stream(output) && access(output_path(output), F_OK) == 0;
}

const char *output_path(const struct output *output)
{
    return output->directory ? output->recording->options->output : outfile_path(output->file);
}

int output_fd(const struct output *output)
{
    return outfile_fd(output->file);
}

const int *output_parts(const struct output *output)
{
    return output->directory ? directory_parts(output->directory) : NULL;
}

int output_fill(struct output *output)
{
    return output->directory ? directory_fill(output->directory) : 0;
}

int output_commit(struct output *output)
{
    const int err =
        output->directory ? directory_commit(output->directory) : outfile_commit(output->file);

    if (err)
        diag_report(output->recording->diag, DIAG_ERROR, output_path(output), DIAG_NO_OFFSET,
                    "cannot be written: %s", strerror(-err));
    return err;
}

void output_free(struct output *output)
{
    if (!output)
        return;
    if (!output->directory)
        outfile_free(output->file);
    directory_free(output->directory);
    free(output);
}
