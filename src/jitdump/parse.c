/* SPDX-License-Identifier: MIT */
#include "parse.h"

#include "unwinding.h"

#include "jitinject/bytes.h"

#include <limits.h>

/* What is asked of the window for a LOAD at once: fixed part and nearly any name. */
#define LOAD_START 4096

static bool all_zero(struct window *window, uint64_t from, uint64_t size)
{
    return window_find(window, from, from + size, false) == from + size;
}

/*
 * Where the code is in a LOAD that holds `slack` bytes more than it needs, as an offset from the
 * record's start. By the specification it follows the name's NUL, perf takes it from the record's
 * end: whichever side looks like padding is the padding, and perf's view counts otherwise.
 */
static uint32_t choose_code_delta(struct window *window, const struct frame *frame,
                                  uint32_t after_name, uint32_t slack)
{
    uint64_t end = frame->offset + frame->size;

    if (slack && all_zero(window, end - slack, slack) &&
        !all_zero(window, frame->offset + after_name, slack))
        return after_name;
    return after_name + slack;
}

/* Size of the name without its NUL, beyond `start` bytes of the record; -1 where it has none. */
static int64_t find_far_name(struct window *window, const struct frame *frame, size_t start)
{
    uint64_t end = frame->offset + frame->size;
    uint64_t far = window_find(window, frame->offset + start, end, true);

    return far < end ? (int64_t)(far - frame->offset - LOAD_NAME) : -1;
}

static const char *parse_load(struct window *window, const struct frame *frame,
                              struct jitdump_record *record)
{
    size_t start = frame->size < LOAD_START ? frame->size : LOAD_START;
    const uint8_t *raw = window_at(window, frame->offset, start, NULL);

    if (!raw)
        return "cannot be read";
    const uint8_t *nul = memchr(raw + LOAD_NAME, 0, start - LOAD_NAME);
    int64_t name_size = nul ? nul - raw - LOAD_NAME : find_far_name(window, frame, start);
    if (name_size < 0)
        return "has no end of its name";
    uint32_t after_name = LOAD_NAME + (uint32_t)name_size + 1;
    if (!nul && !(raw = window_at(window, frame->offset, after_name, NULL)))
        return "cannot be read";

    record->load.pid = bytes_u32(raw + LOAD_PID, window->swapped);
    record->load.tid = bytes_u32(raw + LOAD_TID, window->swapped);
    record->load.addr = bytes_u64(raw + LOAD_CODE_ADDR, window->swapped);
    record->load.size = bytes_u64(raw + LOAD_CODE_SIZE, window->swapped);
    record->load.index = bytes_u64(raw + LOAD_CODE_INDEX, window->swapped);
    record->load.name_size = (uint32_t)name_size;
    record->load.name = (const char *)raw + LOAD_NAME;
    if (record->load.size > INT_MAX)
        return "claims more code than a function can have";
    if (record->load.addr > UINT64_MAX - record->load.size)
        return "has code that reaches beyond the address space";

    uint32_t room = frame->size - after_name;
    record->load.has_bytes = record->load.size <= room;
    record->load.code_delta = 0;
    if (record->load.has_bytes)
        record->load.code_delta =
            choose_code_delta(window, frame, after_name, room - (uint32_t)record->load.size);
    return NULL;
}

static const char *parse_move(struct window *window, const struct frame *frame,
                              struct jitdump_record *record)
{
    const uint8_t *raw = window_at(window, frame->offset, frame_fixed_size(JITDUMP_MOVE), NULL);

    if (!raw)
        return "cannot be read";
    record->move.pid = bytes_u32(raw + MOVE_PID, window->swapped);
    record->move.tid = bytes_u32(raw + MOVE_TID, window->swapped);
    record->move.old_addr = bytes_u64(raw + MOVE_OLD_CODE_ADDR, window->swapped);
    record->move.new_addr = bytes_u64(raw + MOVE_NEW_CODE_ADDR, window->swapped);
    record->move.size = bytes_u64(raw + MOVE_CODE_SIZE, window->swapped);
    record->move.index = bytes_u64(raw + MOVE_CODE_INDEX, window->swapped);
    return NULL;
}

static const char *parse_debug_info(struct window *window, const struct frame *frame,
                                    struct jitdump_record *record)
{
    const uint8_t *raw =
        window_at(window, frame->offset, frame_fixed_size(JITDUMP_DEBUG_INFO), NULL);

    if (!raw)
        return "cannot be read";
    record->debug.addr = bytes_u64(raw + DEBUG_CODE_ADDR, window->swapped);
    record->debug.entries = bytes_u64(raw + DEBUG_NR_ENTRY, window->swapped);
    return NULL;
}

static bool header_is_first(struct window *window, uint64_t data, uint64_t size,
                            uint64_t header_size)
{
    uint8_t first[UNWINDING_MARK], last[UNWINDING_MARK];

    return unwinding_has_both(size, header_size) &&
           window_peek(window, data + size - header_size, last, sizeof(last)) &&
           window_peek(window, data, first, sizeof(first)) && unwinding_header_first(first, last);
}

static const char *parse_unwinding_info(struct window *window, const struct frame *frame,
                                        struct jitdump_record *record)
{
    uint32_t fixed = frame_fixed_size(JITDUMP_UNWINDING_INFO);
    const uint8_t *raw = window_at(window, frame->offset, fixed, NULL);

    if (!raw)
        return "cannot be read";
    uint64_t size = bytes_u64(raw + UNWINDING_SIZE, window->swapped);
    uint64_t header_size = bytes_u64(raw + UNWINDING_HEADER_SIZE, window->swapped);
    if (size > frame->size - fixed || header_size > size)
        return "has unwind tables that are longer than the record";
    record->unwinding.size = size;
    record->unwinding.header_size = header_size;
    record->unwinding.mapped_size = bytes_u64(raw + UNWINDING_MAPPED_SIZE, window->swapped);
    record->unwinding.header_first =
        header_is_first(window, frame->offset + fixed, size, header_size);
    return NULL;
}

const char *parse_record(struct window *window, const struct frame *frame,
                         struct jitdump_record *record)
{
    uint32_t fixed = frame_fixed_size(frame->id);

    *record = (struct jitdump_record){
        .offset = frame->offset,
        .id = frame->id,
        .total_size = frame->size,
        .time = frame->time,
    };
    if (frame->size < fixed)
        return "is shorter than its fields";
    switch (frame->id) {
    case JITDUMP_LOAD:
        return parse_load(window, frame, record);
    case JITDUMP_MOVE:
        return parse_move(window, frame, record);
    case JITDUMP_DEBUG_INFO:
        return parse_debug_info(window, frame, record);
    case JITDUMP_UNWINDING_INFO:
        return parse_unwinding_info(window, frame, record);
    default:
        return NULL;
    }
}
