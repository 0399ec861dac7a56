/* SPDX-License-Identifier: MIT */
/*
 * A file that exists whole or not at all: written without a name (or under a temporary one where
 * the file system knows no unnamed files) and given its name at the end. Or a stream, of which
 * others may have read the beginning when the end fails.
 */
#ifndef JITINJECT_OUTFILE_H
#define JITINJECT_OUTFILE_H

#include <stdbool.h>
#include <sys/types.h>

struct outfile;

/*
 * Starts a file that is to be called `path`, with `mode` less the umask. The directory must exist
 * and be writable. 0 or a negative errno; *out is NULL on an error.
 */
int outfile_new(const char *path, mode_t mode, struct outfile **out);

/*
 * Standard output for "-", or the fifo called `path`, once somebody reads from it. Nothing but
 * io_write() is possible. 0 or a negative errno; *out is NULL on an error.
 */
int outfile_new_stream(const char *path, struct outfile **out);
bool outfile_is_stream(const struct outfile *file);

/* Open for reading and writing; owned by the outfile. */
int outfile_fd(const struct outfile *file);
/* What it is called in messages. */
const char *outfile_path(const struct outfile *file);

/* Has it called `path` instead, on the same file system. 0 or -ENOMEM. */
int outfile_rename(struct outfile *file, const char *path);

/*
 * Gives the file its name, in place of whatever had it. Delayed write errors show here. 0 or a
 * negative errno; on an error nothing is left behind.
 */
int outfile_commit(struct outfile *file);
/* The same where nothing has that name; -EEXIST: something may have it, and nothing was done. */
int outfile_commit_new(struct outfile *file);

/*
 * Takes the name away again that either of them gave, for undoing a set of files; not where another
 * file had the name before, which is lost.
 */
void outfile_revoke(struct outfile *file);

/* Frees; what was not committed is gone. NULL is fine. */
void outfile_free(struct outfile *file);

#endif /* JITINJECT_OUTFILE_H */
