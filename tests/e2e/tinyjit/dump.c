/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum record_id { LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3, UNWINDING_INFO = 4 };

struct header {
    uint32_t magic, version, total_size, elf_machine, pad, pid;
    uint64_t timestamp, flags;
};

struct prefix {
    uint32_t id, total_size;
    uint64_t timestamp;
};

static uint32_t thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

uint64_t dump_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * One writev of an O_APPEND file for each record, so that threads and forked children can share
 * a dump.
 */
static void write_record(struct dump *dump, uint32_t id, uint64_t time, struct iovec *parts,
                         int count)
{
    struct prefix prefix = {.id = id, .timestamp = time ? time : dump_now()};
    size_t size = sizeof(prefix);

    for (int i = 1; i < count; i++)
        size += parts[i].iov_len;
    prefix.total_size = (uint32_t)size;
    parts[0] = (struct iovec){&prefix, sizeof(prefix)};
    if (writev(dump->fd, parts, count) != (ssize_t)size)
        err(1, "jitdump");
}

void dump_open(struct dump *dump, const char *dir)
{
    const struct header header = {
        .magic = 0x4A695444,
        .version = 1,
        .total_size = sizeof(header),
        .elf_machine = EM_X86_64,
        .pid = (uint32_t)getpid(),
        .timestamp = dump_now(),
    };
    char path[4096];

    snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
    dump->fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_APPEND | O_CLOEXEC, 0644);
    if (dump->fd < 0)
        err(1, "%s", path);
    if (write(dump->fd, &header, sizeof(header)) != (ssize_t)sizeof(header))
        err(1, "%s", path);
    if (mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, dump->fd,
             0) == MAP_FAILED)
        err(1, "marker of %s", path);
}

void dump_close(struct dump *dump)
{
    struct iovec parts[1];

    write_record(dump, CLOSE, 0, parts, 1);
    close(dump->fd);
}

void dump_load(struct dump *dump, const struct dump_code *code)
{
    const struct {
        uint32_t pid, tid;
        uint64_t vma, addr, size, index;
    } body = {(uint32_t)getpid(), thread_id(), code->addr, code->addr, code->size, code->index};
    struct iovec parts[] = {
        {0},
        {(void *)(uintptr_t)&body, sizeof(body)},
        {(void *)(uintptr_t)code->name, strlen(code->name) + 1},
        {(void *)(uintptr_t)code->bytes, code->size},
    };

    write_record(dump, LOAD, code->time, parts, 4);
}

void dump_move(struct dump *dump, uint64_t old_addr, uint64_t new_addr, size_t size, uint64_t index)
{
    const struct {
        uint32_t pid, tid;
        uint64_t vma, old_addr, new_addr, size, index;
    } body = {(uint32_t)getpid(), thread_id(), new_addr, old_addr, new_addr, size, index};
    struct iovec parts[] = {{0}, {(void *)(uintptr_t)&body, sizeof(body)}};

    write_record(dump, MOVE, 0, parts, 2);
}

void dump_debug(struct dump *dump, uint64_t code_addr, const char *file,
                const struct dump_line *lines, size_t count)
{
    const uint64_t body[] = {code_addr, count};
    const size_t entry_size = 16 + strlen(file) + 1;
    uint8_t *entries = calloc(count, entry_size);
    struct iovec parts[] = {
        {0}, {(void *)(uintptr_t)body, sizeof(body)}, {entries, count * entry_size}};

    if (!entries)
        err(1, "debug entries");
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = entries + i * entry_size;

        memcpy(entry, &lines[i].addr, 8);
        memcpy(entry + 8, &lines[i].line, 4);
        memcpy(entry + 16, file, strlen(file) + 1);
    }
    write_record(dump, DEBUG_INFO, 0, parts, 3);
    free(entries);
}

void dump_unwinding(struct dump *dump, const void *tables, size_t size, size_t header_size,
                    bool mapped)
{
    static const uint8_t zeros[8];
    const uint64_t body[] = {size, header_size, mapped ? size : 0};
    struct iovec parts[] = {
        {0},
        {(void *)(uintptr_t)body, sizeof(body)},
        {(void *)(uintptr_t)tables, size},
        {(void *)(uintptr_t)zeros, -size & 7},
    };

    write_record(dump, UNWINDING_INFO, 0, parts, 4);
}
