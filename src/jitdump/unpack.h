/* SPDX-License-Identifier: MIT */
/* Dumps that were packed with gzip. */
#ifndef JITDUMP_UNPACK_H
#define JITDUMP_UNPACK_H

#include "jitinject/diag.h"

#include <stdbool.h>

/* Whether the file begins as a gzip file does. */
bool unpack_is_gzip(int fd);

/*
 * Unpacks the gzip file `fd` into an unnamed temporary file and returns its descriptor, or a
 * negative errno. Where the packed data is cut or broken, what came before counts, and a warning
 * says so.
 */
int unpack_gzip(int fd, const char *path, const struct diag *diag);

#endif /* JITDUMP_UNPACK_H */
