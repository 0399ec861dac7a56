/* SPDX-License-Identifier: MIT */
/* What image_write writes, read back with libelf and judged by elfutils and binutils. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASE   0x7f1200000000ull
#define OFFSET 0x10000ull

/* Bytes that tell pieces and positions apart. */
static uint8_t *pattern(size_t size, unsigned seed)
{
    uint8_t *bytes = malloc(size ? size : 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    return bytes;
}

static void assert_bytes(const struct fixture *fixture, uint64_t offset, const void *expected,
                         size_t size)
{
    uint8_t *bytes = fixture_bytes(fixture, offset, size);

    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void assert_zeros(const struct fixture *fixture, uint64_t offset, size_t size)
{
    uint8_t *zeros = calloc(1, size);

    assert_non_null(zeros);
    assert_bytes(fixture, offset, zeros, size);
    free(zeros);
}

/* The symbols before those of pieces. */
#define FIRST_SYMBOLS 2

/* Of piece `number`, from 1 on. */
static void assert_symbol(const struct fixture *fixture, size_t number, const char *name,
                          uint64_t value, uint64_t size, size_t section)
{
    const char *found;
    const GElf_Sym symbol = fixture_symbol(fixture, FIRST_SYMBOLS + number - 1, &found);

    assert_string_equal(found, name);
    assert_int_equal(symbol.st_value, value);
    assert_int_equal(symbol.st_size, size);
    assert_int_equal(symbol.st_shndx, section);
    assert_int_equal(GELF_ST_TYPE(symbol.st_info), STT_FUNC);
    assert_int_equal(GELF_ST_BIND(symbol.st_info), STB_LOCAL);
}

/* What stands behind the last function: a reader may pass over it, and none shows it. */
static void assert_closing_symbols(const struct fixture *fixture, size_t number, uint64_t first,
                                   uint64_t second, size_t section)
{
    const uint64_t values[] = {first, second};

    for (size_t i = 0; i < 2; i++) {
        const GElf_Sym symbol =
            fixture_symbol(fixture, FIRST_SYMBOLS + number - 1 + i, &(const char *){NULL});
        assert_int_equal(symbol.st_name, 0);
        assert_int_equal(symbol.st_value, values[i]);
        assert_int_equal(symbol.st_size, 0);
        assert_int_equal(symbol.st_shndx, section);
        assert_int_equal(GELF_ST_TYPE(symbol.st_info), STT_SECTION);
        assert_int_equal(GELF_ST_BIND(symbol.st_info), STB_LOCAL);
    }
}

/* Two extents, four pieces of two dumps. */
static void add_example(struct fixture *fixture)
{
    fixture_add_extent(fixture, BASE + 0x100, 0x300, OFFSET + 0x100);
    fixture_add(fixture, BASE + 0x100, "first", "\x55\x48\x89\xe5\x5d\xc3", 6);
    fixture_place(fixture, fixture_load(fixture, 1, BASE + 0x120, "of another dump", "\xc3", 1));
    fixture_add(fixture, BASE + 0x3ff, "last byte", "\x90", 1);
    fixture_add_extent(fixture, BASE + 0x8000, 0x20, OFFSET + 0x8000);
    fixture_add(fixture, BASE + 0x8010, "second extent", "\x0f\x0b\x0f\x0b", 4);
}

static void test_sections_symbols_and_code(void **state)
{
    struct fixture *fixture = *state;
    size_t texts[2];

    add_example(fixture);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture->reports, 0);

    assert_int_equal(fixture_count_sections(fixture, ".text"), 2);
    const GElf_Shdr first = fixture_section(fixture, ".text", 0, &texts[0]);
    const GElf_Shdr second = fixture_section(fixture, ".text", 1, &texts[1]);
    assert_int_equal(first.sh_type, SHT_PROGBITS);
    assert_int_equal(first.sh_flags, SHF_ALLOC | SHF_EXECINSTR);
    assert_int_equal(first.sh_addr, OFFSET + 0x100);
    assert_int_equal(first.sh_offset, OFFSET + 0x100);
    assert_int_equal(first.sh_size, 0x300);
    assert_int_equal(second.sh_addr, OFFSET + 0x8000);
    assert_int_equal(second.sh_offset, OFFSET + 0x8000);
    assert_int_equal(second.sh_size, 0x21); /* a byte behind the code */

    const GElf_Shdr symtab = fixture_section(fixture, ".symtab", 0, NULL);
    assert_int_equal(symtab.sh_size, (FIRST_SYMBOLS + 4 + 2) * sizeof(Elf64_Sym));
    assert_int_equal(symtab.sh_info, FIRST_SYMBOLS + 4 + 2);
    assert_symbol(fixture, 1, "first", OFFSET + 0x100, 6, texts[0]);
    assert_symbol(fixture, 2, "of another dump", OFFSET + 0x120, 1, texts[0]);
    assert_symbol(fixture, 3, "last byte", OFFSET + 0x3ff, 1, texts[0]);
    assert_symbol(fixture, 4, "second extent", OFFSET + 0x8010, 4, texts[1]);
    assert_closing_symbols(fixture, 5, OFFSET + 0x8014, OFFSET + 0x8021, texts[1]);

    assert_bytes(fixture, OFFSET + 0x100, "\x55\x48\x89\xe5\x5d\xc3", 6);
    assert_zeros(fixture, OFFSET + 0x106, 0x1a);
    assert_bytes(fixture, OFFSET + 0x120, "\xc3", 1);
    assert_zeros(fixture, OFFSET + 0x121, 0x2de);
    assert_bytes(fixture, OFFSET + 0x3ff, "\x90", 1);
    assert_bytes(fixture, OFFSET + 0x8010, "\x0f\x0b\x0f\x0b", 4);

    struct stat status;
    assert_int_equal(fstat(fixture->fd, &status), 0);
    assert_int_equal(fixture->stats.symbols, 4);
    assert_int_equal(fixture->stats.code_bytes, 12);
    assert_int_equal(fixture->stats.file_size, status.st_size);
    fixture_check(fixture);
}

static void test_program_headers(void **state)
{
    struct fixture *fixture = *state;
    GElf_Phdr load, note;

    add_example(fixture);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_non_null(gelf_getphdr(fixture->elf, 0, &load));
    assert_int_equal(load.p_type, PT_LOAD);
    assert_int_equal(load.p_flags, PF_R | PF_X);
    assert_int_equal(load.p_offset, 0);
    assert_int_equal(load.p_vaddr, 0);
    assert_int_equal(load.p_align, 0x1000);
    assert_int_equal(load.p_filesz, OFFSET + 0x9000);
    assert_int_equal(load.p_memsz, OFFSET + 0x9000);

    assert_non_null(gelf_getphdr(fixture->elf, 1, &note));
    const GElf_Shdr section = fixture_section(fixture, ".note.gnu.build-id", 0, NULL);
    assert_int_equal(note.p_type, PT_NOTE);
    assert_int_equal(note.p_offset, section.sh_offset);
    assert_int_equal(note.p_vaddr, section.sh_offset);
    assert_int_equal(note.p_filesz, section.sh_size);
    assert_true(section.sh_offset + section.sh_size <= PLACE_TEXT_OFFSET);
}

/* perf keeps a symbol without a name only if st_name is not 0. */
static void test_odd_pieces(void **state)
{
    struct fixture *fixture = *state;
    const char *name;

    fixture_add_extent(fixture, BASE, 0x1000, OFFSET);
    fixture_add(fixture, BASE, "", "\xc3", 1);
    fixture_add(fixture, BASE + 0x10, "of no size", NULL, 0);
    fixture_add(fixture, BASE + 0x20, "without bytes", "\x11\x22", 2)->flags |= CODE_NO_BYTES;
    fixture_add(fixture, BASE + 0x30, "JS:*a \"b\"\n\xff\xc2\x80 (", "\x33", 1);
    fixture_add(fixture, BASE + 0xfff, "end", "\x44", 1);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);

    assert_int_equal(fixture->stats.symbols, 4);
    assert_int_equal(fixture->stats.code_bytes, 3);
    assert_symbol(fixture, 1, "", OFFSET, 1, 2);
    assert_int_not_equal(fixture_symbol(fixture, FIRST_SYMBOLS, &name).st_name, 0);
    assert_symbol(fixture, 2, "without bytes", OFFSET + 0x20, 2, 2);
    assert_symbol(fixture, 3, "JS:*a \"b\"\n\xff\xc2\x80 (", OFFSET + 0x30, 1, 2);
    assert_symbol(fixture, 4, "end", OFFSET + 0xfff, 1, 2);
    assert_closing_symbols(fixture, 5, OFFSET + 0x1000, OFFSET + 0x1000, 2);
    assert_zeros(fixture, OFFSET + 1, 0x2f);
    assert_bytes(fixture, OFFSET + 0x30, "\x33", 1);
    fixture_check(fixture);
}

