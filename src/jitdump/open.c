/* SPDX-License-Identifier: MIT */
#include "dump.h"
#include "resync.h"

#include "jitinject/bytes.h"
#include "jitinject/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The jitdump specification: "JiTD" as a number in the writer's byte order. */
#define MAGIC               0x4A695444u
#define VERSION             1u
#define FLAG_ARCH_TIMESTAMP 1u

static int parse_header(struct jitdump *dump, const struct diag *diag)
{
    struct jitdump_header *header = &dump->header;
    uint8_t raw[HEADER_SIZE] = {0};
    const char *wrong = NULL;
    ssize_t got = io_pread(dump->file.fd, raw, sizeof(raw), 0);

    if (got < 0) {
        diag_report(diag, DIAG_WARNING, dump->path, 0, "%s", strerror((int)-got));
        return (int)got;
    }
    header->swapped = bytes_u32(raw + HEADER_MAGIC, true) == MAGIC;
    if (got == 0)
        wrong = "the file is empty";
    else if (!header->swapped && bytes_u32(raw + HEADER_MAGIC, false) != MAGIC)
        wrong = "this is not a jitdump: it does not begin with its magic number";
    else if (got < HEADER_SIZE)
        wrong = "the dump is cut within its header";
    else if (dump->file.size >> CODE_OFFSET_BITS)
        wrong = "the file is larger than a dump can be";
    if (wrong) {
        diag_report(diag, DIAG_WARNING, dump->path, 0, "%s", wrong);
        return -EBADMSG;
    }
    header->version = bytes_u32(raw + HEADER_VERSION, header->swapped);
    header->total_size = bytes_u32(raw + HEADER_TOTAL_SIZE, header->swapped);
    header->elf_machine = bytes_u32(raw + HEADER_ELF_MACH, header->swapped);
    header->reserved = bytes_u32(raw + HEADER_PAD1, header->swapped);
    header->pid = bytes_u32(raw + HEADER_PID, header->swapped);
    header->timestamp = bytes_u64(raw + HEADER_TIMESTAMP, header->swapped);
    header->flags = bytes_u64(raw + HEADER_FLAGS, header->swapped);
    return 0;
}

static void judge_header(struct jitdump *dump, const struct diag *diag)
{
    struct jitdump_header *header = &dump->header;

    if (header->version != VERSION)
        diag_report(diag, header->version > VERSION ? DIAG_WARNING : DIAG_NOTE, dump->path,
                    HEADER_VERSION,
                    "the dump is of version %" PRIu32 " and read as if of version %u",
                    header->version, VERSION);
    header->arch_timestamps = header->flags == FLAG_ARCH_TIMESTAMP;
    /* LLVM 19 writes flags that it never set; the known bit says no more than the others then. */
    if (header->flags & ~(uint64_t)FLAG_ARCH_TIMESTAMP)
        diag_report(diag, DIAG_WARNING, dump->path, HEADER_FLAGS,
                    "the header has unknown flags (0x%" PRIx64 "); all its flags are ignored",
                    header->flags);
}

/* Records begin where the header says, or, failing that, behind the header that every version has,
 * where perf always looks for them. */
static int find_first_record(struct jitdump *dump, const struct diag *diag)
{
    uint32_t size = dump->header.total_size;
    bool possible = size >= HEADER_SIZE && size <= dump->file.size;
    const struct trust_times any_time = {.known = false};
    struct window window;

    window_init(&window, dump);
    dump->first_record = possible ? size : HEADER_SIZE;
    if (size == HEADER_SIZE || (possible && resync_begins(&window, size, &any_time, NULL)))
        return window.error;
    if (resync_begins(&window, HEADER_SIZE, &any_time, NULL)) {
        dump->first_record = HEADER_SIZE;
        diag_report(diag, DIAG_WARNING, dump->path, HEADER_TOTAL_SIZE,
                    "the header claims a size of %" PRIu32 "; records are read from %d on", size,
                    HEADER_SIZE);
        return 0;
    }
    if (window.error || possible)
        return window.error;
    diag_report(diag, DIAG_WARNING, dump->path, HEADER_TOTAL_SIZE,
                "the header claims a size of %" PRIu32 " in a file of %" PRIu64
                " bytes, and no records follow it",
                size, dump->file.size);
    return -EBADMSG;
}

int jitdump_open(const char *path, const struct diag *diag, struct jitdump **out)
{
    struct jitdump *dump = calloc(1, sizeof(*dump));
    int err = -ENOMEM;

    *out = NULL;
    if (!dump)
        return err;
    dump->file = INFILE_CLOSED;
    dump->path = strdup(path);
    if (!dump->path)
        goto fail;

    err = infile_open(path, diag, &dump->file);
    if (!err)
        err = parse_header(dump, diag);
    if (err)
        goto fail;
    judge_header(dump, diag);
    err = find_first_record(dump, diag);
    if (err)
        goto fail;
    *out = dump;
    return 0;
fail:
    jitdump_free(dump);
    return err;
}

void jitdump_free(struct jitdump *dump)
{
    if (!dump)
        return;
    infile_close(&dump->file);
    free(dump->path);
    free(dump);
}

const char *jitdump_path(const struct jitdump *dump)
{
    return dump->path;
}

const struct jitdump_header *jitdump_header(const struct jitdump *dump)
{
    return &dump->header;
}

void jitdump_identity(const struct jitdump *dump, dev_t *device, ino_t *inode)
{
    *device = dump->file.device;
    *inode = dump->file.inode;
}

int jitdump_fd(const struct jitdump *dump)
{
    return dump->file.fd;
}

uint64_t jitdump_size(const struct jitdump *dump)
{
    return dump->file.size;
}
