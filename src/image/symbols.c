/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include "jitinject/bytes.h"

#include <elf.h>

/*
 * The name of a symbol at no address that is found first. perf up to 7.0 asks an addr2line for each
 * address, and then for ",", which has to be nothing, to know where the answer ends. Since binutils
 * 2.39 addr2line takes what is no number for a name, and compares it with every symbol of the file,
 * demangled: for each address that perf asks for.
 */
#define SENTINEL "," /* with its NUL 2 bytes */

/* The null symbol and that one. */
#define FIRST_SYMBOL 2

/*
 * hotspot 1.6 searches in such a way that, depending on how many symbols there are, it misses the
 * one or two with the greatest addresses. So two more close the table. They are a section's and
 * have no name: no reader shows them or takes them for code.
 */
#define CLOSING_SYMBOLS 2

bool image_symbols_has(const struct code *code)
{
    return code->size != 0;
}

/* st_name has 32 bits. An empty name takes a NUL of its own: perf leaves symbols without out. */
static bool name_fits(uint64_t at, const struct code *code)
{
    return at + code->name_size < UINT32_MAX;
}

/* Numbers of symbols and of names that do not fit, and the size of .strtab. */
static void measure(const struct place_file *file, uint64_t *count, uint64_t *nameless,
                    uint64_t *names_size)
{
    *count = 0;
    *nameless = 0;
    *names_size = 1;
    for (size_t i = 0; i < file->code_count; i++) {
        const struct code *code = file->codes[i];
        if (!image_symbols_has(code))
            continue;
        ++*count;
        if (name_fits(*names_size, code))
            *names_size += (uint64_t)code->name_size + 1;
        else
            ++*nameless;
    }
    *names_size += sizeof(SENTINEL);
}

uint32_t image_symbols_name(uint64_t *next, const struct code *code)
{
    const uint64_t at = *next;

    if (!name_fits(at, code))
        return 0;
    *next += (uint64_t)code->name_size + 1;
    return (uint32_t)at;
}

void image_symbols_lay_out(struct image *image)
{
    const size_t entry_size = image_symbol_size(image->target);
    uint64_t count, nameless, names_size, entries;

    measure(image->file, &count, &nameless, &names_size);
    entries = FIRST_SYMBOL + count + (count ? CLOSING_SYMBOLS : 0);
    if (nameless)
        diag_report(image->diag, DIAG_WARNING, NULL, DIAG_NO_OFFSET,
                    "the names of %llu functions of process %u are left out: an ELF file holds 4 "
                    "GiB of names",
                    (unsigned long long)nameless, image->file->pid);

    image->symbols = (struct image_section){
        .name = ".symtab",
        .type = SHT_SYMTAB,
        .offset = bytes_align_up(image->end, 8),
        .size = entries * entry_size,
        .align = image->target->is_64bit ? 8 : 4,
        .entry_size = entry_size,
        .info = (uint32_t)entries, /* no global symbols: behind the last */
    };
    image->names = (struct image_section){
        .name = ".strtab",
        .type = SHT_STRTAB,
        .offset = image->symbols.offset + image->symbols.size,
        .size = names_size,
        .align = 1,
    };
    image->end = image->names.offset + image->names.size;
}

int image_add_symbols(struct image *image)
{
    image->symbols.link = (uint32_t)image->section_count + 1; /* .strtab */
    int err = image_add_section(image, &image->symbols);
    return err ?: image_add_section(image, &image->names);
}

static void encode(struct image_symbols *symbols)
{
    const struct image_target *target = symbols->image->target;
    const size_t size = symbols->waiting_count * image_symbol_size(target);

    image_encode_symbols(target, symbols->waiting, symbols->waiting_count,
                         image_stream_take(&symbols->table, size));
    symbols->waiting_count = 0;
}

static void put(struct image_symbols *symbols, const Elf64_Sym *symbol)
{
    symbols->waiting[symbols->waiting_count++] = *symbol;
    if (symbols->waiting_count == IMAGE_SYMBOLS_AT_ONCE)
        encode(symbols);
}

/* The symbols before those of code. The name of the sentinel is the last one. */
static int add_first(struct image_symbols *symbols)
{
    struct image *image = symbols->image;
    const uint64_t name = image->names.size - sizeof(SENTINEL);
    const Elf64_Sym first[FIRST_SYMBOL] = {
        [1] = {.st_name = (uint32_t)name, .st_shndx = SHN_ABS},
    };

    for (size_t i = 0; i < FIRST_SYMBOL; i++)
        put(symbols, &first[i]);
    return image_output_write(&image->output, SENTINEL, sizeof(SENTINEL),
                              image->names.offset + name);
}

int image_symbols_open(struct image_symbols *symbols, struct image *image, uint8_t *buffer)
{
    *symbols = (struct image_symbols){.image = image, .next_name = 1};
    int err = image_stream_open(&symbols->table, &image->output, image->symbols.offset, buffer,
                                IMAGE_SYMBOLS_BUFFER);

    return err ?: add_first(symbols);
}

void image_symbols_close(struct image_symbols *symbols)
{
    image_stream_close(&symbols->table);
}

bool image_symbols_add(struct image_symbols *symbols, const struct code *code, uint64_t value,
                       uint16_t section)
{
    const uint32_t name = image_symbols_name(&symbols->next_name, code);
    const Elf64_Sym symbol = {
        .st_name = name,
        .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
        .st_shndx = section,
        .st_value = value,
        .st_size = code->size,
    };

    put(symbols, &symbol);
    symbols->section = section;
    symbols->end = value + code->size;
    symbols->image->stats->symbols++;
    return name != 0;
}

/* At the end of the last function, and at the end of its section, which is not the same address. */
static void close_table(struct image_symbols *symbols)
{
    const struct image_section *text = &symbols->image->sections[symbols->section];
    Elf64_Sym closing = {
        .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
        .st_shndx = symbols->section,
        .st_value = symbols->end,
    };

    put(symbols, &closing);
    closing.st_value = text->offset + text->size;
    put(symbols, &closing);
}

int image_symbols_finish(struct image_symbols *symbols)
{
    if (symbols->section != SHN_UNDEF)
        close_table(symbols);
    encode(symbols);
    return image_stream_flush(&symbols->table);
}
