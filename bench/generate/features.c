/* SPDX-License-Identifier: MIT */
/* The format: tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources. */
#include "features.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "events.h"
#include "random.h"

enum {
    BUILD_ID = 2,
    HOSTNAME = 3,
    OSRELEASE = 4,
    VERSION = 5,
    ARCH = 6,
    NRCPUS = 7,
    CPUDESC = 8,
    CPUID = 9,
    TOTAL_MEM = 10,
    CMDLINE = 11,
    EVENT_DESC = 12,
    SAMPLE_TIME = 21,
    CLOCKID = 23,
    CLOCK_DATA = 29,
};

static const int features[] = {BUILD_ID,   HOSTNAME,    OSRELEASE, VERSION,   ARCH,
                               NRCPUS,     CPUDESC,     CPUID,     TOTAL_MEM, CMDLINE,
                               EVENT_DESC, SAMPLE_TIME, CLOCKID,   CLOCK_DATA};

enum { FEATURE_COUNT = sizeof(features) / sizeof(features[0]) };
enum { HEADER_SIZE = 104, ATTR_SIZE = PERF_ATTR_SIZE_VER7, PURPOSE_BUILD_ID = 32 };

static const char event_name[] = "cpu-clock:u";

/* What `perf record -k mono -g -e cpu-clock:u COMMAND` asks of the kernel. */
static struct perf_event_attr attribute(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = ATTR_SIZE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = 1000000000 / WORKLOAD_SAMPLE_PERIOD,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_PERIOD,
        .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .mmap = 1,
        .comm = 1,
        .freq = 1,
        .enable_on_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .mmap2 = 1,
        .comm_exec = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static void put_attribute(struct buffer *to)
{
    struct perf_event_attr attr = attribute();
    buffer_put(to, &attr, ATTR_SIZE);
}

static void put_ids(struct buffer *to)
{
    for (uint64_t id = 0; id < FEATURES_IDS; id++)
        buffer_put_u64(to, FEATURES_FIRST_ID + id);
}

void features_put_header(struct buffer *to, uint64_t data_size)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        bits |= 1ULL << features[i];
    uint64_t ids_size = FEATURES_IDS * sizeof(uint64_t);

    buffer_put(to, "PERFILE2", 8);
    buffer_put_u64(to, HEADER_SIZE);
    buffer_put_u64(to, ATTR_SIZE + 16);
    buffer_put_u64(to, HEADER_SIZE + ids_size);
    buffer_put_u64(to, ATTR_SIZE + 16);
    buffer_put_u64(to, FEATURES_DATA_OFFSET);
    buffer_put_u64(to, data_size);
    buffer_put_zeros(to, 16); /* event types, no longer used */
    buffer_put_u64(to, bits);
    buffer_put_zeros(to, 24);

    put_ids(to);
    put_attribute(to);
    buffer_put_u64(to, HEADER_SIZE);
    buffer_put_u64(to, ids_size);
}

static void put_string(struct buffer *to, const char *text)
{
    size_t padded = (strlen(text) + 1 + 63) / 64 * 64;
    buffer_put_u32(to, (uint32_t)padded);
    buffer_put_text(to, text, 64);
}

static void put_build_id(struct buffer *to, const char *path, uint64_t seed)
{
    enum { BUILD_ID_SIZE = 20, HAS_SIZE = 1 << 15, HOST = -1 };
    uint64_t state = random_start(seed, PURPOSE_BUILD_ID, strlen(path));
    size_t start = begin_event(to, 0, PERF_RECORD_MISC_USER | HAS_SIZE);
    buffer_put_u32(to, (uint32_t)HOST);
    for (int i = 0; i < BUILD_ID_SIZE; i++)
        buffer_put_u8(to, (uint8_t)random_next(&state));
    buffer_put_u32(to, BUILD_ID_SIZE);
    buffer_put_text(to, path, 64);
    end_event(to, start);
}

static void put_command(struct buffer *to)
{
    static const char *const words[] = {"/usr/bin/perf", "record", "-k", "mono", "-g", "-e",
                                        event_name,      "app"};
    enum { WORDS = sizeof(words) / sizeof(words[0]) };
    buffer_put_u32(to, WORDS);
    for (size_t i = 0; i < WORDS; i++)
        put_string(to, words[i]);
}

static void put_feature(struct buffer *to, int feature, const struct workload *workload,
                        uint64_t last_sample_time)
{
    switch (feature) {
    case BUILD_ID:
        put_build_id(to, runtime_binary.path, workload->options->seed);
        put_build_id(to, runtime_library.path, workload->options->seed);
        break;
    case HOSTNAME:
        put_string(to, "bench");
        break;
    case OSRELEASE:
    case VERSION:
        put_string(to, "6.1.0");
        break;
    case ARCH:
        put_string(to, "x86_64");
        break;
    case NRCPUS:
        buffer_put_u32(to, WORKLOAD_CPUS);
        buffer_put_u32(to, WORKLOAD_CPUS);
        break;
    case CPUDESC:
        put_string(to, "made by bench-generate");
        break;
    case CPUID:
        put_string(to, "AuthenticAMD,26,2,1");
        break;
    case TOTAL_MEM:
        buffer_put_u64(to, 16 << 20); /* KiB */
        break;
    case CMDLINE:
        put_command(to);
        break;
    case EVENT_DESC:
        buffer_put_u32(to, 1);
        buffer_put_u32(to, ATTR_SIZE);
        put_attribute(to);
        buffer_put_u32(to, FEATURES_IDS);
        put_string(to, event_name);
        put_ids(to);
        break;
    case SAMPLE_TIME:
        buffer_put_u64(to, workload->first_sample_time);
        buffer_put_u64(to, last_sample_time);
        break;
    case CLOCKID:
        buffer_put_u64(to, 1); /* its resolution in ns */
        break;
    case CLOCK_DATA:
        buffer_put_u32(to, 1);
        buffer_put_u32(to, CLOCK_MONOTONIC);
        buffer_put_u64(to, 1700000000000000000); /* the time of day at ... */
        buffer_put_u64(to, workload->start_time);
        break;
    }
}

void features_put_trailer(struct buffer *to, const struct workload *workload, uint64_t data_size,
                          uint64_t last_sample_time)
{
    enum { ENTRY = 2 * sizeof(uint64_t) };
    size_t table = to->size;
    uint64_t file_offset = FEATURES_DATA_OFFSET + data_size;
    buffer_put_zeros(to, FEATURE_COUNT * ENTRY);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        uint64_t entry[2] = {file_offset + (to->size - table)};
        size_t start = to->size;
        put_feature(to, features[i], workload, last_sample_time);
        entry[1] = to->size - start;
        memcpy(to->bytes + table + i * ENTRY, entry, ENTRY);
    }
}
