/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include "parse.h"
#include "resync.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Invalid records beyond these are counted and no longer reported one by one. */
#define REPORT_LIMIT 16

int jitdump_reader_new(struct jitdump *dump, const struct diag *diag, struct jitdump_reader **out)
{
    struct jitdump_reader *reader = calloc(1, sizeof(*reader));

    *out = reader;
    if (!reader)
        return -ENOMEM;
    reader->dump = dump;
    reader->diag = diag;
    reader->next = dump->first_record;
    window_init(&reader->window, dump);
    return 0;
}

void jitdump_reader_free(struct jitdump_reader *reader)
{
    if (!reader)
        return;
    window_release(&reader->window);
    free(reader);
}

const struct jitdump_stats *jitdump_reader_stats(const struct jitdump_reader *reader)
{
    return &reader->stats;
}

static void reject(struct jitdump_reader *reader, uint64_t offset, uint32_t id, const char *why)
{
    uint64_t rejected = ++reader->stats.invalid_records;

    if (rejected <= REPORT_LIMIT)
        diag_report(reader->diag, DIAG_WARNING, reader->dump->path, offset,
                    "the record of type %" PRIu32 " %s; it is left out%s", id, why,
                    rejected < REPORT_LIMIT ? "" : ", and others like it without a word");
}

void reader_reject(struct jitdump_reader *reader, const struct jitdump_record *record,
                   const char *why)
{
    reject(reader, record->offset, record->id, why);
}

static void report_gap(struct jitdump_reader *reader, uint64_t from, uint64_t to)
{
    struct frame frame;
    char found[64] = "";

    reader->stats.skipped_bytes += to - from;
    /* Who wrote the dump may see by that what went wrong. */
    if (frame_read(&reader->window, from, &frame))
        snprintf(found, sizeof(found), " (one would be of type %" PRIu32 " and size %" PRIu32 ")",
                 frame.id, frame.size);
    diag_report(reader->diag, DIAG_WARNING, reader->dump->path, from,
                "%" PRIu64 " bytes are no records%s; %s at %" PRIu64, to - from, found,
                to < reader->window.size ? "reading goes on" : "the dump ends", to);
}

/* No record begins from `from` on: the dump ends within one, or in something else. */
static void note_tail(struct jitdump_reader *reader, uint64_t from)
{
    if (resync_is_cut(&reader->window, from, &reader->times))
        reader->stats.cut_bytes = reader->window.size - from;
    else
        report_gap(reader, from, reader->window.size);
}

/* Goes to the start of the next whole record; false at the end of the dump or on an error. */
static bool find_start(struct jitdump_reader *reader, struct frame *frame)
{
    struct window *window = &reader->window;
    uint64_t from = reader->next;

    /* Short records are looked at without moving the window, so it is moved here. */
    if (from >= window->size ||
        (window->size - from >= FRAME_SIZE && !window_at(window, from, FRAME_SIZE, NULL)))
        return false;
    /* It has been looked at as what follows the last one; only the time to measure it by is new. */
    *frame = reader->sure;
    if (frame->size && frame->offset == from && trust_in_time(&reader->times, frame->time))
        return true;
    if (resync_begins(window, from, &reader->times, NULL))
        return frame_read(window, from, frame);

    uint64_t run = reader->resume > from
                       ? reader->resume
                       : resync_find(window, from + 1, window->size, &reader->times);
    if (window->error)
        return false;
    if (run < window->size)
        report_gap(reader, from, run);
    else
        note_tail(reader, from);
    reader->next = run;
    return run < window->size && frame_read(window, run, frame);
}

/*
 * A record that is followed by something else than a record may have a wrong size, or foreign bytes
 * in it. Where good records begin before it ends, it is left out in their favour. Sets `next`.
 */
static bool ends_well(struct jitdump_reader *reader, const struct frame *frame)
{
    struct window *window = &reader->window;

    frame_hold(window, frame);
    reader->next = frame->offset + frame->size;
    if (reader->next == window->size ||
        resync_begins(window, reader->next, &reader->times, &reader->sure))
        return true;
    reader->resume = resync_find(window, frame->offset + FRAME_SIZE, window->size, &reader->times);
    if (window->error)
        return false;
    if (reader->resume >= reader->next)
        return true;
    reject(reader, frame->offset, frame->id, "is broken off by other records");
    reader->stats.skipped_bytes += reader->resume - frame->offset;
    reader->next = reader->resume;
    return false;
}

void reader_count(struct jitdump_reader *reader, const struct jitdump_record *record)
{
    struct jitdump_stats *stats = &reader->stats;

    switch (record->id) {
    case JITDUMP_LOAD:
        stats->loads++;
        if (record->load.has_bytes)
            stats->code_bytes += record->load.size;
        break;
    case JITDUMP_MOVE:
        stats->moves++;
        break;
    case JITDUMP_DEBUG_INFO:
        stats->debug_infos++;
        break;
    case JITDUMP_CLOSE:
        stats->closes++;
        break;
    case JITDUMP_UNWINDING_INFO:
        stats->unwinding_infos++;
        break;
    default:
        if (!stats->unknown++)
            diag_report(reader->diag, DIAG_NOTE, reader->dump->path, record->offset,
                        "records of type %" PRIu32 " are not known and not used", record->id);
    }
    if (record->id == JITDUMP_LOAD || record->id == JITDUMP_MOVE) {
        bool first = stats->loads + stats->moves == 1;
        if (first || record->time < stats->first_time)
            stats->first_time = record->time;
        if (record->time > stats->last_time)
            stats->last_time = record->time;
    }
}

void reader_go_on(struct jitdump_reader *reader, const struct jitdump_reader *other,
                  uint64_t last_time)
{
    const struct jitdump_stats *more = &other->stats;
    struct jitdump_stats *stats = &reader->stats;
    const bool first = stats->loads + stats->moves == 0;

    reader->next = other->next;
    trust_note_time(&reader->times, last_time);
    if (more->loads && (first || more->first_time < stats->first_time))
        stats->first_time = more->first_time;
    if (more->last_time > stats->last_time)
        stats->last_time = more->last_time;
    stats->loads += more->loads;
    stats->debug_infos += more->debug_infos;
    stats->unwinding_infos += more->unwinding_infos;
    stats->closes += more->closes;
    stats->code_bytes += more->code_bytes;
}

int jitdump_reader_next(struct jitdump_reader *reader, struct jitdump_record *record)
{
    struct window *window = &reader->window;
    struct frame frame;

    while (find_start(reader, &frame)) {
        if (!ends_well(reader, &frame))
            continue;
        trust_note_time(&reader->times, frame.time);
        const char *wrong = parse_record(window, &frame, record);
        if (window->error)
            break;
        if (!wrong) {
            reader_count(reader, record);
            return 1;
        }
        reject(reader, frame.offset, frame.id, wrong);
    }
    if (window->error)
        diag_report(reader->diag, DIAG_WARNING, reader->dump->path, reader->next,
                    "the dump cannot be read any further: %s", strerror(-window->error));
    return window->error;
}
