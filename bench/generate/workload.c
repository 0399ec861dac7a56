/* SPDX-License-Identifier: MIT */
#include "workload.h"

#include <err.h>
#include <stdlib.h>

#include "code.h"

enum {
    CODE_ALIGN = 16,
    REUSE_SLOT = 1024,     /* bytes from one re-used address to the next */
    FIRST_PID = 3000001,   /* high, so that no live process is taken for a recorded one */
    SETUP_SPACING = 20000, /* ns from one process' start to the next */
};

static const uint64_t start_of_code = 0x2a5c3e000000;
static const uint64_t distance_of_processes = 0x1000000000;

_Static_assert(CODE_MAX_SIZE + CODE_MAX_UNWIND_SIZE <= REUSE_SLOT, "a function fills its slot");

static void place_functions(struct workload *workload, struct process *process)
{
    const struct options *options = workload->options;
    uint64_t next = process->code_start;
    for (uint32_t index = 0; index < process->count; index++) {
        struct function *function = &workload->functions[process->first + index];
        function->size = code_size(options->seed, process->first + index);
        if (options->reuse) {
            function->address =
                process->code_start + (uint64_t)(index % options->reuse) * REUSE_SLOT;
            next = function->address + REUSE_SLOT;
        } else {
            function->address = next;
            next += function->size + (options->unwind ? CODE_MAX_UNWIND_SIZE : 0);
            next = (next + CODE_ALIGN - 1) / CODE_ALIGN * CODE_ALIGN;
        }
        if (next > process->code_end)
            process->code_end = next;
    }
}

void workload_init(struct workload *workload, const struct options *options)
{
    *workload = (struct workload){
        .options = options,
        .functions = calloc(options->functions, sizeof(*workload->functions)),
        .processes = calloc(options->processes, sizeof(*workload->processes)),
        .start_time = 1000000000000, /* a monotonic clock some time after boot */
    };
    if (!workload->functions || !workload->processes)
        err(1, "%u functions", options->functions);
    workload->first_sample_time =
        workload->start_time + (uint64_t)(options->processes + 1) * SETUP_SPACING;
    workload->first_load_time = workload->first_sample_time + 2000000;

    uint64_t duration = (uint64_t)options->samples / WORKLOAD_CPUS * WORKLOAD_SAMPLE_PERIOD;
    uint32_t first = 0;
    for (uint32_t i = 0; i < options->processes; i++) {
        struct process *process = &workload->processes[i];
        process->pid = FIRST_PID + i * (WORKLOAD_CPUS + 1);
        process->first = first;
        process->count =
            options->functions / options->processes + (i < options->functions % options->processes);
        process->code_start = start_of_code + i * distance_of_processes;
        process->code_end = process->code_start;
        process->setup_time = workload->start_time + (uint64_t)i * SETUP_SPACING;
        process->load_interval = (duration / 2 / (process->count ? process->count : 1)) & ~1ULL;
        if (process->load_interval < 2)
            process->load_interval = 2;
        first += process->count;
        place_functions(workload, process);
    }
}

void workload_free(struct workload *workload)
{
    free(workload->functions);
    free(workload->processes);
    *workload = (struct workload){0};
}

uint64_t workload_load_time(const struct workload *workload, const struct process *process,
                            uint32_t index)
{
    return workload->first_load_time + index * process->load_interval;
}

uint32_t workload_live(const struct workload *workload, const struct process *process,
                       uint64_t time, uint32_t *oldest)
{
    uint64_t loaded = 0;
    if (time > workload->first_load_time)
        loaded = (time - workload->first_load_time - 1) / process->load_interval + 1;
    if (loaded > process->count)
        loaded = process->count;
    uint32_t reuse = workload->options->reuse;
    *oldest = reuse && loaded > reuse ? (uint32_t)loaded - reuse : 0;
    return (uint32_t)loaded;
}