/* What an addr2line that is asked for "," finds at once, and takes for nothing. */
static void test_sentinel(void **state)
{
    struct fixture *fixture = *state;
    const char *name;

    add_example(fixture);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    const GElf_Sym symbol = fixture_symbol(fixture, 1, &name);
    assert_string_equal(name, ",");
    assert_int_equal(symbol.st_value, 0);
    assert_int_equal(symbol.st_size, 0);
    assert_int_equal(symbol.st_shndx, SHN_ABS);
    assert_int_equal(GELF_ST_TYPE(symbol.st_info), STT_NOTYPE);
    assert_int_equal(GELF_ST_BIND(symbol.st_info), STB_LOCAL);
}

static void test_no_pieces_at_all(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture_section(fixture, ".symtab", 0, NULL).sh_size,
                     FIRST_SYMBOLS * sizeof(Elf64_Sym));
    assert_int_equal(fixture_count_sections(fixture, ".text"), 0);
}

static void test_every_target(void **state)
{
    struct fixture *fixture = *state;
    static const struct image_target targets[] = {
        {EM_X86_64, true, false}, {EM_386, false, false},  {EM_AARCH64, true, false},
        {EM_S390, true, true},    {EM_ARM, false, false},  {EM_PPC64, true, true},
        {EM_PPC, false, true},    {EM_RISCV, true, false},
    };

    add_example(fixture);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        GElf_Ehdr header;
        assert_int_equal(fixture_write(fixture, &targets[i]), 0);
        assert_non_null(gelf_getehdr(fixture->elf, &header));
        assert_int_equal(header.e_type, ET_DYN);
        assert_int_equal(header.e_machine, targets[i].machine);
        assert_int_equal(header.e_ident[EI_CLASS], targets[i].is_64bit ? ELFCLASS64 : ELFCLASS32);
        assert_int_equal(header.e_ident[EI_DATA],
                         targets[i].is_big_endian ? ELFDATA2MSB : ELFDATA2LSB);
        assert_symbol(fixture, 1, "first", OFFSET + 0x100, 6, 2);
        assert_symbol(fixture, 4, "second extent", OFFSET + 0x8010, 4, 3);
        assert_bytes(fixture, OFFSET + 0x100, "\x55\x48\x89\xe5\x5d\xc3", 6);
        fixture_check(fixture);
    }
}

