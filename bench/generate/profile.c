/* SPDX-License-Identifier: MIT */
/*
 * The order of the data section is that of a recording: perf record wakes up when one CPU's ring
 * buffer is half full, copies what each CPU has so far, one CPU behind the other, and ends the
 * round. A later CPU is read a little later, so times go back both within a round and into the
 * next.
 */
#include "profile.h"

#include <err.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "code.h"
#include "events.h"
#include "features.h"
#include "random.h"

enum { ID_INDEX = 69, FINISHED_ROUND = 68, THREAD_MAP = 73, CPU_MAP = 74, FINISHED_INIT = 82 };

enum {
    ROUND_BYTES = 256 * 1024, /* half a ring buffer */
    SAMPLE_BYTES = 120,       /* on average */
    ROUND_TIME = ROUND_BYTES / SAMPLE_BYTES * WORKLOAD_SAMPLE_PERIOD,
    SHORT_ROUND_TIME = 600000, /* writing woke nobody: the round that follows at once is short */
    READ_LAG = 120000,         /* from reading one CPU's buffer to the next one's */
    TIME_SLICE = 64,           /* samples until another process has the CPU */
    MAX_CALLERS = 32,
    LIBRARY_SHARE = 32, /* one sample of these hits the runtime's library */
    LIBRARY_FUNCTIONS = 1024,
    ENTRY_OFFSET = 0x1234, /* what calls generated code, in the binary */
    START_OFFSET = 0x724a, /* what calls that, in the library */
};

enum { PURPOSE_CALLER = 63, PURPOSE_SAMPLE = 64 /* + CPU */ };

struct cpu {
    uint32_t number;
    uint32_t sample;
    uint32_t samples;
};

struct writer {
    const struct workload *workload;
    FILE *file;
    struct buffer bytes;
    uint64_t data_size;
    uint64_t last_sample_time;
    struct events events;
    size_t next_event;
    struct cpu cpus[WORKLOAD_CPUS];
};

static void flush(struct writer *writer)
{
    buffer_write(&writer->bytes, writer->file);
    writer->data_size += writer->bytes.size;
    buffer_clear(&writer->bytes);
}

static uint64_t sample_time(const struct workload *workload, const struct cpu *cpu)
{
    uint64_t phase = (uint64_t)cpu->number * WORKLOAD_SAMPLE_PERIOD / WORKLOAD_CPUS;
    uint64_t state =
        random_start(workload->options->seed, PURPOSE_SAMPLE + cpu->number, ~cpu->sample);
    uint64_t jitter = random_below(&state, 2000);
    return (workload->first_sample_time + cpu->sample * (uint64_t)WORKLOAD_SAMPLE_PERIOD + phase +
            jitter) |
           1;
}

static uint64_t bundle_of(const struct workload *workload, const struct process *process,
                          uint32_t index, uint64_t *random)
{
    const struct function *function = &workload->functions[process->first + index];
    uint32_t bundles = (function->size + CODE_BUNDLE - 1) / CODE_BUNDLE;
    return function->address + (uint64_t)random_below(random, bundles) * CODE_BUNDLE;
}

/*
 * A function is always called from the same place in one that was loaded before it: profiles are
 * trees of calls, and perf report takes memory for each call chain that differs.
 */
static size_t put_callers(const struct workload *workload, const struct process *process,
                          uint32_t index, uint32_t oldest, uint64_t *chain)
{
    size_t depth = 0;
    while (index > oldest && depth < MAX_CALLERS) {
        uint64_t random =
            random_start(workload->options->seed, PURPOSE_CALLER, process->first + index);
        index = random_skewed(&random, index);
        if (index < oldest)
            break;
        chain[depth++] = bundle_of(workload, process, index, &random);
    }
    return depth;
}

