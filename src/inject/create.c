/* SPDX-License-Identifier: MIT */
#include "create.h"

#include "jitinject/io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool is_an_input(const struct recording *recording, const struct stat *status)
{
    return perfdata_has_file(recording->data, status->st_dev, status->st_ino) ||
           inputs_have(&recording->inputs, status->st_dev, status->st_ino);
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

int create_check(const struct recording *recording, const char *path)
{
    struct stat status;
    const int found = is_standard(path) ? fstat(STDOUT_FILENO, &status) : stat(path, &status);

    return found == 0 ? spare_input(recording, path, &status) : 0;
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

/* What became of opening an output. */
static int started(const struct recording *recording, const char *path, int err)
{
    if (err)
        diag_report(recording->diag, DIAG_ERROR, path, DIAG_NO_OFFSET, "cannot be written: %s",
                    io_open_error(err));
    return err;
}

int create_file(const struct recording *recording, const char *path, mode_t mode,
                struct outfile **out)
{
    const int err = spare_others(recording, path);

    *out = NULL;
    return err ? err : started(recording, path, outfile_new(path, mode, out));
}

int create_stream(const struct recording *recording, const char *path, struct outfile **out)
{
    const int err = create_check(recording, path);

    *out = NULL;
    return err ? err : started(recording, path, outfile_new_stream(path, out));
}
