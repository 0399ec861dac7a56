/* SPDX-License-Identifier: MIT */
/* The directories and files of a compile unit, each once. */
#ifndef JITINJECT_LINES_FILES_H
#define JITINJECT_LINES_FILES_H

#include "jitinject/hashmap.h"
#include "strings.h"

#include <stddef.h>
#include <stdint.h>

/* DW_AT_comp_dir. Unknown; elfutils takes an empty one for the root. */
#define LINES_DIRECTORY "."

struct lines_file {
    uint32_t directory; /* index */
    uint32_t name;      /* in .debug_line_str */
};

struct lines_files {
    struct lines_strings *strings;
    uint32_t *directories; /* in .debug_line_str; [0] is that of the compilation */
    struct lines_file *files;
    size_t directory_count, directory_capacity, file_count, file_capacity;
    uint32_t first_path;    /* of the first file, in .debug_line_str */
    struct hashmap numbers; /* of directories and files, by name and directory */
    const char *last;       /* the text of the last look-up */
    size_t last_size;
    uint32_t last_index;
    bool failed; /* memory was out */
};

void lines_files_init(struct lines_files *files, struct lines_strings *strings);
void lines_files_free(struct lines_files *files);
/* Makes it that of a new unit. */
void lines_files_clear(struct lines_files *files);

/* As lines_files_add, for another text than that of the last look-up. */
uint32_t lines_files_add_other(struct lines_files *files, const char *path, size_t size);

/*
 * The index of a file; an empty path is the file "??". The text has to stay until
 * lines_files_forget.
 */
static inline uint32_t lines_files_add(struct lines_files *files, const char *path, size_t size)
{
    return path && path == files->last && size == files->last_size
               ? files->last_index
               : lines_files_add_other(files, path, size);
}

void lines_files_forget(struct lines_files *files);

#endif /* JITINJECT_LINES_FILES_H */