static void test_disassembly(void **state)
{
    struct fixture *fixture = *state;

    add_example(fixture);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    char *text = fixture_run(
        fixture, "objdump -d --no-show-raw-insn --start-address=0x10100 --stop-address=0x10106 %s");
    assert_non_null(strstr(text, "0000000000010100 <first>:"));
    assert_non_null(strstr(text, "push   %rbp"));
    assert_non_null(strstr(text, "mov    %rsp,%rbp"));
    assert_non_null(strstr(text, "ret"));
    free(text);
    text = fixture_run(fixture, "objdump -d %s");
    assert_non_null(strstr(text, "<second extent>:"));
    free(text);
}

/* Gaps stay holes, at offsets beyond 32 bits too. */
static void test_holes(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t far = 5ull << 30;
    struct stat status;

    fixture_add_extent(fixture, BASE, 0x100000, OFFSET);
    fixture_add(fixture, BASE, "near", "\x11\x22", 2);
    fixture_add(fixture, BASE + 0xffffe, "a megabyte on", "\x33\x44", 2);
    fixture_add_extent(fixture, BASE + far, 0x10, OFFSET + far);
    fixture_add(fixture, BASE + far, "far", "\x55\x66", 2);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);

    assert_bytes(fixture, OFFSET, "\x11\x22", 2);
    assert_bytes(fixture, OFFSET + 0xffffe, "\x33\x44", 2);
    assert_bytes(fixture, OFFSET + far, "\x55\x66", 2);
    assert_zeros(fixture, OFFSET + 2, 0xffffc);
    assert_symbol(fixture, 3, "far", OFFSET + far, 2, 3);
    assert_int_equal(fstat(fixture->fd, &status), 0);
    assert_true(status.st_size > (off_t)far);
    assert_true(status.st_blocks * 512 < 64 << 10);
    assert_true(fixture->stats.bytes_written < 4096);
    const off_t hole = lseek(fixture->fd, OFFSET, SEEK_HOLE);
    assert_true(hole > (off_t)OFFSET && hole <= (off_t)OFFSET + 0x10000);
    fixture_check(fixture);
}

