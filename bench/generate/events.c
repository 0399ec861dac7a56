/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <err.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "dump.h"

enum {
    STEP = 1000, /* ns between the events of a process' start */
    DISK_MAJOR = 0xfe,
    MARKER_SIZE = 4096,
    /* How a runtime makes room for code: V8 commits pages of this size when they are needed. */
    CODE_PAGE = 256 * 1024,
    PAGE = 4096,
};

const struct mapped_file runtime_binary = {
    "/opt/app/bin/app", 0x555500400000, 0x1800000, 0x400000, 262145, DISK_MAJOR, 0};
const struct mapped_file runtime_library = {
    "/opt/app/lib/libruntime.so", 0x7f6b91644000, 0x156000, 0x26000, 262146, DISK_MAJOR, 0};

size_t begin_event(struct buffer *to, uint32_t type, uint16_t misc)
{
    size_t start = to->size;
    buffer_put_u32(to, type);
    buffer_put_u16(to, misc);
    buffer_put_u16(to, 0);
    return start;
}

void end_event(struct buffer *to, size_t start)
{
    uint16_t size = (uint16_t)(to->size - start);
    memcpy(to->bytes + start + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void put_task(struct buffer *to, uint32_t pid, uint32_t tid)
{
    buffer_put_u32(to, pid);
    buffer_put_u32(to, tid);
}

static size_t add(struct events *events, uint64_t time, uint32_t type, uint16_t misc)
{
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? events->capacity * 2 : 256;
        events->items = reallocarray(events->items, events->capacity, sizeof(*events->items));
        if (!events->items)
            err(1, "%zu events", events->capacity);
    }
    size_t start = begin_event(&events->bytes, type, misc);
    events->items[events->count++] = (struct event){.time = time, .offset = start};
    return start;
}

/* sample_id_all: the thread and the time end each event. */
static void finish(struct events *events, size_t start, uint32_t pid, uint32_t tid)
{
    put_task(&events->bytes, pid, tid);
    buffer_put_u64(&events->bytes, events->items[events->count - 1].time);
    end_event(&events->bytes, start);
}

static void add_comm(struct events *events, uint64_t time, uint32_t pid, const char *name)
{
    size_t start = add(events, time, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put_task(&events->bytes, pid, pid);
    buffer_put_text(&events->bytes, name, 8);
    finish(events, start, pid, pid);
}

static void add_fork(struct events *events, uint64_t time, uint32_t pid, uint32_t tid,
                     uint32_t parent)
{
    size_t start = add(events, time, PERF_RECORD_FORK, 0);
    put_task(&events->bytes, pid, parent);
    put_task(&events->bytes, tid, parent);
    buffer_put_u64(&events->bytes, time);
    finish(events, start, parent, parent);
}

static void add_mapping(struct events *events, uint64_t time, uint32_t pid, uint32_t prot,
                        const struct mapped_file *file)
{
    size_t start = add(events, time, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    put_task(&events->bytes, pid, pid);
    buffer_put_u64(&events->bytes, file->address);
    buffer_put_u64(&events->bytes, file->size);
    buffer_put_u64(&events->bytes, file->offset);
    buffer_put_u32(&events->bytes, file->major);
    buffer_put_u32(&events->bytes, file->minor);
    buffer_put_u64(&events->bytes, file->inode);
    buffer_put_u64(&events->bytes, 0);
    buffer_put_u32(&events->bytes, prot);
    buffer_put_u32(&events->bytes, MAP_PRIVATE);
    buffer_put_text(&events->bytes, file->path, 8);
    finish(events, start, pid, pid);
}

/* The dump that was written, as the process mapped it. */
static void add_marker(struct events *events, uint64_t time, const struct workload *workload,
                       const struct process *process)
{
    char *path = dump_path(workload->options, process);
    struct stat status;

    if (stat(path, &status) < 0)
        err(1, "%s", path);
    add_mapping(events, time, process->pid, PROT_READ | PROT_EXEC,
                &(struct mapped_file){.path = path,
                                      .address = 0x7f6b91c0b000,
                                      .size = MARKER_SIZE,
                                      .inode = status.st_ino,
                                      .major = major(status.st_dev),
                                      .minor = minor(status.st_dev)});
    free(path);
}

static void add_start(struct events *events, const struct workload *workload, uint32_t number)
{
    const struct process *process = &workload->processes[number];
    uint32_t pid = process->pid;
    uint64_t time = process->setup_time;
    if (number > 0)
        add_fork(events, time += STEP, pid, pid, workload->processes[0].pid);
    add_comm(events, time += STEP, pid, "app");
    add_mapping(events, time += STEP, pid, PROT_READ | PROT_EXEC, &runtime_binary);
    add_mapping(events, time += STEP, pid, PROT_READ | PROT_EXEC, &runtime_library);
    for (uint32_t cpu = 1; cpu < WORKLOAD_CPUS; cpu++)
        add_fork(events, time += STEP, pid, pid + cpu, pid);
    add_marker(events, time += STEP, workload, process);
}

/* The code's memory grows a page at a time, right before the load that needs it. */
static void add_code_pages(struct events *events, const struct workload *workload,
                           const struct process *process)
{
    uint64_t mapped_end = process->code_start;
    for (uint32_t index = 0; index < process->count; index++) {
        const struct function *function = &workload->functions[process->first + index];
        while (mapped_end < function->address + function->size) {
            add_mapping(
                events, workload_load_time(workload, process, index) - 1, process->pid,
                PROT_READ | PROT_WRITE | PROT_EXEC,
                &(struct mapped_file){"//anon", mapped_end, CODE_PAGE, mapped_end, 0, 0, 0});
            mapped_end += CODE_PAGE;
        }
    }
}

/* Memory of code that has been there for a while, all over the time of loading. */
static void add_remaps(struct events *events, const struct workload *workload,
                       const struct process *process)
{
    const struct options *options = workload->options;
    uint32_t count = options->remaps / options->processes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = (uint32_t)((uint64_t)i * process->count / count);
        uint64_t page = workload->functions[process->first + index / 2].address / PAGE * PAGE;
        add_mapping(events, workload_load_time(workload, process, index) + 1, process->pid,
                    PROT_READ | PROT_EXEC,
                    &(struct mapped_file){"//anon", page, PAGE, page, 0, 0, 0});
    }
}

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void events_init(struct events *events, const struct workload *workload)
{
    *events = (struct events){0};
    for (uint32_t i = 0; i < workload->options->processes; i++) {
        add_start(events, workload, i);
        add_code_pages(events, workload, &workload->processes[i]);
        add_remaps(events, workload, &workload->processes[i]);
    }
    qsort(events->items, events->count, sizeof(*events->items), by_time);
}

void events_free(struct events *events)
{
    free(events->items);
    buffer_free(&events->bytes);
    *events = (struct events){0};
}
