/* SPDX-License-Identifier: MIT */
#include "jit.h"

#include "code.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

void jit_burn(const uint8_t *entry, unsigned ms)
{
    const uint64_t end = cpu_ms() + ms;
    burner *run;

    memcpy(&run, &entry, sizeof(run));
    while (cpu_ms() < end)
        run(200000);
}

void jit_burn_by_calls(const uint8_t *entry, unsigned ms)
{
    const uint64_t end = cpu_ms() + ms;
    burner *run;

    memcpy(&run, &entry, sizeof(run));
    while (cpu_ms() < end)
        for (unsigned i = 0; i < 10000; i++)
            run(1);
}

uint8_t *jit_map(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    uint8_t *at = mmap(addr, size, prot, flags, fd, offset);

    if (at == MAP_FAILED)
        err(1, "mmap");
    return at;
}

uint8_t *jit_heap(size_t size)
{
    return jit_map(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0);
}

void jit_protect(uint8_t *at, size_t size, int prot)
{
    if (mprotect(at, size, prot) != 0)
        err(1, "mprotect");
}

void jit_log(struct jit *jit, const uint8_t *at, size_t size, const char *name)
{
    dump_load(&jit->dump, &(struct dump_code){.name = name,
                                              .bytes = at,
                                              .addr = (uintptr_t)at,
                                              .size = size,
                                              .index = jit->next_index++});
}

void jit_run(struct jit *jit, uint8_t *at, const char *name, unsigned ms)
{
    code_burner(at, (uint32_t)jit->next_index);
    jit_log(jit, at, CODE_BURNER_SIZE, name);
    jit_burn(at, ms);
}

void jit_run_many(struct jit *jit, uint8_t *at, size_t stride, const char *prefix, unsigned count,
                  unsigned ms)
{
    char name[128];

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s%u", prefix, i);
        jit_run(jit, at + i * stride, name, ms);
    }
}