static void put_sample(struct writer *writer, const struct cpu *cpu, uint64_t time)
{
    const struct workload *workload = writer->workload;
    const struct options *options = workload->options;
    uint32_t turn = cpu->sample / TIME_SLICE + cpu->number;
    const struct process *process = &workload->processes[turn % options->processes];
    uint64_t random = random_start(options->seed, PURPOSE_SAMPLE + cpu->number, cpu->sample);
    uint32_t oldest;
    uint32_t end = workload_live(workload, process, time, &oldest);

    /* Innermost first: a library function now and then, generated code, what runs it. */
    uint64_t chain[MAX_CALLERS + 4];
    size_t depth = 0;
    if (end == oldest || random_below(&random, LIBRARY_SHARE) == 0)
        chain[depth++] =
            runtime_library.address + random_below(&random, LIBRARY_FUNCTIONS) * CODE_BUNDLE;
    if (end > oldest) {
        uint32_t index = oldest + random_skewed(&random, end - oldest);
        chain[depth++] = bundle_of(workload, process, index, &random);
        depth += put_callers(workload, process, index, oldest, chain + depth);
    }
    chain[depth++] = runtime_binary.address + ENTRY_OFFSET;
    chain[depth++] = runtime_library.address + START_OFFSET;

    struct buffer *to = &writer->bytes;
    size_t start = begin_event(to, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    buffer_put_u64(to, chain[0]);
    buffer_put_u32(to, process->pid);
    buffer_put_u32(to, process->pid + cpu->number);
    buffer_put_u64(to, time);
    buffer_put_u64(to, WORKLOAD_SAMPLE_PERIOD);
    buffer_put_u64(to, depth + 1);
    buffer_put_u64(to, PERF_CONTEXT_USER);
    buffer_put(to, chain, depth * sizeof(chain[0]));
    end_event(to, start);
    if (time > writer->last_sample_time)
        writer->last_sample_time = time;
}

/* What the CPU's buffer has got until then. */
static void put_buffer_of_cpu(struct writer *writer, struct cpu *cpu, uint64_t until)
{
    const struct events *events = &writer->events;
    while (true) {
        bool has_event = cpu->number == 0 && writer->next_event < events->count;
        bool has_sample = cpu->sample < cpu->samples;
        uint64_t event_time = has_event ? events->items[writer->next_event].time : UINT64_MAX;
        uint64_t next_sample = has_sample ? sample_time(writer->workload, cpu) : UINT64_MAX;
        if (event_time > until && next_sample > until)
            break;
        if (event_time <= next_sample) {
            const uint8_t *event = events->bytes.bytes + events->items[writer->next_event++].offset;
            struct perf_event_header header;
            memcpy(&header, event, sizeof(header));
            buffer_put(&writer->bytes, event, header.size);
        } else {
            put_sample(writer, cpu, next_sample);
            cpu->sample++;
        }
    }
}

static bool is_done(const struct writer *writer)
{
    bool done = writer->next_event == writer->events.count;
    for (int i = 0; i < WORKLOAD_CPUS; i++)
        done = done && writer->cpus[i].sample == writer->cpus[i].samples;
    return done;
}

static void put_rounds(struct writer *writer)
{
    uint64_t until = writer->workload->start_time;
    for (uint32_t round = 0; !is_done(writer); round++) {
        until += round % 2 ? SHORT_ROUND_TIME : ROUND_TIME;
        for (uint32_t i = 0; i < WORKLOAD_CPUS; i++)
            put_buffer_of_cpu(writer, &writer->cpus[i], until + (uint64_t)i * READ_LAG);
        end_event(&writer->bytes, begin_event(&writer->bytes, FINISHED_ROUND, 0));
        flush(writer);
    }
}

/* What perf record writes before the first round: its own view of what it records. */
static void put_preamble(struct writer *writer)
{
    uint32_t pid = writer->workload->processes[0].pid;
    struct buffer *to = &writer->bytes;
    size_t start = begin_event(to, ID_INDEX, 0);
    buffer_put_u64(to, FEATURES_IDS);
    for (uint64_t cpu = 0; cpu < FEATURES_IDS; cpu++) {
        buffer_put_u64(to, FEATURES_FIRST_ID + cpu);
        buffer_put_u64(to, cpu);
        buffer_put_u64(to, cpu);
        buffer_put_u64(to, pid);
    }
    end_event(to, start);

    start = begin_event(to, THREAD_MAP, 0);
    buffer_put_u64(to, 1);
    buffer_put_u64(to, pid);
    buffer_put_zeros(to, 16);
    end_event(to, start);

    start = begin_event(to, CPU_MAP, 0);
    buffer_put_u16(to, 0); /* a list of CPUs */
    buffer_put_u16(to, WORKLOAD_CPUS);
    for (uint16_t cpu = 0; cpu < WORKLOAD_CPUS; cpu++)
        buffer_put_u16(to, cpu);
    end_event(to, start);

    /* The recorded process before its exec: not from the kernel, hence without a time. */
    start = begin_event(to, PERF_RECORD_COMM, 0);
    buffer_put_u32(to, pid);
    buffer_put_u32(to, pid);
    buffer_put_text(to, "perf-exec", 8);
    buffer_put_zeros(to, 16);
    end_event(to, start);

    end_event(to, begin_event(to, FINISHED_INIT, 0));
    flush(writer);
}

void profile_write(const struct workload *workload)
{
    struct writer writer = {.workload = workload};
    char *path;
    if (asprintf(&path, "%s/perf.data", workload->options->out) < 0)
        err(1, "path");
    writer.file = fopen(path, "w");
    if (!writer.file)
        err(1, "%s", path);
    for (uint32_t i = 0; i < WORKLOAD_CPUS; i++) {
        uint32_t samples = workload->options->samples;
        writer.cpus[i].number = i;
        writer.cpus[i].samples = samples / WORKLOAD_CPUS + (i < samples % WORKLOAD_CPUS);
    }
    events_init(&writer.events, workload);

    features_put_header(&writer.bytes, 0);
    flush(&writer);
    writer.data_size = 0;
    put_preamble(&writer);
    put_rounds(&writer);
    uint64_t data_size = writer.data_size;
    features_put_trailer(&writer.bytes, workload, data_size, writer.last_sample_time);
    flush(&writer);

    rewind(writer.file); /* the size of the data is known now */
    features_put_header(&writer.bytes, data_size);
    flush(&writer);
    if (fclose(writer.file))
        err(1, "%s", path);
    events_free(&writer.events);
    buffer_free(&writer.bytes);
    free(path);
}
