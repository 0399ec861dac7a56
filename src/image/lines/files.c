/* SPDX-License-Identifier: MIT */
#include "files.h"

#include "jitinject/array.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64
/* Readers show it as they show what they do not know. */
#define UNKNOWN_FILE "??"
/* Runtimes may have URLs for paths; those of this scheme are paths. */
#define FILE_SCHEME "file://"

struct lines_known {
    uint64_t key;
    uint32_t index;
    bool used;
};

/* Keys: of a file its directory and its name, of a directory its own name alone. */
static uint64_t file_key(uint32_t directory, uint32_t name)
{
    return (uint64_t)directory << 32 | name;
}

static uint64_t directory_key(uint32_t name)
{
    return file_key(UINT32_MAX, name);
}

static size_t slot_of(uint64_t key, size_t count)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (count - 1);
}

static bool grow(struct lines_files *files)
{
    const size_t count = files->slot_count ? 2 * files->slot_count : SLOTS_MIN;

    if (files->used < files->slot_count / 2)
        return true;
    struct lines_known *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < files->slot_count; i++) {
        size_t at = slot_of(files->slots[i].key, count);
        if (!files->slots[i].used)
            continue;
        while (slots[at].used)
            at = (at + 1) & (count - 1);
        slots[at] = files->slots[i];
    }
    free(files->slots);
    files->slots = slots;
    files->slot_count = count;
    return true;
}

/* The slot of a key: used, or free to be filled. NULL: memory is out. */
static struct lines_known *find(struct lines_files *files, uint64_t key)
{
    if (!grow(files)) {
        files->failed = true;
        return NULL;
    }
    size_t at = slot_of(key, files->slot_count);
    while (files->slots[at].used && files->slots[at].key != key)
        at = (at + 1) & (files->slot_count - 1);
    return &files->slots[at];
}

static void fill(struct lines_files *files, struct lines_known *slot, uint64_t key, size_t index)
{
    *slot = (struct lines_known){.key = key, .index = (uint32_t)index, .used = true};
    files->used++;
}

static uint32_t add_directory(struct lines_files *files, const char *path, size_t size)
{
    const uint32_t name = lines_strings_add(files->strings, path, size);
    struct lines_known *slot = find(files, directory_key(name));

    if (!slot)
        return 0;
    if (slot->used)
        return slot->index;
    if (!array_reserve(&files->directories, &files->directory_capacity,
                       files->directory_count + 1)) {
        files->failed = true;
        return 0;
    }
    files->directories[files->directory_count] = name;
    fill(files, slot, directory_key(name), files->directory_count);
    return (uint32_t)files->directory_count++;
}

static uint32_t add_file(struct lines_files *files, uint32_t directory, const char *base,
                         size_t size)
{
    const uint32_t name = lines_strings_add(files->strings, base, size);
    struct lines_known *slot = find(files, file_key(directory, name));

    if (!slot)
        return 0;
    if (slot->used)
        return slot->index;
    if (!array_reserve(&files->files, &files->file_capacity, files->file_count + 1)) {
        files->failed = true;
        return 0;
    }
    files->files[files->file_count] = (struct lines_file){.directory = directory, .name = name};
    fill(files, slot, file_key(directory, name), files->file_count);
    return (uint32_t)files->file_count++;
}

/* Directory and file; one that lies in the root, or that ends in a slash, is a file as a whole. */
static uint32_t add_path(struct lines_files *files, const char *path, size_t size)
{
    const size_t scheme = strlen(FILE_SCHEME);

    if (size > scheme && memcmp(path, FILE_SCHEME "/", scheme + 1) == 0) {
        path += scheme;
        size -= scheme;
    }
    if (files->file_count == 0)
        files->first_path = lines_strings_add(files->strings, path, size);
    const char *slash = memrchr(path, '/', size);
    if (!slash || slash == path || slash == path + size - 1)
        return add_file(files, 0, path, size);
    const uint32_t directory = add_directory(files, path, (size_t)(slash - path));
    return add_file(files, directory, slash + 1, (size_t)(path + size - (slash + 1)));
}

void lines_files_init(struct lines_files *files, struct lines_strings *strings)
{
    *files = (struct lines_files){.strings = strings};
    lines_files_clear(files);
}

void lines_files_free(struct lines_files *files)
{
    free(files->directories);
    free(files->files);
    free(files->slots);
    *files = (struct lines_files){0};
}

void lines_files_clear(struct lines_files *files)
{
    if (files->slots)
        memset(files->slots, 0, files->slot_count * sizeof(*files->slots));
    files->used = 0;
    files->file_count = 0;
    files->directory_count = 0;
    lines_files_forget(files);
    /* Which directory relative names count from is not in a dump. */
    add_directory(files, LINES_DIRECTORY, strlen(LINES_DIRECTORY));
}

void lines_files_forget(struct lines_files *files)
{
    files->last = NULL;
}

uint32_t lines_files_add_other(struct lines_files *files, const char *path, size_t size)
{
    if (size == 0) {
        path = UNKNOWN_FILE;
        size = strlen(UNKNOWN_FILE);
    }
    if (!files->last || size != files->last_size || memcmp(path, files->last, size) != 0) {
        files->last_index = add_path(files, path, size);
        files->last = path;
        files->last_size = size;
    }
    return files->last_index;
}