static void test_32_bits_end_at_4_gib(void **state)
{
    struct fixture *fixture = *state;
    const struct image_target i386 = {.machine = EM_386};

    fixture_add_extent(fixture, 0x1000, 0x10, OFFSET);
    fixture_add(fixture, 0x1000, "low", "\xc3", 1);
    fixture_add_extent(fixture, 0xffffe000, 0x10, 0xffffe000);
    fixture_add(fixture, 0xffffe000, "high", "\xc3", 1);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture_write(fixture, &i386), 0);
    fixture->extents[1].offset = 0x100000000;
    assert_int_equal(fixture_write(fixture, &i386), -EFBIG);
    assert_int_equal(fixture->reports, 1);
    assert_int_equal(fixture->severity, DIAG_ERROR);
    assert_int_equal(fixture->stats.bytes_written, 0);
}

static void rewrite(struct fixture *fixture, uint64_t offset, char byte)
{
    const int fd = open(fixture->dump_paths[0], O_WRONLY);

    assert_int_equal(fflush(fixture->dump_files[0]), 0);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

static void test_build_id(void **state)
{
    struct fixture *fixture = *state;
    uint8_t ids[6][IMAGE_BUILD_ID_SIZE];
    size_t n = 0;

    add_example(fixture);
    const struct code *code = fixture->codes[0];
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    const size_t size = (size_t)fixture->stats.file_size;
    uint8_t *whole = fixture_bytes(fixture, 0, size);

    const GElf_Shdr note = fixture_section(fixture, ".note.gnu.build-id", 0, NULL);
    assert_int_equal(note.sh_type, SHT_NOTE);
    assert_int_equal(note.sh_size, 36);
    assert_bytes(fixture, note.sh_offset, "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
    assert_bytes(fixture, note.sh_offset + 16, fixture->build_id, IMAGE_BUILD_ID_SIZE);
    assert_memory_not_equal(fixture->build_id + 16, "\0\0\0\0", 4);

    /* The same again. */
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture->stats.file_size, size);
    assert_bytes(fixture, 0, whole, size);
    free(whole);

    /* A byte of code, a byte of a name, an address, a size, a machine. */
    rewrite(fixture, code->name + code->code_delta, '\x56');
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    rewrite(fixture, code->name + code->code_delta, '\x55');
    rewrite(fixture, code->name + 4, 'T');
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    rewrite(fixture, code->name + 4, 't');
    fixture->codes[3]->addr++;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    fixture->codes[3]->addr--;
    fixture->extents[1].size++;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    fixture->extents[1].size--;
    const struct image_target aarch64 = {.machine = EM_AARCH64, .is_64bit = true};
    assert_int_equal(fixture_write(fixture, &aarch64), 0);
    memcpy(ids[n++], fixture->build_id, IMAGE_BUILD_ID_SIZE);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(ids[i], ids[k], IMAGE_BUILD_ID_SIZE);

    /* All changes undone: the first one again. */
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_memory_equal(fixture->build_id, ids[0], IMAGE_BUILD_ID_SIZE);
}

/* The dump in another order than the image, and more of it than the buffers hold at a time. */
static void test_many_pieces_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    const size_t count = 80000, size = 150;
    struct code **codes = calloc(count, sizeof(*codes));
    uint64_t order = 1;

    assert_non_null(codes);
    fixture_add_extent(fixture, BASE, count * 160, OFFSET);
    for (size_t i = 0; i < count; i++) {
        /* A step that is prime to the count comes by every place once. */
        const size_t place = (size_t)(order = (order + 34567) % count);
        uint8_t *bytes = pattern(size, (unsigned)place);
        char name[64];
        snprintf(name, sizeof(name), "function %zu", place);
        assert_null(codes[place]);
        codes[place] =
            fixture_load(fixture, (uint16_t)(i % 2), BASE + place * 160, name, bytes, size);
        free(bytes);
    }
    for (size_t i = 0; i < count; i++)
        fixture_place(fixture, codes[i]);
    free(codes);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);

    uint8_t *text = fixture_bytes(fixture, OFFSET, count * 160);
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = pattern(size, (unsigned)i);
        char name[64];
        snprintf(name, sizeof(name), "function %zu", i);
        assert_symbol(fixture, i + 1, name, OFFSET + i * 160, size, 2);
        assert_memory_equal(text + i * 160, bytes, size);
        if (i + 1 < count)
            assert_memory_equal(text + i * 160 + size, "\0\0\0\0\0\0\0\0\0\0", 10);
        free(bytes);
    }
    free(text);
}

