/* SPDX-License-Identifier: MIT */
/*
 * Random recordings, read as a reader does: the mappings that are kept and the events slipped in
 * are applied in order of time, and at every time every address must show the code, or the file,
 * that was put there last. Pids are used again, and programs replaced by others; perf keeps the
 * mappings of the old program then, other readers do not. Where a mapping covers a part of another,
 * perf keeps the rest of that, and samply drops all of it. In some recordings processes share
 * memory, and what one of them loads there all have.
 */
#include "jitinject/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "found.h"
#include "mapping.h"

#define SLOTS  64
#define ITEMS  80
#define PIDS   3
#define SHARED 77 /* number of the memory that processes share */
#define FIRST  UINT64_C(0x7f1234560000)

enum kind { LOAD, MAP_FILE, MAP_ANONYMOUS, MAP_SHARED, FORK, EXEC };

struct item {
    enum kind kind;
    uint64_t time;
    uint32_t pid, parent;
    unsigned slot, slots;
    struct code *code;
    bool kept;
};

/* What a slot of a process shows. */
struct view {
    enum { NOTHING, ANONYMOUS, REAL_FILE, OURS } kind;
    const struct code *code; /* expected: the code that is there */
    uint32_t file;           /* seen: where OURS leads */
    uint64_t offset;
    size_t mapping; /* seen: the mapping that it is of, a number */
};

/* A process at some time. */
struct memory {
    struct view slots[SLOTS];
    bool shared[SLOTS];
    uint64_t execed; /* when it, or the process it was forked from, became another program */
};

struct world {
    uint64_t slot_size;
    bool keeps_on_exec, drops_whole; /* the reader */
    size_t mappings;                 /* that it has seen */
    bool shares;
    struct item items[ITEMS];
    struct code codes[ITEMS];
    size_t code_count;
};

/* For each slot a view that was got before, and is kept until it does not cover a question. */
struct views {
    struct place_view list[PIDS + 1][SLOTS];
};

/* What is found, by a view of its own and by earlier ones that say that they cover it. */
static enum place_found look_at(struct place *place, struct views *views, uint32_t pid,
                                unsigned slot, uint64_t addr, uint64_t time)
{
    const unsigned slots[] = {slot, (slot + 1) % SLOTS, (unsigned)(slot * 7 + time) % SLOTS};
    struct place_view fresh;

    assert_int_equal(place_look(place, pid, addr, time, &fresh), 0);
    const enum place_found found = found_in(&fresh, addr);
    for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        const struct place_view *kept = &views->list[pid][slots[i]];
        if (place_view_covers(kept, pid, addr, time))
            assert_int_equal(found_in(kept, addr), found);
    }
    if (!place_view_covers(&views->list[pid][slot], pid, addr, time))
        views->list[pid][slot] = fresh;
    return found;
}

static bool same_name(void *context, const struct code *a, const struct code *b)
{
    (void)context;
    return a->name == b->name;
}

static uint64_t slot_address(const struct world *world, unsigned slot)
{
    return FIRST + slot * world->slot_size;
}

static bool has_no_file(const struct item *item)
{
    return item->kind == MAP_ANONYMOUS || item->kind == MAP_SHARED;
}

static void make_world(struct world *world, unsigned seed)
{
    static const uint64_t sizes[] = {16, 0x1000, 0x24000};
    uint64_t time = 1000;

    memset(world, 0, sizeof(*world));
    srand(seed);
    world->slot_size = sizes[seed % 3];
    world->keeps_on_exec = seed % 2;
    world->drops_whole = seed / 2 % 2;
    world->shares = seed / 4 % 2;
    for (size_t i = 0; i < ITEMS; i++) {
        struct item *item = &world->items[i];
        const int choice = rand() % 20;

        time += 10;
        item->kind = choice < 12   ? LOAD
                     : choice < 14 ? MAP_FILE
                     : choice < 17 ? MAP_ANONYMOUS
                     : choice < 19 ? FORK
                                   : EXEC;
        if (item->kind == MAP_ANONYMOUS && world->shares && rand() % 2)
            item->kind = MAP_SHARED;
        item->time = time;
        item->pid = 1 + (uint32_t)rand() % PIDS;
        item->parent = 1 + (uint32_t)rand() % PIDS;
        item->slot = (unsigned)rand() % SLOTS;
        item->slots = 1 + (unsigned)rand() % (has_no_file(item) ? 30 : 5);
        if (item->slot + item->slots > SLOTS)
            item->slots = SLOTS - item->slot;
        item->kept = true;
        if (item->kind == FORK && item->pid == item->parent)
            item->kind = LOAD;
        if (item->kind == LOAD) {
            item->code = &world->codes[world->code_count++];
            *item->code = (struct code){.time = item->time,
                                        .addr = slot_address(world, item->slot),
                                        .size = item->slots * world->slot_size,
                                        .name = (uint64_t)rand() % 3, /* as good as a name */
                                        .pid = item->pid};
        }
    }
}

