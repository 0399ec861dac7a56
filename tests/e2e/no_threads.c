/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: with $REFUSED it gets no thread beside its first one; the file of that
 * name has a byte for each that it asked for. With $STARTED it gets them, and the file is the same.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void count(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, "", 1) != 1)
        abort();
    close(fd);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    const char *refused = getenv("REFUSED"), *started = getenv("STARTED");
    void *next = dlsym(RTLD_NEXT, "pthread_create");
    creator *create;

    if (refused || !next) {
        count(refused);
        return EAGAIN;
    }
    count(started);
    memcpy(&create, &next, sizeof(create)); /* ISO C has no cast for it */
    return create(thread, attributes, start, argument);
}