static void test_large_code_and_names(void **state)
{
    struct fixture *fixture = *state;
    const size_t code_size = 21000001, name_size = 5000000;
    uint8_t *bytes = pattern(code_size, 3);
    char *name = malloc(name_size + 1);

    assert_non_null(name);
    for (size_t i = 0; i < name_size; i++)
        name[i] = (char)('a' + i % 23);
    name[name_size] = '\0';
    fixture_add_extent(fixture, BASE, 0x2000000, OFFSET);
    fixture_add(fixture, BASE, "before", "\x11", 1);
    fixture_add(fixture, BASE + 0x10, name, bytes, code_size);
    fixture_add(fixture, BASE + 0x1fffff0, "after", "\x22", 1);
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_symbol(fixture, 1, "before", OFFSET, 1, 2);
    assert_symbol(fixture, 2, name, OFFSET + 0x10, code_size, 2);
    assert_symbol(fixture, 3, "after", OFFSET + 0x1fffff0, 1, 2);
    assert_bytes(fixture, OFFSET + 0x10, bytes, code_size);
    assert_zeros(fixture, OFFSET + 0x10 + code_size, 0x1fffff0 - 0x10 - code_size);
    assert_bytes(fixture, OFFSET + 0x1fffff0, "\x22", 1);
    free(name);
    free(bytes);
}

/* More extents than an ELF file has sections: they share, and stay apart where gaps are large. */
static void test_many_extents(void **state)
{
    struct fixture *fixture = *state;
    const size_t count = 40000;
    struct stat status;

    for (size_t i = 0; i < count; i++) {
        const uint64_t at = i * 0x3000 + i / 100 * 0x100000;
        const uint8_t bytes[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        char name[32];
        snprintf(name, sizeof(name), "extent %zu", i);
        fixture_add_extent(fixture, BASE + at, 0x20, OFFSET + at);
        fixture_add(fixture, BASE + at + 0x10, name, bytes, 2);
    }
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);

    /* 400 groups of 100 with small gaps. */
    const size_t sections = fixture_count_sections(fixture, ".text");
    assert_int_equal(sections, 400);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = i * 0x3000 + i / 100 * 0x100000;
        const uint8_t bytes[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        char name[32];
        snprintf(name, sizeof(name), "extent %zu", i);
        assert_symbol(fixture, i + 1, name, OFFSET + at + 0x10, 2, 2 + i / 100);
        assert_bytes(fixture, OFFSET + at + 0x10, bytes, 2);
    }
    assert_int_equal(fstat(fixture->fd, &status), 0);
    assert_true(status.st_blocks * 512 < status.st_size / 2);
    fixture_check(fixture);
}

