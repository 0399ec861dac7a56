/* SPDX-License-Identifier: MIT */
/*
 * The format: tools/perf/Documentation/jitdump-specification.txt in the kernel's sources, and for
 * the order inside UNWINDING_INFO what V8 and CPython write (.eh_frame first).
 */
#include "dump.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "code.h"

enum { LOAD = 0, DEBUG_INFO = 2, UNWINDING_INFO = 4 };
enum { EM_X86_64 = 62, HEADER_SIZE = 40, TOTAL_SIZE_OFFSET = 4 };

char *dump_path(const struct options *options, const struct process *process)
{
    char *path;
    if (asprintf(&path, "%s/jit-%u.dump", options->out, process->pid) < 0)
        err(1, "path");
    return path;
}

static size_t begin_record(struct buffer *record, uint32_t id, uint64_t time)
{
    size_t start = record->size;
    buffer_put_u32(record, id);
    buffer_put_u32(record, 0); /* the size, known at the end */
    buffer_put_u64(record, time);
    return start;
}

static void end_record(struct buffer *record, size_t start)
{
    uint32_t size = (uint32_t)(record->size - start);
    memcpy(record->bytes + start + TOTAL_SIZE_OFFSET, &size, sizeof(size));
}

static void pad_to_8(struct buffer *record, size_t start)
{
    buffer_put_zeros(record, (8 - (record->size - start) % 8) % 8);
}

/* Rows at bundle starts, where instructions begin; more rows than bundles share addresses, as
 * inlined code does. */
static void put_lines(struct buffer *to, const struct options *options,
                      const struct function *function, uint32_t number, uint64_t time)
{
    char path[CODE_MAX_PATH];
    uint32_t line = code_source(path, options->seed, number);
    uint32_t bundles = function->size / CODE_BUNDLE;
    size_t start = begin_record(to, DEBUG_INFO, time);
    buffer_put_u64(to, function->address);
    buffer_put_u64(to, options->lines);
    for (uint32_t row = 0; row < options->lines; row++) {
        uint64_t bundle = (uint64_t)bundles * row / options->lines;
        buffer_put_u64(to, function->address + bundle * CODE_BUNDLE);
        buffer_put_u32(to, line + row);
        buffer_put_u32(to, 0);
        buffer_put(to, path, strlen(path) + 1);
    }
    pad_to_8(to, start);
    end_record(to, start);
}

static void put_unwind(struct buffer *to, const struct function *function, uint64_t time)
{
    struct buffer data = {0};
    uint32_t header_size;
    code_put_unwind(&data, function->size, &header_size);
    size_t start = begin_record(to, UNWINDING_INFO, time);
    buffer_put_u64(to, data.size);
    buffer_put_u64(to, header_size);
    buffer_put_u64(to, data.size); /* all of it is mapped behind the code */
    buffer_put(to, data.bytes, data.size);
    pad_to_8(to, start);
    end_record(to, start);
    buffer_free(&data);
}

static void put_load(struct buffer *to, const struct workload *workload,
                     const struct process *process, uint32_t index, uint64_t time)
{
    uint32_t number = process->first + index;
    const struct function *function = &workload->functions[number];
    char name[CODE_MAX_NAME + 1];
    code_name(name, workload->options->seed, number);
    size_t start = begin_record(to, LOAD, time);
    buffer_put_u32(to, process->pid);
    buffer_put_u32(to, process->pid);
    buffer_put_u64(to, function->address);
    buffer_put_u64(to, function->address);
    buffer_put_u64(to, function->size);
    buffer_put_u64(to, index);
    buffer_put(to, name, strlen(name) + 1);
    code_put(to, workload->options->seed, number);
    end_record(to, start);
}

static void put_header(struct buffer *to, const struct workload *workload,
                       const struct process *process)
{
    buffer_put(to, "DTiJ", 4); /* 0x4a695444, little endian */
    buffer_put_u32(to, 1);
    buffer_put_u32(to, HEADER_SIZE);
    buffer_put_u32(to, EM_X86_64);
    buffer_put_u32(to, 0);
    buffer_put_u32(to, process->pid);
    buffer_put_u64(to, workload->start_time);
    buffer_put_u64(to, 0);
}

void dump_write(const struct workload *workload, const struct process *process)
{
    const struct options *options = workload->options;
    char *path = dump_path(options, process);
    FILE *file = fopen(path, "w");
    if (!file)
        err(1, "%s", path);
    struct buffer bytes = {0};
    put_header(&bytes, workload, process);
    for (uint32_t index = 0; index < process->count; index++) {
        uint32_t number = process->first + index;
        const struct function *function = &workload->functions[number];
        uint64_t time = workload_load_time(workload, process, index);
        if (options->lines)
            put_lines(&bytes, options, function, number, time);
        if (options->unwind)
            put_unwind(&bytes, function, time);
        put_load(&bytes, workload, process, index, time);
        buffer_write(&bytes, file);
        buffer_clear(&bytes);
    }
    if (process->count == 0)
        buffer_write(&bytes, file);
    if (fclose(file))
        err(1, "%s", path);
    buffer_free(&bytes);
    free(path);
}
