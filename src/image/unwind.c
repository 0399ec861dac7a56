/* SPDX-License-Identifier: MIT */
#include "unwind.h"

#include "cfi.h"
#include "eh_frame.h"
#include "encode.h"
#include "frames.h"
#include "jitinject/array.h"
#include "jitinject/bytes.h"
#include "output.h"
#include "versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of struct user: no other piece is at the same addresses. */
#define ALONE SIZE_MAX

/* A piece with tables, and where its code is in files of this base. */
struct user {
    const struct code *code;
    uint64_t offset;
    size_t version; /* of `versions`, or ALONE */
};

struct unwind {
    struct image *image;
    struct image_output output; /* its own: writes to the image come in between */
    struct user *users;
    size_t user_count, done;   /* of them the first ones */
    struct jitdump_span heard; /* what somebody else has read */
    struct jitdump_view view;  /* what was read for these */
    struct cfi cfi;
    struct frames frames;
    struct versions versions;
};

/* By record, those first that are where the record was made for. */
static int compare_users(const void *left, const void *right)
{
    const struct user *a = left, *b = right;
    const unsigned a_moved = a->code->flags & CODE_MOVED, b_moved = b->code->flags & CODE_MOVED;

    if (a->code->source != b->code->source)
        return a->code->source < b->code->source ? -1 : 1;
    if (a->code->unwind != b->code->unwind)
        return a->code->unwind < b->code->unwind ? -1 : 1;
    if (a_moved != b_moved)
        return a_moved < b_moved ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool has_tables(const struct code *code)
{
    return code->unwind && code->unwind_size && code->size;
}

static uint64_t code_end(const struct code *code)
{
    return code->addr + code->size;
}

/* Takes the pieces [first, end), which hang together by overlaps unless it is one. */
static int collect_group(struct unwind *unwind, struct code *const *first, struct code *const *end)
{
    const struct place_extent *extent = &unwind->image->file->extents[0];
    const bool is_alone = end - first == 1;
    int err = 0;

    for (struct code *const *code = first; code < end && !err; code++) {
        const uint64_t offset = extent->offset + ((*code)->addr - extent->addr);
        if (has_tables(*code))
            unwind->users[unwind->user_count++] =
                (struct user){.code = *code,
                              .offset = offset,
                              .version = is_alone ? ALONE : unwind->versions.count};
        if (!is_alone)
            err = versions_add(&unwind->versions, *code, offset);
    }
    return err;
}

static int collect_users(struct unwind *unwind)
{
    const struct place_file *file = unwind->image->file;
    size_t count = 0;
    int err = 0;

    for (size_t i = 0; i < file->table_code_count; i++)
        count += has_tables(file->table_codes[i]);
    if (count == 0)
        return 0;
    struct code *const *const end = file->table_codes + file->table_code_count;
    unwind->users = malloc(count * sizeof(*unwind->users));
    if (!unwind->users)
        return -ENOMEM;
    for (struct code *const *code = file->table_codes, *const *next; code < end && !err;
         code = next) {
        uint64_t reached = code_end(*code);
        for (next = code + 1; next < end && (*next)->addr < reached; next++)
            reached = code_end(*next) > reached ? code_end(*next) : reached;
        err = collect_group(unwind, code, next);
    }
    array_sort(unwind->users, unwind->user_count, sizeof(*unwind->users), compare_users);
    return err;
}

static void report_unread(const struct unwind *unwind, const struct jitdump *dump, uint64_t offset,
                          int err)
{
    if (err != -ENOMEM) /* of which the image tells, once */
        diag_report(unwind->image->diag, DIAG_ERROR, jitdump_path(dump), offset,
                    "the dump cannot be read: %s", strerror(-err));
}

/* Where the tables of a record are in it and in memory. */
struct layout {
    struct cfi_data data;
    bool is_absolute; /* the record tells its address; else it follows the code of its function */
};

/*
 * perf, V8 and CPython put .eh_frame first and have it follow the code, aligned to 8. LLVM's ORC
 * puts a header first, as the specification says, with the address of .eh_frame in it.
 */
static bool find_tables(const struct image *image, const struct jitdump_unwinding *unwinding,
                        const struct code *code, struct layout *layout)
{
    const uint64_t follows = bytes_align_up(code->addr + code->size, 8);
    const uint8_t *header = unwinding->header;

    *layout = (struct layout){.data = {
                                  .frames = unwinding->frames,
                                  .size = unwinding->frames_size,
                                  .frames_addr = follows,
                                  .header_addr = follows + unwinding->frames_size,
                                  .is_64bit = image->target->is_64bit,
                                  .swapped = image_target_swapped(image->target),
                              }};
    if (!unwinding->header_first)
        return unwinding->frames_size > 0;
    const uint8_t encoding = header[EH_FRAME_HDR_PTR_ENC], *pointer = header + EH_FRAME_HDR_PTR;
    layout->data.header_addr = follows;
    layout->is_absolute = (encoding & EH_PE_BASE) == 0;
    return cfi_pointer(&layout->data, encoding, &pointer, header + unwinding->header_size,
                       follows + EH_FRAME_HDR_PTR, &layout->data.frames_addr);
}

/* Reads the record of these users. *found: it has tables. 0 or a negative errno. */
static int read_record(struct unwind *unwind, const struct code *code, struct layout *layout,
                       bool *found)
{
    const struct jitdump *dump = unwind->image->sources[code->source].dump;
    struct jitdump_unwinding unwinding;
    const int err =
        jitdump_unwinding(&unwind->view, &unwind->heard, dump, code->unwind, &unwinding);

    if (err)
        report_unread(unwind, dump, code->unwind, err);
    *found = !err && unwinding.frames && find_tables(unwind->image, &unwinding, code, layout);
    return *found ? cfi_parse(&unwind->cfi, &layout->data) : err;
}

/* One FDE, for code `delta` into the piece. 1: done; 0: there is no room; or a negative errno. */
static int add_fde(struct unwind *unwind, const struct user *user, const struct cfi_fde *fde,
                   uint64_t delta)
{
    const uint64_t left = user->code->size - delta;
    const uint64_t size = fde->size < left ? fde->size : left;
    const struct cfi_cie *cie = &unwind->cfi.cies[fde->cie];

    if (user->version != ALONE)
        return versions_add_table(&unwind->versions, user->version, cie, fde, user->offset + delta,
                                  size)
                   ?: 1;
    const int done = frames_add(&unwind->frames, cie, fde, user->offset + delta, size);
    unwind->image->stats->unwind_entries += done > 0;
    return done;
}

/*
 * The FDEs that begin in the piece, which is `shift` from where they were made for. 0 or a negative
 * errno.
 */
static int add_user(struct unwind *unwind, const struct user *user, uint64_t shift)
{
    struct image_stats *stats = unwind->image->stats;
    const struct cfi *cfi = &unwind->cfi;
    const uint64_t addr = user->code->addr - shift;
    uint64_t added = 0;

    for (size_t i = cfi_find(cfi, addr); i < cfi->fde_count; i++) {
        const struct cfi_fde *fde = &cfi->fdes[i];
        const uint64_t delta = fde->pc - addr;
        if (delta >= user->code->size)
            break;
        const int done = add_fde(unwind, user, fde, delta);
        if (done < 0)
            return done;
        if (!done)
            break;
        added++;
    }
    stats->unwind_dropped += added == 0;
    return 0;
}

static int loaded_addr(const struct unwind *unwind, const struct code *code, uint64_t *addr)
{
    const struct jitdump *dump = unwind->image->sources[code->source].dump;
    const int err = jitdump_loaded_addr(&unwind->view, dump, code, addr);

    if (err)
        report_unread(unwind, dump, code->name, err);
    return err;
}

/* All users [first, end) of one record. */
static int add_record(struct unwind *unwind, size_t first, size_t end)
{
    const struct user *users = unwind->users;
    struct layout layout;
    bool found;
    int err = read_record(unwind, users[first].code, &layout, &found);

    if (err || !found) {
        unwind->image->stats->unwind_dropped += end - first;
        return err;
    }
    for (size_t i = first; i < end && !err; i++) {
        /* Tables that follow their code were found behind the first user. */
        uint64_t from = users[first].code->addr;
        if (layout.is_absolute)
            err = loaded_addr(unwind, users[i].code, &from);
        err = err ?: add_user(unwind, &users[i], users[i].code->addr - from);
    }
    return err;
}

/* Whether the record of a user begins before `offset` in a source, or is in an earlier one. */
static bool is_before(const struct user *user, uint16_t source, uint64_t offset)
{
    return user->code->source != source ? user->code->source < source : user->code->unwind < offset;
}

/* The records up to there that are not done. */
static int add_records(struct unwind *unwind, uint16_t source, uint64_t offset)
{
    const struct user *users = unwind->users;
    int err = 0;

    for (size_t i = unwind->done, end; !err && i < unwind->user_count; i = unwind->done = end) {
        const struct code *code = users[i].code;
        if (!is_before(&users[i], source, offset))
            break;
        for (end = i + 1; end < unwind->user_count; end++)
            if (users[end].code->source != code->source || users[end].code->unwind != code->unwind)
                break;
        err = add_record(unwind, i, end);
    }
    return err;
}

int unwind_new(struct image *image, struct unwind **out)
{
    const struct place_file *file = image->file;
    struct unwind *unwind = calloc(1, sizeof(*unwind));
    /* An empty table is never read through a mapping: it may lie before the code. */
    uint64_t offset = bytes_align_up(image_note_offset(image->target) + IMAGE_NOTE_SIZE, 8);
    uint64_t size = FRAMES_SIZE_MIN;

    *out = unwind;
    if (!unwind)
        return -ENOMEM;
    if (file->tables_size >= FRAMES_SIZE_MIN + 4) {
        offset = bytes_align_up(file->tables_offset, 4);
        size = file->tables_offset + file->tables_size - offset;
    }
    unwind->image = image;
    unwind->versions.image = image;
    int err = image_output_open(&unwind->output, image->output.fd);
    err = err ?: frames_open(&unwind->frames, image, &unwind->output, offset, size);
    return err ?: collect_users(unwind);
}

void unwind_free(struct unwind *unwind)
{
    if (!unwind)
        return;
    frames_close(&unwind->frames);
    versions_free(&unwind->versions);
    cfi_free(&unwind->cfi);
    jitdump_view_release(&unwind->view);
    image_output_close(&unwind->output);
    free(unwind->users);
    free(unwind);
}

int unwind_take(struct unwind *unwind, uint16_t source, uint64_t offset, const uint8_t *bytes,
                size_t size)
{
    unwind->heard = (struct jitdump_span){unwind->image->sources[source].dump, bytes, size, offset};
    return add_records(unwind, source, offset + size);
}

int unwind_finish(struct unwind *unwind)
{
    unwind->heard = (struct jitdump_span){0};
    int err = add_records(unwind, UINT16_MAX, UINT64_MAX);

    err = err ?: versions_write(&unwind->versions, &unwind->frames);
    err = err ?: frames_finish(&unwind->frames);
    if (!err)
        image_output_join(&unwind->image->output, &unwind->output);
    return err;
}