static void feed(struct place *place, struct world *world)
{
    for (size_t i = 0; i < ITEMS; i++) {
        const struct item *item = &world->items[i];
        if (item->kind == FORK)
            assert_int_equal(place_add_fork(place, item->pid, item->parent, item->time), 0);
        else if (item->kind == EXEC)
            assert_int_equal(place_add_exec(place, item->pid, item->time), 0);
        else if (item->kind != LOAD)
            assert_int_equal(add_mapping(place, item->pid, item->time,
                                         slot_address(world, item->slot),
                                         item->slots * world->slot_size, 0,
                                         item->kind == MAP_FILE ? PLACE_FILE : PLACE_ANONYMOUS,
                                         item->kind == MAP_FILE     ? i + 1
                                         : item->kind == MAP_SHARED ? SHARED
                                                                    : 0,
                                         i),
                             0);
    }
    /* Out of order: place sorts by time. */
    for (size_t i = world->code_count; i-- > 0;)
        assert_int_equal(place_add_codes(place, &world->codes[i], 1), 0);
    assert_int_equal(place_run(place), 0);

    size_t count;
    const uint64_t *dropped = place_dropped(place, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(has_no_file(&world->items[dropped[i]]));
        assert_true(i == 0 || dropped[i] > dropped[i - 1]);
        world->items[dropped[i]].kept = false;
    }
}

static bool shares_all(const struct memory *memory, const struct item *item)
{
    for (unsigned slot = item->slot; slot < item->slot + item->slots; slot++)
        if (!memory->shared[slot])
            return false;
    return true;
}

static void expect_code(struct memory *memory, const struct item *item)
{
    for (unsigned slot = item->slot; slot < item->slot + item->slots; slot++)
        memory->slots[slot] = (struct view){.kind = OURS, .code = item->code};
}

/* The code is where it was loaded, and wherever the same memory is. */
static void expect_load(struct memory memories[PIDS + 1], const struct item *item)
{
    const bool shared = shares_all(&memories[item->pid], item);

    for (uint32_t pid = 1; pid <= PIDS; pid++)
        if (pid == item->pid || (shared && shares_all(&memories[pid], item)))
            expect_code(&memories[pid], item);
}

/* What is there: the newest of code and files; memory without a file hides neither. */
static void expect(struct memory memories[PIDS + 1], const struct item *item)
{
    struct memory *memory = &memories[item->pid];

    if (item->kind == FORK)
        *memory = memories[item->parent];
    if (item->kind == EXEC)
        *memory = (struct memory){.execed = item->time};
    if (item->kind == LOAD)
        expect_load(memories, item);
    if (item->kind == FORK || item->kind == EXEC || item->kind == LOAD)
        return;
    for (unsigned slot = item->slot; slot < item->slot + item->slots; slot++) {
        struct view *view = &memory->slots[slot];
        memory->shared[slot] = item->kind == MAP_SHARED;
        if (item->kind == MAP_FILE)
            *view = (struct view){.kind = REAL_FILE};
        else if (view->kind != OURS)
            *view = (struct view){.kind = ANONYMOUS};
    }
}

/* The reader maps code or memory over a slot. */
static void cover(struct memory *memory, const struct world *world, unsigned slot)
{
    const struct view covered = memory->slots[slot];

    for (unsigned i = 0; i < SLOTS && world->drops_whole && covered.kind == OURS; i++)
        if (memory->slots[i].kind == OURS && memory->slots[i].mapping == covered.mapping)
            memory->slots[i] = (struct view){0};
}

/* Over a file no mapping is made again: what is behind it becomes one of its own. */
static void cut_off(struct memory *memory, struct world *world, unsigned slot)
{
    const struct view covered = memory->slots[slot];

    world->mappings++;
    for (unsigned i = slot + 1; i < SLOTS && covered.kind == OURS; i++)
        if (memory->slots[i].mapping == covered.mapping)
            memory->slots[i].mapping = world->mappings;
}

static void see_item(struct memory memories[PIDS + 1], struct world *world, const struct item *item)
{
    if (item->kind == FORK)
        memories[item->pid] = memories[item->parent];
    if (item->kind == EXEC && !world->keeps_on_exec)
        memories[item->pid] = (struct memory){0};
    if (item->kind == FORK || item->kind == EXEC || item->kind == LOAD || !item->kept)
        return;
    for (unsigned slot = item->slot; slot < item->slot + item->slots; slot++) {
        if (item->kind == MAP_FILE)
            cut_off(&memories[item->pid], world, slot);
        else
            cover(&memories[item->pid], world, slot);
        memories[item->pid].slots[slot] =
            (struct view){.kind = item->kind == MAP_FILE ? REAL_FILE : ANONYMOUS};
    }
}

