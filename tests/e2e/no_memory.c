/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: its $REFUSE-th request for memory, mapping or thread is refused, and
 * with $ALL all later ones, too. At its end the file $ASKED has a line with how many there were.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Those of glibc, since dlsym() asks for memory itself. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

typedef void *mapper(void *, size_t, int, int, int, off_t);
typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static atomic_long asked;

static bool is_refused(void)
{
    const char *number = getenv("REFUSE");
    const long wanted = number ? atol(number) : 0, now = atomic_fetch_add(&asked, 1) + 1;

    if (wanted == 0 || (getenv("ALL") ? now < wanted : now != wanted))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return is_refused() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : __libc_memalign(alignment, size);
}

/* Called where files are large, as for all of this program. */
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *next = dlsym(RTLD_NEXT, "mmap64");
    mapper *map;

    memcpy(&map, &next, sizeof(map)); /* ISO C has no cast for it */
    return is_refused() ? MAP_FAILED : map(address, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    void *next = dlsym(RTLD_NEXT, "pthread_create");
    creator *create;

    memcpy(&create, &next, sizeof(create));
    return is_refused() ? EAGAIN : create(thread, attributes, start, argument);
}

__attribute__((destructor)) static void tell(void)
{
    const int fd = open(getenv("ASKED"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char text[32];
    const int size = snprintf(text, sizeof(text), "%ld\n", (long)asked);

    if (fd < 0 || write(fd, text, (size_t)size) != size)
        abort();
    close(fd);
}
