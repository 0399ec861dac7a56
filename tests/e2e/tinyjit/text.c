/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "jit.h"

#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

struct search {
    uint64_t base; /* where the object is */
    struct text *text;
    uint64_t vaddr;
};

static int find_text(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    if (info->dlpi_addr != search->base)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

        if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X) {
            search->vaddr = phdr->p_vaddr & ~(PAGE - 1);
            search->text->offset = phdr->p_offset & ~(PAGE - 1);
            search->text->size = phdr->p_filesz + phdr->p_vaddr % PAGE;
        }
    }
    return 1;
}

void text_open(struct text *text, const char *path)
{
    struct link_map *object = path ? dlopen(path, RTLD_NOW) : NULL;
    const void *function = object ? dlsym(object, "overlay_burn") : NULL;
    struct search search = {.text = text};

    text->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (text->fd < 0 || !function)
        errx(1, "a shared object with overlay_burn is needed");
    search.base = object->l_addr;
    dl_iterate_phdr(find_text, &search);
    text->function = (uintptr_t)function - search.base - search.vaddr;
}

void text_map(const struct text *text, uint8_t *at)
{
    jit_map(at, text->size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, text->fd,
            (off_t)text->offset);
}
