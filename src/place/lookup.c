/* SPDX-License-Identifier: MIT */
/*
 * What readers of the output find at an address at some time. It is asked for every sample, so the
 * answer comes with the addresses and times for which it is the same.
 */
#include "lives.h"
#include "place_internal.h"

/* Finds the pieces that are mapped with a bias. */
static int make_finder(const struct place *place, struct bias *bias)
{
    const struct place_file *file = &place->files[bias->file];
    const struct place_extent *extent = &file->extents[bias->extent];
    const size_t first = file->mirrors ? 0 : extent->first;
    const size_t count = file->mirrors ? file->code_count : extent->count;

    return bias->finder ? 0 : finder_new(file->codes + first, count, &bias->finder);
}

static void within_addresses(struct place_view *view, uint64_t start, uint64_t end)
{
    if (view->start < start)
        view->start = start;
    if (view->end > end)
        view->end = end;
}

static void within_times(struct place_view *view, uint64_t since, uint64_t until)
{
    if (view->since < since)
        view->since = since;
    if (view->until > until)
        view->until = until;
}

/* Whether the map has the address, and the view is where that is the same. */
static bool is_in(const struct rangemap *map, uint64_t addr, struct place_view *view)
{
    struct rangemap_at at = rangemap_find(map, addr);
    const struct range *range = rangemap_get(map, at);

    if (range && range->start <= addr) {
        within_addresses(view, range->start, range->end);
        return true;
    }
    if (range)
        within_addresses(view, 0, range->start);
    range = rangemap_previous(map, &at);
    if (range)
        within_addresses(view, range->end, UINT64_MAX);
    return false;
}

/* Whether a process that holds no code had memory without a file there, or inherited it, and no
 * file. */
static bool is_unlogged(const struct process *process, uint64_t addr, struct place_view *view)
{
    bool anonymous = false;

    for (unsigned depth = 0; process && !anonymous && depth < ANCESTORS_MAX; depth++) {
        if (is_in(&process->past.files, addr, view))
            return false;
        anonymous = is_in(&process->past.memory, addr, view);
        process = process->parent;
    }
    return anonymous;
}

/* Where a mapping of ours has names: in its pieces. Code that replaces other code is mapped alone,
 * and needs no finder. */
static int look_into(struct place *place, const struct event *event, uint64_t addr,
                     struct place_view *view)
{
    struct bias *bias = &place->biases[event->value - MAPPED_FIRST_BIAS];

    view->found = PLACE_NAMED;
    if (event->is_piece)
        return 0;
    const int err = make_finder(place, bias);
    if (err)
        return err;
    const struct place_grid *grid = &bias->finder->grid;
    const uint64_t end = grid->start + grid->span;
    if (addr >= grid->start && addr < end) {
        within_addresses(view, grid->start, end);
        view->grid = grid;
        return 0;
    }
    view->found = PLACE_UNNAMED;
    if (addr < grid->start)
        within_addresses(view, 0, grid->start);
    else
        within_addresses(view, end, UINT64_MAX);
    return 0;
}

/* What the process, or else the one that it was forked from, had mapped there. */
static int look_up(struct place *place, struct process *process, uint64_t addr, uint64_t time,
                   struct place_view *view)
{
    bool anonymous = false;

    for (unsigned depth = 0; process && process->holds_code && depth < ANCESTORS_MAX; depth++) {
        const bool is_child = process->forked && process->fork_time <= time;
        struct history_box box;
        const struct event *change = history_find(&process->history, addr, time, &box);

        within_addresses(view, box.start, box.end);
        /* An ancestor is asked for the time of the fork. */
        if (depth == 0)
            within_times(view, box.since, box.until);
        if (depth == 0 && process->forked)
            within_times(view, is_child ? process->fork_time : 0,
                         is_child ? UINT64_MAX : process->fork_time);
        /* A fork replaces what an earlier process of the same pid had. */
        if (change && !(is_child && change->time < process->fork_time))
            return change->value == MAPPED_FILE ? 0 : look_into(place, change, addr, view);
        anonymous |= is_in(&process->past.memory, addr, view);
        if (is_child)
            time = process->fork_time;
        process = is_child ? process->parent : NULL;
    }
    if (anonymous)
        view->found = PLACE_UNNAMED;
    return 0;
}

int place_look(struct place *place, uint32_t pid, uint64_t addr, uint64_t time,
               struct place_view *view)
{
    struct process *process = process_find(place, pid);

    *view = (struct place_view){
        .pid = pid, .found = PLACE_ELSEWHERE, .end = UINT64_MAX, .until = UINT64_MAX};
    if (!process)
        return 0;
    process = lives_find(process, time, &view->since, &view->until);
    if (process->holds_code)
        return look_up(place, process, addr, time, view);
    if (is_unlogged(process, addr, view))
        view->found = PLACE_UNLOGGED;
    return 0;
}

static const struct finder *finder_of(const struct place_query *query)
{
    _Static_assert(offsetof(struct finder, grid) == 0, "a grid is the beginning of its finder");
    return (const struct finder *)query->view->grid;
}

/* Each step of all before the next, which waits for what it reads. */
void place_search(struct place_query *queries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        finder_fetch_part(finder_of(&queries[i]), queries[i].addr);
    for (size_t i = 0; i < count; i++)
        finder_fetch_range(finder_of(&queries[i]), queries[i].addr);
    for (size_t i = 0; i < count; i++)
        queries[i].named = finder_search(finder_of(&queries[i]), queries[i].addr);
}
