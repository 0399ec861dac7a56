/* SPDX-License-Identifier: MIT */
#include "files.h"

#include "jitinject/array.h"

#include <stdlib.h>
#include <string.h>

/* Readers show it as they show what they do not know. */
#define UNKNOWN_FILE "??"
/* Runtimes may have URLs for paths; those of this scheme are paths. */
#define FILE_SCHEME "file://"

/* In place of the directory of a file: the name is that of a directory. */
#define NO_DIRECTORY UINT32_MAX

static const uint64_t *find(const struct lines_files *files, uint32_t directory, uint32_t name)
{
    return hashmap_find(&files->numbers, name, directory);
}

static void remember(struct lines_files *files, uint32_t directory, uint32_t name, size_t number)
{
    files->failed |= hashmap_put(&files->numbers, name, directory, number) < 0;
}

static uint32_t add_directory(struct lines_files *files, const char *path, size_t size)
{
    const uint32_t name = lines_strings_add(files->strings, path, size);
    const uint64_t *known = find(files, NO_DIRECTORY, name);

    if (known)
        return (uint32_t)*known;
    if (!array_reserve(&files->directories, &files->directory_capacity,
                       files->directory_count + 1)) {
        files->failed = true;
        return 0;
    }
    files->directories[files->directory_count] = name;
    remember(files, NO_DIRECTORY, name, files->directory_count);
    return (uint32_t)files->directory_count++;
}

static uint32_t add_file(struct lines_files *files, uint32_t directory, const char *base,
                         size_t size)
{
    const uint32_t name = lines_strings_add(files->strings, base, size);
    const uint64_t *known = find(files, directory, name);

    if (known)
        return (uint32_t)*known;
    if (!array_reserve(&files->files, &files->file_capacity, files->file_count + 1)) {
        files->failed = true;
        return 0;
    }
    files->files[files->file_count] = (struct lines_file){.directory = directory, .name = name};
    remember(files, directory, name, files->file_count);
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
    hashmap_clear(&files->numbers);
    *files = (struct lines_files){0};
}

void lines_files_clear(struct lines_files *files)
{
    hashmap_empty(&files->numbers);
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