static void assert_dump_error(const struct fixture *fixture, uint64_t offset)
{
    assert_int_equal(fixture->reports, 1);
    assert_int_equal(fixture->severity, DIAG_ERROR);
    assert_string_equal(fixture->report_path, fixture->dump_paths[0]);
    assert_int_equal(fixture->report_offset, offset);
}

static void test_piece_beyond_the_dump(void **state)
{
    struct fixture *fixture = *state;

    add_example(fixture);
    struct code *code = fixture->codes[0];
    const struct code whole = *code;

    code->name = 1 << 20;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), -EIO);
    assert_dump_error(fixture, 1 << 20);
    code->name = UINT64_MAX - 3;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), -EIO);
    assert_dump_error(fixture, UINT64_MAX - 3);
    *code = whole;
    code->code_delta = UINT32_MAX;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), -EIO);
    assert_dump_error(fixture, code->name + UINT32_MAX);
    *code = whole;
    code->name_size = UINT32_MAX / 2;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), -EIO);
    *code = whole;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
}

/* The size was right when the dump was opened. */
static void test_dump_cut_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    const struct place_extent extent = {.addr = BASE, .size = 0x100, .offset = OFFSET, .count = 1};
    uint8_t bytes[0x100] = {1};

    fixture_add_extent(fixture, extent.addr, extent.size, extent.offset);
    fixture_add(fixture, BASE, "cut", bytes, sizeof(bytes));
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    const struct code *code = fixture->codes[0];
    const uint64_t cut = code->name + code->code_delta + 0x80;
    assert_int_equal(truncate(fixture->dump_paths[0], (off_t)cut), 0);

    const struct place_file file = {.codes = fixture->codes,
                                    .code_count = 1,
                                    .extents = fixture->extents,
                                    .extent_count = 1,
                                    .end = OFFSET + 0x100};
    assert_int_equal(image_write(&file, fixture->sources, &fixture_x86_64, &fixture->options,
                                 fixture->fd, &fixture->diag, fixture->build_id, &fixture->stats),
                     -EIO);
    assert_dump_error(fixture, cut);
}