static void see_event(struct memory memories[PIDS + 1], struct world *world,
                      const struct place_event *event)
{
    world->mappings++;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const uint64_t address = slot_address(world, slot);
        if (address < event->addr || address - event->addr >= event->len)
            continue;
        cover(&memories[event->pid], world, slot);
        memories[event->pid].slots[slot] =
            (struct view){.kind = OURS,
                          .file = event->file,
                          .offset = event->offset + (address - event->addr),
                          .mapping = world->mappings};
    }
}

static const struct code *code_at(const struct place *place, const struct view *view)
{
    size_t count;
    const struct place_file *file = &place_files(place, &count)[view->file];

    assert_true(view->file < count);
    for (size_t e = 0; e < file->extent_count; e++) {
        const struct place_extent *extent = &file->extents[e];
        for (size_t i = extent->first; i < extent->first + extent->count; i++) {
            const struct code *code = file->codes[i];
            const uint64_t offset = extent->offset + (code->addr - extent->addr);
            if (view->offset >= offset && view->offset < offset + code->size)
                return code;
        }
    }
    return NULL;
}

static void check_slot(struct place *place, struct views *views, const struct world *world,
                       uint32_t pid, unsigned slot, uint64_t time, const struct memory *memory,
                       const struct view *seen)
{
    const struct view *expected = &memory->slots[slot];
    const enum place_found found =
        look_at(place, views, pid, slot, slot_address(world, slot), time);
    const struct code *code = seen->kind == OURS ? code_at(place, seen) : NULL;

    /* Nothing can run where a new program has nothing, so it does not matter what a reader has. */
    if (expected->kind == NOTHING && memory->execed)
        return;
    /* A program that shares memory maps all of an extent of those it shares it with. */
    if (code && !world->shares)
        assert_true(code->time >= memory->execed);
    if (expected->kind == REAL_FILE) {
        assert_int_equal(seen->kind, REAL_FILE);
        assert_int_not_equal(found, PLACE_NAMED);
    }
    if (expected->kind == OURS) {
        assert_int_equal(seen->kind, OURS);
        assert_non_null(code);
        assert_int_equal(code->name, expected->code->name);
        assert_int_equal(code->addr, expected->code->addr);
        assert_int_equal(code->size, expected->code->size);
    }
    assert_int_equal(found == PLACE_NAMED, code != NULL);
}

static void replay(struct place *place, struct world *world)
{
    static struct memory expected[PIDS + 1], seen[PIDS + 1];
    static struct views views;
    const size_t event_count = place_event_count(place);
    size_t next_event = 0, next_item = 0;

    memset(&views, 0, sizeof(views));
    memset(expected, 0, sizeof(expected));
    memset(seen, 0, sizeof(seen));
    for (uint64_t time = 1000; time < 1000 + 10 * ITEMS + 20; time++) {
        for (; next_item < ITEMS && world->items[next_item].time <= time; next_item++) {
            expect(expected, &world->items[next_item]);
            see_item(seen, world, &world->items[next_item]);
        }
        for (; next_event < event_count; next_event++) {
            const struct place_event event = place_event(place, next_event);
            if (event.time > time)
                break;
            see_event(seen, world, &event);
        }
        /* Right after a kept anonymous mapping, and only for that nanosecond, its time is not over.
         */
        if (time % 10 == 0)
            continue;
        for (uint32_t pid = 1; pid <= PIDS; pid++)
            for (unsigned slot = 0; slot < SLOTS; slot++)
                check_slot(place, &views, world, pid, slot, time, &expected[pid],
                           &seen[pid].slots[slot]);
    }
    assert_int_equal(next_event, event_count);
}

static void check_files(const struct place *place)
{
    size_t count;
    const struct place_file *files = place_files(place, &count);

    for (size_t f = 0; f < count; f++) {
        const struct place_file *file = &files[f];
        uint64_t end = 0x1000;
        size_t next = 0;
        for (size_t e = 0; e < file->extent_count; e++) {
            const struct place_extent *extent = &file->extents[e];
            assert_true(extent->offset >= end);
            assert_int_equal(extent->offset % 4096, extent->addr % 4096);
            assert_int_equal(extent->first, next);
            if (file->mirrors)
                assert_int_equal(extent->offset - extent->addr,
                                 file->extents[0].offset - file->extents[0].addr);
            end = extent->offset + extent->size;
            next += extent->count;
        }
        assert_int_equal(next, file->code_count);
        assert_true(file->end >= end);
    }
}

static void every_address_shows_what_was_put_there_last(void **state)
{
    static struct world world;

    (void)state;
    for (unsigned seed = 0; seed < 600; seed++) {
        const struct place_options options = {.same_code = same_name};
        struct place *place;

        make_world(&world, seed);
        assert_int_equal(place_new(&options, &place), 0);
        feed(place, &world);
        check_files(place);
        replay(place, &world);
        place_free(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_shows_what_was_put_there_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
