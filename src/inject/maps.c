/* SPDX-License-Identifier: MIT */
#include "maps.h"

#include "find.h"

#include "jitinject/array.h"
#include "jitinject/perfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
/* ns that the time of a file may be early: the kernel takes that of its last tick. */
#define COARSE (SECOND / 100)

/* The perf map of a process. */
struct map {
    struct perfmap file;
    uint32_t pid;
    uint64_t time; /* of the program that wrote it, as place_add_snapshot takes it */
};

struct maps {
    struct map *list;
    size_t count, capacity;
};

/* The innermost pid of a process that lives (proc(5), /proc/[pid]/status), or `pid` itself. */
static uint32_t living_inner_pid(uint32_t pid)
{
    char path[32], line[256];
    uint32_t inner = pid;

    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", strlen("NSpid:")) == 0 && last)
            sscanf(last, "%u", &inner);
    }
    if (file)
        fclose(file);
    return inner;
}

/* What the process calls itself, and so its map. */
static uint32_t inner_pid(const struct recording *recording, uint32_t pid)
{
    for (size_t i = 0; i < recording->dump_count; i++)
        if (recording->dumps[i].pid == pid && recording->dumps[i].in_namespace)
            return recording->dumps[i].inner_pid;
    return find_lives(pid, recording->end_time) ? living_inner_pid(pid) : pid;
}

/* When a file was last written, on the clock of the recording; 0: nobody can tell. */
static uint64_t time_written(const struct recording *recording, const struct stat *status)
{
    const struct perfdata_wall_clock *clock = perfdata_wall_clock(recording->data);
    const uint64_t wall =
        (uint64_t)status->st_mtim.tv_sec * SECOND + (uint64_t)status->st_mtim.tv_nsec;

    if (!clock->present || status->st_mtim.tv_sec < 0)
        return 0;
    if (wall < clock->wall && clock->wall - wall >= clock->clock)
        return 1; /* before the machine began */
    return clock->clock + (wall - clock->wall);
}

/*
 * Whether a file that was last written at `written` may be the map of a process. One from before it
 * began is of another process, which had the same pid.
 */
static bool accept_time(const struct recording *recording, const struct find *find, uint32_t pid,
                        uint64_t written)
{
    const bool force = recording->options->force;
    const uint64_t begin = tasks_all_lives(&recording->tasks, pid).begin;

    if (written == 0 || begin <= written || begin - written < COARSE)
        return true;
    diag_report(
        recording->diag, force ? DIAG_NOTE : DIAG_WARNING, find->path, DIAG_NO_OFFSET,
        "was last written at least %.1f s before process %u began, so it is of an earlier one of "
        "that pid: %s",
        (double)(begin - written) / SECOND, pid,
        force ? "taken all the same" : "left out; --force takes it");
    return force;
}

/*
 * Opens the map called by `name` of a process. Where that is its inner pid, the file of that name
 * here is some other process's. 1: it is open; 0: there is none; or a negative errno.
 */
static int open_map(struct recording *recording, uint32_t pid, uint32_t name, struct map *map)
{
    char wanted[64];
    struct find find;
    bool found = false;
    int err = 0;

    snprintf(wanted, sizeof(wanted), "/tmp/perf-%u.map", name);
    find_begin(&find, recording->options, wanted, pid, recording->end_time);
    while (!found && err != -ENOMEM && find_next(&find)) {
        const uint64_t written = time_written(recording, &find.status);
        if ((name != pid && find.place == FIND_RECORDED) ||
            !accept_time(recording, &find, pid, written))
            continue;
        err = perfmap_open(find.path, recording->diag, &map->file);
        found = !err;
        /* What a copy was written for is over. */
        map->time = written == 0 || written > recording->end_time ? UINT64_MAX : written + COARSE;
    }
    find_end(&find);
    return found ? 1 : err == -ENOMEM ? err : 0;
}

static void report_map(const struct recording *recording, uint32_t pid, const struct perfmap *map)
{
    const struct perfmap_stats *stats = &map->stats;

    diag_report(recording->diag, DIAG_NOTE, map->path, DIAG_NO_OFFSET,
                "process %u: %llu entries; left out are %llu that name nothing, %llu whose "
                "addresses later ones have, and %llu lines that are no entries",
                pid, (unsigned long long)stats->entries, (unsigned long long)stats->empty,
                (unsigned long long)stats->replaced, (unsigned long long)stats->invalid);
}

static int add_map(struct recording *recording, const struct map *map)
{
    struct maps *maps = recording->maps;

    if (!array_reserve(&maps->list, &maps->capacity, maps->count + 1) ||
        inputs_add(&recording->inputs, map->file.file.device, map->file.file.inode) < 0)
        return -ENOMEM;
    maps->list[maps->count++] = *map;
    report_map(recording, map->pid, &map->file);
    return 0;
}

static int find_map(struct recording *recording, uint32_t pid)
{
    const uint32_t inner = inner_pid(recording, pid);
    struct map map = {.pid = pid};
    int got = inner != pid ? open_map(recording, pid, inner, &map) : 0;

    if (got == 0)
        got = open_map(recording, pid, pid, &map);
    if (got <= 0)
        return got;
    const int err = add_map(recording, &map);
    if (err)
        perfmap_close(&map.file);
    return err;
}

/* Maps are sources behind the dumps. */
static int use_maps(struct recording *recording)
{
    const struct maps *maps = recording->maps;
    size_t capacity = recording->dump_count + 1;
    int err = 0;

    if (maps->count > UINT16_MAX - recording->dump_count)
        return -EOVERFLOW;
    if (!array_reserve(&recording->sources, &capacity, recording->dump_count + maps->count + 1))
        return -ENOMEM;
    for (size_t i = 0; i < maps->count && !err; i++) {
        const struct map *map = &maps->list[i];
        const size_t source = recording->dump_count + i;
        recording->sources[source] = (struct image_source){
            .path = map->file.path, .fd = map->file.file.fd, .size = map->file.file.size};
        err = place_add_snapshot(recording->place, map->pid, map->time, (uint16_t)source,
                                 map->file.symbols, map->file.count);
    }
    return err;
}

/* Looks for the maps of all processes with samples. */
static int find_maps(struct recording *recording)
{
    const struct rangemap *processes = &recording->tally.processes;
    struct rangemap_at at = rangemap_find(processes, 0);
    int err = 0;

    for (const struct range *range; !err && (range = rangemap_get(processes, at));
         rangemap_next(processes, &at))
        for (uint64_t pid = range->start; pid < range->end && !err; pid++)
            err = find_map(recording, (uint32_t)pid);
    if (!err && recording->maps->count == 0)
        diag_report(recording->diag, DIAG_WARNING, perfdata_path(recording->data), DIAG_NO_OFFSET,
                    "no process with samples in it has a perf map in /tmp, beside the recording or "
                    "in a directory given by --dump-dir");
    return err;
}

int maps_read(struct recording *recording)
{
    recording->maps = calloc(1, sizeof(*recording->maps));
    if (!recording->maps)
        return -ENOMEM;
    const int err = find_maps(recording);
    return err ? err : use_maps(recording);
}

void maps_free(struct maps *maps)
{
    if (!maps)
        return;
    for (size_t i = 0; i < maps->count; i++)
        perfmap_close(&maps->list[i].file);
    free(maps->list);
    free(maps);
}
