/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: there are no files without names (O_TMPFILE), as on many file systems.
 * When it opens the second file that is to be new, it gets the signal $SIGNAL before that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int new_files;

/* What open() is called where files are large, as for all of this program. */
int open64(const char *path, int flags, ...)
{
    const char *number = getenv("SIGNAL");
    va_list arguments;

    va_start(arguments, flags);
    const int mode = va_arg(arguments, int);
    va_end(arguments);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (number && flags & O_EXCL && atomic_fetch_add(&new_files, 1) == 1)
        raise(atoi(number));
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
