/* SPDX-License-Identifier: MIT */
#include "replace.h"

#include "jitinject/io.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Our build-id notes lie in the first bytes of a file. */
#define NOTE_REACH 1024

/* Whether the file there is one of ours with another build-id. */
static bool is_another(const char *path, const uint8_t build_id[IMAGE_BUILD_ID_SIZE])
{
    uint8_t bytes[NOTE_REACH];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t size = fd < 0 ? 0 : io_pread(fd, bytes, sizeof(bytes), 0);

    if (fd >= 0)
        close(fd);
    return size == sizeof(bytes) && memcmp(bytes, "\177ELF", 4) == 0 &&
           !memmem(bytes, sizeof(bytes), build_id, IMAGE_BUILD_ID_SIZE);
}

void replace_warn(const struct diag *diag, const char *path,
                  const uint8_t build_id[IMAGE_BUILD_ID_SIZE])
{
    if (is_another(path, build_id))
        diag_report(
            diag, DIAG_WARNING, path, DIAG_NO_OFFSET,
            "replaced: an earlier output that has code in the old one loses the names of it; "
            "--so-dir keeps them apart");
}
