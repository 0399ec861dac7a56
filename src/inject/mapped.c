/* SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* FNV-1a, 64 bits */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *name, size_t size, const char *suffix)
{
    const size_t suffix_size = strlen(suffix);

    return size >= suffix_size && memcmp(name + size - suffix_size, suffix, suffix_size) == 0;
}

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/*
 * jit-<pid>.dump by the specification, and jit-<tid>-<pid>.dump in JavaScriptCore; whose it is says
 * its header.
 */
size_t mapped_dump_path(const char *name)
{
    static const char deleted[] = " (deleted)";
    const char *base = base_of(name);
    size_t size = strlen(base);

    if (ends_with(base, size, deleted))
        size -= strlen(deleted);
    if (!starts_with(base, "jit-") || size < strlen("jit-0.dump") ||
        !ends_with(base, size, ".dump"))
        return 0;
    return (size_t)(base - name) + size;
}

/* jit-<pid>-jitted-<k>.so is ours, jitted-<pid>-<index>.so is of perf inject. */
bool mapped_is_image(const char *name)
{
    const char *base = base_of(name);

    return (starts_with(base, "jit-") || starts_with(base, "jitted-")) && strstr(base, "jitted-") &&
           ends_with(base, strlen(base), ".so");
}

/*
 * Names that the kernel gives to memory without a file of its own, and files that JITs map twice to
 * have their code writable in one place and executable in another.
 */
static bool is_anonymous(const char *name)
{
    static const char *const prefixes[] = {
        "//anon", "[anon:",      "/memfd:", "/dev/zero", "/anon_hugepage", "/dev/shm/",
        "/SYSV",  "anon_inode:", "/[aio]",  "[heap]",    "[stack",
    };

    if (*name == '\0')
        return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return false;
}

enum place_mapping_kind mapped_kind(const struct perfdata_mapping *mapping, uint32_t type)
{
    if (is_anonymous(mapping->filename))
        return PLACE_ANONYMOUS;
    if (type == PERFDATA_MMAP2 ? !(mapping->prot & PROT_EXEC) : mapping->is_data)
        return PLACE_DATA;
    return PLACE_FILE;
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = HASH_BEGIN;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * HASH_PRIME;
    return hash;
}

/* Memory that processes may share has an inode though no file; the hash is of where it begins, too.
 */
static uint64_t hash_memory(const struct perfdata_mapping *mapping)
{
    const uint64_t parts[] = {makedev(mapping->major, mapping->minor), mapping->inode,
                              mapping->addr - mapping->pgoff};
    uint64_t hash = HASH_BEGIN;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (unsigned bit = 0; bit < 64; bit += 8)
            hash = (hash ^ (parts[i] >> bit & 0xff)) * HASH_PRIME;
    return hash;
}

uint64_t mapped_file(const struct perfdata_mapping *mapping, enum place_mapping_kind kind)
{
    if (kind != PLACE_ANONYMOUS)
        return hash_name(mapping->filename) | 1;
    return mapping->flags & MAP_SHARED && mapping->inode ? hash_memory(mapping) | 1 : 0;
}