static void test_full_disk(void **state)
{
    struct fixture *fixture = *state;
    const struct place_file file = {.end = OFFSET};
    const int fd = open("/dev/full", O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    assert_int_equal(image_write(&file, fixture->sources, &fixture_x86_64, &fixture->options, fd,
                                 &fixture->diag, fixture->build_id, &fixture->stats),
                     -ENOSPC);
    /* The caller knows the name of the file. */
    assert_int_equal(fixture->reports, 0);
    close(fd);
}

/* Class, machine and flags as readelf and the ABI supplements of the machines have them. */
static void test_machines(void **state)
{
    static const struct {
        uint32_t machine; /* of the dump */
        const char *arch;
        bool is_big_endian;
        uint16_t found;
        bool is_64bit;
        uint32_t flags;
    } cases[] = {
        {EM_X86_64, "x86_64", false, EM_X86_64, true, 0},
        {EM_X86_64, NULL, false, EM_X86_64, true, 0},
        {EM_386, "x86_64", false, EM_386, false, 0},
        {EM_NONE, "x86_64", false, EM_X86_64, true, 0},
        {EM_NONE, "i686", false, EM_386, false, 0},
        {EM_NONE, "i386", false, EM_386, false, 0},
        {EM_NONE, "aarch64", false, EM_AARCH64, true, 0},
        {EM_ARM, "aarch64", false, EM_ARM, false, 0x05000000},
        {EM_NONE, "armv7l", false, EM_ARM, false, 0x05000000},
        {EM_NONE, "armv7b", true, EM_ARM, false, 0x05800000},
        {EM_NONE, "s390x", true, EM_S390, true, 0},
        {EM_S390, "s390", true, EM_S390, false, 0},
        {EM_S390, NULL, true, EM_S390, true, 0},
        {EM_NONE, "ppc64", true, EM_PPC64, true, 0},
        {EM_NONE, "ppc64le", false, EM_PPC64, true, 2},
        {EM_PPC, "ppc64", true, EM_PPC, false, 0},
        {EM_NONE, "riscv64", false, EM_RISCV, true, 5},
        {EM_NONE, "riscv32", false, EM_RISCV, false, 5},
        {EM_NONE, "loongarch64", false, EM_LOONGARCH, true, 0x43},
        {EM_MIPS, "mips", true, EM_MIPS, false, 0x70001000},
        {EM_MIPS, "mips64", true, EM_MIPS, true, 0x80000000},
        {EM_MIPS, "x86_64", false, EM_MIPS, true, 0x80000000},
        {EM_NONE, "sparc64", true, EM_SPARCV9, true, 0},
        {EM_SPARC, "sparc64", true, EM_SPARC, false, 0},
        {EM_NONE, "pdp11", false, EM_NONE, true, 0},
        {EM_NONE, "", false, EM_NONE, true, 0},
        {EM_NONE, NULL, true, EM_NONE, true, 0},
        {0x10000 + EM_386, "x86_64", false, EM_X86_64, true, 0},
        {EM_68K, "x86_64", true, EM_68K, true, 0},
    };
    struct fixture *fixture = *state;

    add_example(fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct image_target target =
            image_target_of(cases[i].machine, cases[i].arch, cases[i].is_big_endian);
        GElf_Ehdr header;
        assert_int_equal(target.machine, cases[i].found);
        assert_int_equal(target.is_64bit, cases[i].is_64bit);
        assert_int_equal(target.is_big_endian, cases[i].is_big_endian);
        assert_int_equal(fixture_write(fixture, &target), 0);
        assert_non_null(gelf_getehdr(fixture->elf, &header));
        assert_int_equal(header.e_flags, cases[i].flags);
    }
}

static void test_what_runs_where(void **state)
{
    static const struct {
        uint32_t machine;
        const char *arch;
        bool runs;
    } cases[] = {
        {EM_X86_64, "x86_64", true},   {EM_386, "x86_64", true},      {EM_X86_64, "i686", true},
        {EM_AARCH64, "x86_64", false}, {EM_X86_64, "aarch64", false}, {EM_ARM, "aarch64", true},
        {EM_ARM, "armv7l", true},      {EM_386, "armv7l", false},     {EM_PPC, "ppc64le", true},
        {EM_S390, "s390", true},       {EM_SPARC, "sparc64", true},   {EM_NONE, "x86_64", true},
        {EM_AARCH64, "pdp11", true},   {EM_AARCH64, NULL, true},      {0x10003, "x86_64", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(image_runs_on(cases[i].machine, cases[i].arch), cases[i].runs);
}

#define fixture_test(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(test_sections_symbols_and_code),
        fixture_test(test_program_headers),
        fixture_test(test_odd_pieces),
        fixture_test(test_sentinel),
        fixture_test(test_no_pieces_at_all),
        fixture_test(test_every_target),
        cmocka_unit_test(test_what_runs_where),
        fixture_test(test_disassembly),
        fixture_test(test_holes),
        fixture_test(test_32_bits_end_at_4_gib),
        fixture_test(test_build_id),
        fixture_test(test_many_pieces_in_any_order),
        fixture_test(test_large_code_and_names),
        fixture_test(test_many_extents),
        fixture_test(test_piece_beyond_the_dump),
        fixture_test(test_dump_cut_meanwhile),
        fixture_test(test_full_disk),
        fixture_test(test_machines),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
