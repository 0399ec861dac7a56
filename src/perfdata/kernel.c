/* SPDX-License-Identifier: MIT */
/*
 * perf record --kcore makes a directory, and has the code of the kernel in kcore_dir there: three
 * files that perf takes instead of those in /proc.
 * tools/perf/Documentation/perf.data-directory-format.txt of Linux.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[PERFDATA_KERNEL_FILES] = {"kcore_dir/kcore", "kcore_dir/kallsyms",
                                                         "kcore_dir/modules"};

/* Why the file is not to be taken, or NULL. */
static const char *check(int fd, bool force, struct stat *status)
{
    if (fd < 0 || fstat(fd, status) < 0)
        return errno == ELOOP ? "is a symbolic link" : strerror(errno);
    if (!S_ISREG(status->st_mode))
        return "is not a regular file";
    return force || owner_is_trusted(status) ? NULL : OWNER_IS_NOT_TRUSTED;
}

/* No link is followed: what is no file of the recording does not become one. */
static void open_file(struct perfdata *data, int directory, const char *name, bool force)
{
    struct stat status;
    char *path;
    const int fd =
        openat(directory, strchr(name, '/') + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

    if (fd < 0 && errno == ENOENT)
        return;
    const char *fault = check(fd, force, &status);
    if (!fault) {
        data->files.kernel[data->files.kernel_count++] =
            (struct perfdata_kernel_file){name, fd, (uint64_t)status.st_size};
        return;
    }
    if (asprintf(&path, "%s/%s", data->files.name, name) >= 0) {
        diag_report(data->diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "left out of the output: %s",
                    fault);
        free(path);
    }
    if (fd >= 0)
        close(fd);
}

int kernel_open(struct perfdata *data, bool force)
{
    char *path;

    if (asprintf(&path, "%s/kcore_dir", data->files.name) < 0)
        return -ENOMEM;
    const int directory = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
    if (directory >= 0) {
        for (size_t i = 0; i < PERFDATA_KERNEL_FILES; i++)
            open_file(data, directory, names[i], force);
        close(directory);
    } else if (errno != ENOENT) {
        diag_report(data->diag, DIAG_WARNING, path, DIAG_NO_OFFSET, "left out of the output: %s",
                    strerror(errno));
    }
    free(path);
    return 0;
}

const struct perfdata_kernel_file *perfdata_kernel_files(const struct perfdata *data, size_t *count)
{
    *count = data->files.kernel_count;
    return data->files.kernel;
}

void kernel_close(struct perfdata *data)
{
    for (size_t i = 0; i < data->files.kernel_count; i++)
        close(data->files.kernel[i].fd);
}
