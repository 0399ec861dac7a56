/* SPDX-License-Identifier: MIT */
/* Unwind tables as runtimes write them, and as nobody should, in the image. */
#include "fixture.h"

#include "jitinject/bytes.h"

#include <stdlib.h>
#include <string.h>

#define BASE   0x7f1200000000ull
#define OFFSET 0x10000ull

/* Where the usual CIE, and what it becomes, say the offset of the CFA. */
#define CFA_OFFSET_AT 19

/* Bytes in the making, in the byte order of the target. */
struct table {
    uint8_t bytes[1024];
    size_t size;
    bool swapped;
};

static void put(struct table *table, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(table->bytes) - table->size);
    memcpy(table->bytes + table->size, bytes, size);
    table->size += size;
}

static void put_u8(struct table *table, uint8_t value)
{
    put(table, &value, 1);
}

static void put_u16(struct table *table, uint16_t value)
{
    uint8_t bytes[2];

    bytes_put_u16(bytes, value, table->swapped);
    put(table, bytes, sizeof(bytes));
}

static void put_u32(struct table *table, uint32_t value)
{
    uint8_t bytes[4];

    bytes_put_u32(bytes, value, table->swapped);
    put(table, bytes, sizeof(bytes));
}

static void put_u64(struct table *table, uint64_t value)
{
    uint8_t bytes[8];

    bytes_put_u64(bytes, value, table->swapped);
    put(table, bytes, sizeof(bytes));
}

/* Sets the length of the entry that began at `start`, padded to a multiple of 4. */
static void end_entry(struct table *table, size_t start)
{
    while (table->size % 4)
        put_u8(table, 0);
    bytes_put_u32(table->bytes + start, (uint32_t)(table->size - start - 4), table->swapped);
}

/* A CIE for x86-64 with any augmentation; `data` is its augmentation data. Returns its offset. */
static size_t put_cie(struct table *table, const char *letters, const void *data, uint8_t data_size)
{
    const size_t start = table->size;

    put_u32(table, 0);
    put_u32(table, 0);
    put_u8(table, 1);
    put(table, letters, strlen(letters) + 1);
    put(table, "\x01\x78\x10", 3); /* alignment factors 1 and -8, return address in 16 */
    if (*letters == 'z') {
        put_u8(table, data_size);
        put(table, data, data_size);
    }
    put(table, "\x0c\x07\x08\x90\x01", 5); /* def_cfa r7+8, offset r16 at cfa-8 */
    end_entry(table, start);
    return start;
}

/* Length and CIE of an FDE. Returns its offset. */
static size_t begin_fde(struct table *table, size_t cie)
{
    const size_t start = table->size;

    put_u32(table, 0);
    put_u32(table, (uint32_t)(table->size - cie));
    return start;
}

/* advance_loc 4, def_cfa_offset 16, advance_loc 6, def_cfa_offset 8 */
static const uint8_t instructions[] = {0x44, 0x0e, 0x10, 0x46, 0x0e, 0x08};

/* An FDE for the function before the table. */
static void put_usual_fde(struct table *table, size_t cie, size_t code_size)
{
    const size_t fde = begin_fde(table, cie);

    put_u32(table, (uint32_t) - (((code_size + 7) & ~7ull) + table->size));
    put_u32(table, (uint32_t)code_size);
    put_u8(table, 0);
    put(table, instructions, sizeof(instructions));
    end_entry(table, fde);
}

/* The usual form: .eh_frame of one CIE ("zR", 0x1b) and one FDE. */
static struct table usual_frames(size_t code_size)
{
    struct table table = {0};

    put_usual_fde(&table, put_cie(&table, "zR", "\x1b", 1), code_size);
    return table;
}

static const uint8_t usual_header[20] = {0x01, 0x1b, 0x03, 0x3b};

/* An UNWINDING_INFO record of two parts in a dump. Returns its offset. */
static uint64_t put_record_to(struct fixture *fixture, uint16_t source, uint64_t header_size,
                              const void *first, size_t first_size, const void *second,
                              size_t second_size, bool swapped)
{
    struct table record = {.swapped = swapped};

    put_u64(&record, first_size + second_size);
    put_u64(&record, header_size);
    put_u64(&record, 0);
    put(&record, first, first_size);
    put(&record, second, second_size);
    return fixture_record(fixture, source, JITDUMP_UNWINDING_INFO, record.bytes, record.size);
}

static uint64_t put_record(struct fixture *fixture, uint64_t header_size, const void *first,
                           size_t first_size, const void *second, size_t second_size, bool swapped)
{
    return put_record_to(fixture, 0, header_size, first, first_size, second, second_size, swapped);
}

/* A function with tables in the form of perf, V8 and CPython: .eh_frame, then .eh_frame_hdr. */
static struct code *add_function(struct fixture *fixture, uint64_t addr, size_t size,
                                 const struct table *frames)
{
    static const uint8_t bytes[256] = {0x55};
    const uint64_t record = put_record(fixture, sizeof(usual_header), frames->bytes, frames->size,
                                       usual_header, sizeof(usual_header), frames->swapped);
    struct code *code = fixture_add(fixture, addr, "function", bytes, size);

    code->unwind = record;
    code->unwind_size = (uint32_t)frames->size;
    fixture->tables_size += frames->size + 8;
    return code;
}

static struct code *add_usual_function(struct fixture *fixture, uint64_t addr, size_t size)
{
    const struct table frames = usual_frames(size);

    return add_function(fixture, addr, size, &frames);
}

static void write_image(struct fixture *fixture, const struct image_target *target)
{
    fixture->tables_size = fixture->tables_size ? (fixture->tables_size + 64 + 7) & ~7ull : 0;
    assert_int_equal(fixture_write(fixture, target), 0);
    fixture_check(fixture);
}

/* What binutils makes of the frames. */
static char *read_frames(const struct fixture *fixture)
{
    char *text = fixture_run(fixture, "LC_ALL=C readelf --debug-dump=frames %s");

    fixture_assert_calm(text);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/*
 * The search table holds exactly these functions, in order, each row leads to an FDE for its
 * function, and elfutils reads both sections.
 */
static void assert_functions(const struct fixture *fixture, const uint64_t (*functions)[2],
                             size_t count, bool swapped)
{
    size_t header_index, frames_index;
    const GElf_Shdr header = fixture_section(fixture, ".eh_frame_hdr", 0, &header_index);
    const GElf_Shdr frames = fixture_section(fixture, ".eh_frame", 0, &frames_index);
    uint8_t *rows = fixture_bytes(fixture, header.sh_offset, header.sh_size);

    assert_true(header_index < frames_index);
    assert_int_equal(header.sh_addr, header.sh_offset);
    assert_int_equal(frames.sh_addr, frames.sh_offset);
    assert_memory_equal(rows, "\x01\x1b\x03\x3b", 4);
    assert_int_equal(header.sh_offset + 4 + (uint64_t)(int32_t)bytes_u32(rows + 4, swapped),
                     frames.sh_offset);
    assert_int_equal(bytes_u32(rows + 8, swapped), count);
    assert_int_equal(header.sh_size, 12 + 8 * count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = rows + 12 + 8 * i;
        const uint64_t pc = header.sh_offset + (uint64_t)(int32_t)bytes_u32(row, swapped);
        const uint64_t at = header.sh_offset + (uint64_t)(int32_t)bytes_u32(row + 4, swapped);
        assert_int_equal(pc, functions[i][0]);
        assert_true(at >= frames.sh_offset && at + 16 <= frames.sh_offset + frames.sh_size);
        uint8_t *fde = fixture_bytes(fixture, at, 16);
        assert_int_equal(at + 8 + (uint64_t)(int32_t)bytes_u32(fde + 8, swapped), pc);
        assert_int_equal(bytes_u32(fde + 12, swapped), functions[i][1]);
        free(fde);
    }
    free(rows);
    free(fixture_run(fixture, "eu-readelf --debug-dump=frames %s"));
    assert_int_equal(fixture->stats.unwind_entries, count);
}

static void assert_no_functions(const struct fixture *fixture, uint64_t dropped)
{
    assert_functions(fixture, NULL, 0, false);
    assert_int_equal(fixture->stats.unwind_dropped, dropped);
}

/* Readers go by frame pointers where there is an empty table, and stop where there is none. */
static void test_without_tables(void **state)
{
    struct fixture *fixture = *state;
    GElf_Phdr segment;

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    fixture_add(fixture, BASE, "plain", "\xc3", 1);
    write_image(fixture, &fixture_x86_64);
    assert_no_functions(fixture, 0);
    assert_non_null(gelf_getphdr(fixture->elf, 2, &segment));
    const GElf_Shdr header = fixture_section(fixture, ".eh_frame_hdr", 0, NULL);
    assert_int_equal(segment.p_type, PT_GNU_EH_FRAME);
    assert_int_equal(segment.p_offset, header.sh_offset);
    assert_int_equal(segment.p_vaddr, header.sh_offset);
    assert_true(header.sh_offset + header.sh_size <= PLACE_TEXT_OFFSET);
    free(read_frames(fixture));
}

static void test_usual_tables(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET + 0x40, 0x0b}, {OFFSET + 0x80, 0x20}, {OFFSET + 0x3000, 0x11}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    fixture_add(fixture, BASE, "without", "\xc3", 1);
    add_usual_function(fixture, BASE + 0x40, 0x0b);
    add_usual_function(fixture, BASE + 0x80, 0x20);
    fixture_add_extent(fixture, BASE + 0x3000, 0x100, OFFSET + 0x3000);
    add_usual_function(fixture, BASE + 0x3000, 0x11);
    write_image(fixture, &fixture_x86_64);

    assert_functions(fixture, functions, 3, false);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, " CIE\n"), 1);
    assert_int_equal(count_of(text, " FDE cie="), 3);
    assert_non_null(strstr(text, "pc=0000000000010040..000000000001004b"));
    assert_non_null(strstr(text, "pc=0000000000010080..00000000000100a0"));
    assert_non_null(strstr(text, "pc=0000000000013000..0000000000013011"));
    assert_int_equal(count_of(text, "DW_CFA_advance_loc: 4 to"), 3);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_offset: 16\n"), 3);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa: r7 (rsp) ofs 8"), 1);
    free(text);

    const GElf_Shdr header = fixture_section(fixture, ".eh_frame_hdr", 0, NULL);
    GElf_Phdr load;
    assert_non_null(gelf_getphdr(fixture->elf, 0, &load));
    assert_true(header.sh_offset + header.sh_size <= load.p_filesz);
}

/* The table is by address, the frames are in the order of the dump. */
static void test_dump_in_another_order(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET, 0x10}, {OFFSET + 0x40, 0x11}, {OFFSET + 0x80, 0x12}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_usual_function(fixture, BASE + 0x80, 0x12);
    add_usual_function(fixture, BASE + 0x40, 0x11);
    add_usual_function(fixture, BASE, 0x10);
    struct code *last = fixture->codes[0];
    fixture->codes[0] = fixture->codes[2];
    fixture->codes[2] = last;
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 3, false);
    free(read_frames(fixture));
}

static void test_tables_before_the_code(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{2 * OFFSET, 0x10}, {2 * OFFSET + 0x40, 0x11}};

    fixture_add_extent(fixture, BASE, 0x200, 2 * OFFSET);
    add_usual_function(fixture, BASE, 0x10);
    add_usual_function(fixture, BASE + 0x40, 0x11);
    fixture->tables_offset = OFFSET;
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 2, false);
    assert_int_equal(fixture_section(fixture, ".eh_frame", 0, NULL).sh_offset, OFFSET);
    free(read_frames(fixture));
}

/*
 * An UNWINDING_INFO of LLVM 19 (ORC): a header of 12 bytes first, with the address that .eh_frame
 * has, then one CIE and an FDE for each of hash, sum and main, and another function.
 */
static const uint8_t llvm_header[12] = {0x01, 0x0c, 0xff, 0xff, 0x20, 0x00,
                                        0xe0, 0xfd, 0x89, 0x7f, 0x00, 0x00};
static const uint8_t llvm_frames[] = {
    0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x7a, 0x52, 0x00, 0x01, 0x78, 0x10,
    0x01, 0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x1c, 0x00,
    0x00, 0x00, 0xc0, 0x4f, 0x00, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
    0x00, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0xec, 0x4f, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x44, 0x00, 0x00, 0x00, 0x08, 0x50, 0x00,
    0x00, 0x1a, 0x01, 0x00, 0x00, 0x00, 0x41, 0x0e, 0x10, 0x42, 0x0e, 0x18, 0x42, 0x0e, 0x20,
    0x42, 0x0e, 0x28, 0x41, 0x0e, 0x30, 0x44, 0x0e, 0x60, 0x83, 0x06, 0x8c, 0x05, 0x8e, 0x04,
    0x8f, 0x03, 0x86, 0x02, 0x03, 0x05, 0x01, 0x0e, 0x30, 0x41, 0x0e, 0x28, 0x42, 0x0e, 0x20,
    0x42, 0x0e, 0x18, 0x42, 0x0e, 0x10, 0x41, 0x0e, 0x08, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00,
    0x00, 0x88, 0x00, 0x00, 0x00, 0xe4, 0x50, 0x00, 0x00, 0x2b, 0x00, 0x00, 0x00, 0x00, 0x41,
    0x0e, 0x10, 0x41, 0x0e, 0x18, 0x41, 0x0e, 0x20, 0x83, 0x03, 0x86, 0x02, 0x65, 0x0e, 0x18,
    0x41, 0x0e, 0x10, 0x41, 0x0e, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

static void test_one_table_for_many_functions(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET, 0x38}, {OFFSET + 0x40, 0x2e}, {OFFSET + 0x70, 0x11a}, {OFFSET + 0x200, 0x2b}};
    const uint64_t base = 0x7f89fde05000;
    uint8_t bytes[0x11a] = {0x55};
    const uint64_t record =
        put_record(fixture, sizeof(llvm_header), llvm_header, sizeof(llvm_header), llvm_frames,
                   sizeof(llvm_frames), false);

    fixture_add_extent(fixture, base, 0x300, OFFSET);
    fixture_add(fixture, base, "hash", bytes, 0x38);
    fixture_add(fixture, base + 0x40, "sum", bytes, 0x2e);
    fixture_add(fixture, base + 0x70, "main", bytes, 0x11a);
    /* The table is for where the last one was loaded, and for nothing where it is now. */
    struct code *moved = fixture_add(fixture, base + 0x190, "moved", bytes, 0x2b);
    moved->addr = base + 0x200;
    moved->flags |= CODE_MOVED;
    for (size_t i = 0; i < 4; i++) {
        fixture->codes[i]->unwind = record;
        fixture->codes[i]->unwind_size = sizeof(llvm_frames);
    }
    fixture->tables_size = 1024;
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 4, false);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, " CIE\n"), 1);
    assert_non_null(strstr(text, "pc=0000000000010070..000000000001018a"));
    assert_int_equal(count_of(text, "DW_CFA_advance_loc2: 261 to"), 1);
    free(text);
}

/* Tables behind the code go with it. */
static void test_moved_code(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET, 0x18}, {OFFSET + 0x100, 0x18}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    struct code *moved = calloc(1, sizeof(*moved));
    assert_non_null(moved);
    fixture_place(fixture, moved);
    *moved = *add_usual_function(fixture, BASE + 0x100, 0x18);
    moved->addr = BASE;
    moved->flags |= CODE_MOVED;
    fixture->tables_size *= 2;
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 2, false);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
}

/* Pointers of the encodings that make sense in a dump, for code at BASE with 0x20 bytes. */
static void put_pointers(struct table *frames, uint8_t encoding)
{
    const uint64_t frames_addr = BASE + 0x20;
    uint64_t value = BASE;

    if ((encoding & 0x70) == 0x10)
        value -= frames_addr + frames->size;
    /* The header is behind: CIE 24, FDE 20 to 28 bytes; fixed up by the caller's padding to 56. */
    if ((encoding & 0x70) == 0x30)
        value -= frames_addr + 56;
    switch (encoding & 0x0f) {
    case 0x02:
    case 0x0a:
        put_u16(frames, (uint16_t)value);
        put_u16(frames, 0x20);
        break;
    case 0x03:
    case 0x0b:
        put_u32(frames, (uint32_t)value);
        put_u32(frames, 0x20);
        break;
    default:
        put_u64(frames, value);
        put_u64(frames, 0x20);
    }
}

static struct table frames_of_encoding(const char *letters, uint8_t encoding)
{
    struct table frames = {0};
    const size_t cie = put_cie(&frames, letters, &encoding, *letters == 'z');
    const size_t fde = begin_fde(&frames, cie);

    put_pointers(&frames, encoding);
    if (*letters == 'z')
        put_u8(&frames, 0);
    put(&frames, instructions, sizeof(instructions));
    while (frames.size < 56)
        put_u8(&frames, 0);
    end_entry(&frames, fde);
    return frames;
}

static void test_encodings(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET, 0x20}};
    static const struct {
        const char *letters;
        uint8_t encoding;
        bool good;
    } cases[] = {
        {"", 0x00, true},
        {"zR", 0x00, true},
        {"zR", 0x04, true},
        {"zR", 0x0c, true},
        {"zR", 0x1b, true},
        {"zR", 0x1c, true},
        {"zR", 0x10, true},
        {"zR", 0x1a, true},
        {"zR", 0x3b, true},
        {"zR", 0x3c, true},
        /* Too narrow for the value, so for code elsewhere. */
        {"zR", 0x02, false},
        {"zR", 0x03, false},
        {"zR", 0x12, false},
        {"zR", 0x13, false},
        /* LEB128, relative to what is not known, indirect, none. */
        {"zR", 0x01, false},
        {"zR", 0x19, false},
        {"zR", 0x2b, false},
        {"zR", 0x4b, false},
        {"zR", 0x5b, false},
        {"zR", 0x9b, false},
        {"zR", 0xff, false},
    };

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    struct table frames = frames_of_encoding("zR", 0x1b);
    struct code *code = add_function(fixture, BASE, 0x20, &frames);
    fixture->tables_size = 256;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        frames = frames_of_encoding(cases[i].letters, cases[i].encoding);
        assert_int_equal(frames.size, 56);
        code->unwind = put_record(fixture, sizeof(usual_header), frames.bytes, frames.size,
                                  usual_header, sizeof(usual_header), false);
        assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
        assert_int_equal(fixture->stats.unwind_entries, cases[i].good);
        assert_int_equal(fixture->stats.unwind_dropped, !cases[i].good);
        if (cases[i].good)
            assert_functions(fixture, functions, 1, false);
    }
}

/* Absolute 4-byte pointers and big-endian bytes, in a dump of that byte order. */
static void test_32_bit_big_endian(void **state)
{
    struct fixture *fixture = *state;
    const struct image_target ppc = {.machine = EM_PPC, .is_64bit = false, .is_big_endian = true};
    static const uint64_t functions[][2] = {{OFFSET + 8, 0x20}};
    struct table frames = {.swapped = true};
    const size_t fde = begin_fde(&frames, put_cie(&frames, "", NULL, 0));

    put_u32(&frames, 0x20000008);
    put_u32(&frames, 0x20);
    put(&frames, instructions, sizeof(instructions));
    end_entry(&frames, fde);
    fixture_swap_dump(fixture, 0);
    fixture_add_extent(fixture, 0x20000000, 0x100, OFFSET);
    add_function(fixture, 0x20000008, 0x20, &frames);
    write_image(fixture, &ppc);
    assert_functions(fixture, functions, 1, true);
    char *text = read_frames(fixture);
    assert_non_null(strstr(text, "pc=00010008..00010028"));
    free(text);
}

/* Personality routine and language data are pointers into a process that is gone. */
static void test_language_data_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET, 0x20}};
    struct table frames = {0};
    const size_t cie = put_cie(&frames, "zPLRS", "\x9b\x11\x22\x33\x44\x1b\x1b", 7);
    const size_t fde = begin_fde(&frames, cie);

    put_u32(&frames, (uint32_t) - (0x20 + (int)frames.size));
    put_u32(&frames, 0x20);
    put(&frames, "\x04\x55\x66\x77\x88", 5);
    put(&frames, instructions, sizeof(instructions));
    end_entry(&frames, fde);
    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    add_function(fixture, BASE, 0x20, &frames);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 1, false);
    char *text = read_frames(fixture);
    assert_non_null(strstr(text, "\"zRS\""));
    assert_int_equal(count_of(text, "DW_CFA_advance_loc: 6 to"), 1);
    free(text);
}

/* An FDE for less than its function is taken, one for more is cut, others are not taken. */
static void test_ranges(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int32_t begin;
        uint32_t size;
        uint64_t expected[2];
    } cases[] = {
        {0, 0x20, {OFFSET, 0x20}},
        {0, 0x10, {OFFSET, 0x10}},
        {0, 0x21, {OFFSET, 0x20}},
        {4, 0x1000, {OFFSET + 4, 0x1c}},
        {0x1f, 1, {OFFSET + 0x1f, 1}},
        {0x20, 1, {0, 0}},
        {-1, 0x21, {0, 0}},
        {0, 0, {0, 0}},
        {0, 0x80000000, {0, 0}},
    };

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    struct table frames = usual_frames(0x20);
    struct code *code = add_function(fixture, BASE, 0x20, &frames);
    fixture->tables_size = 256;
    const uint32_t begin = bytes_u32(frames.bytes + 32, false);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bytes_put_u32(frames.bytes + 32, begin + (uint32_t)cases[i].begin, false);
        bytes_put_u32(frames.bytes + 36, cases[i].size, false);
        code->unwind = put_record(fixture, sizeof(usual_header), frames.bytes, frames.size,
                                  usual_header, sizeof(usual_header), false);
        assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
        if (cases[i].expected[0])
            assert_functions(fixture, &cases[i].expected, 1, false);
        else
            assert_no_functions(fixture, 1);
    }
}

/* Tables that are damaged in one place each, in a record that is whole. */
static void test_damaged_tables(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        size_t at;
        uint8_t value;
    } damages[] = {
        {0, 0x13},  /* length of the CIE: the FDE is elsewhere */
        {3, 0x7f},  /* ... beyond the end */
        {4, 0x01},  /* id: it is an FDE */
        {8, 0x02},  /* version */
        {9, 'e'},   /* augmentation */
        {10, 'X'},  /* ... a letter that nobody knows */
        {15, 0x20}, /* its data is longer than the CIE */
        {16, 0x9b}, /* encoding: indirect */
        {17, 0x3e}, /* an instruction that nobody knows */
        {17, 0x01}, /* set_loc: would have to be moved */
        {24, 0x40}, /* length of the FDE: beyond the end */
        {24, 0x02}, /* ... too short for its CIE */
        {28, 0x1b}, /* its CIE is in the middle of the CIE */
        {31, 0x7f}, /* ... before the tables */
        {39, 0x80}, /* its size has a sign */
        {40, 0x10}, /* its augmentation data is longer than the FDE */
        {41, 0x0f}, /* def_cfa_expression that is longer than the FDE */
        {46, 0x8e}, /* LEB128 without an end */
    };

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    const struct table whole = usual_frames(0x20);
    assert_int_equal(whole.size, 48);
    struct code *code = add_function(fixture, BASE, 0x20, &whole);
    fixture->tables_size = 256;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture->stats.unwind_entries, 1);
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        struct table frames = whole;
        frames.bytes[damages[i].at] = damages[i].value;
        if (damages[i].at == 46)
            frames.bytes[47] = 0x80;
        code->unwind = put_record(fixture, sizeof(usual_header), frames.bytes, frames.size,
                                  usual_header, sizeof(usual_header), false);
        assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
        assert_no_functions(fixture, 1);
    }
}

static void test_damaged_records(void **state)
{
    struct fixture *fixture = *state;
    const struct table frames = usual_frames(0x20);
    static const uint8_t empty_llvm_header[12] = {0x01, 0x0f, 0xff, 0xff};
    uint64_t records[8];
    size_t count = 0;

    records[count++] = put_record(fixture, 20, usual_header, 20, "", 0, false);
    records[count++] = put_record(fixture, 69, frames.bytes, frames.size, usual_header, 20, false);
    records[count++] = put_record(fixture, 3, "\x01\x0c\xff", 3, frames.bytes, 0, false);
    records[count++] = put_record(fixture, 12, empty_llvm_header, 12, frames.bytes, 48, false);
    records[count++] = put_record(fixture, 4, llvm_header, 4, llvm_frames, 100, false);
    const uint64_t endless[3] = {UINT64_MAX, 20, 0};
    records[count++] = fixture_record(fixture, 0, JITDUMP_UNWINDING_INFO, endless, sizeof(endless));
    records[count++] = 1 << 20;
    records[count++] = UINT64_MAX - 8;

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    struct code *code = add_function(fixture, BASE, 0x20, &frames);
    fixture->tables_size = 256;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture->stats.unwind_entries, 1);
    for (size_t i = 0; i < count; i++) {
        code->unwind = records[i];
        assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
        assert_no_functions(fixture, 1);
    }
}

static void test_no_room(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET, 0x20}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_usual_function(fixture, BASE, 0x20);
    add_usual_function(fixture, BASE + 0x80, 0x20);
    fixture->tables_size = 24 + 24 + 4 + 12 + 8; /* CIE, FDE, end, header, row */
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_functions(fixture, functions, 1, false);
    assert_int_equal(fixture->stats.unwind_dropped, 1);
    fixture_check(fixture);
    for (fixture->tables_size = 0; fixture->tables_size < 72; fixture->tables_size++) {
        assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
        assert_int_equal(fixture->stats.unwind_dropped, 2);
    }
}

/* Rows have 32 signed bits; what they do not reach is left out. */
static void test_out_of_reach(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET + 0x80000000, 0x20}};

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    add_usual_function(fixture, BASE, 0x20);
    fixture_add_extent(fixture, BASE + 0x80000000, 0x100, OFFSET + 0x80000000);
    add_usual_function(fixture, BASE + 0x80000000, 0x20);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 1, false);
    assert_int_equal(fixture->stats.unwind_dropped, 1);
}

/* More CIEs than are kept for sharing, and tables longer than the buffers. */
static void test_many_tables(void **state)
{
    struct fixture *fixture = *state;
    const size_t count = 6000;
    uint64_t(*functions)[2] = calloc(count, sizeof(*functions));

    assert_non_null(functions);
    fixture_add_extent(fixture, BASE, count * 0x40, OFFSET);
    for (size_t i = 0; i < count; i++) {
        struct table frames = usual_frames(0x20);
        frames.bytes[CFA_OFFSET_AT] = (uint8_t)(8 + i % 40);
        add_function(fixture, BASE + i * 0x40, 0x20, &frames);
        functions[i][0] = OFFSET + i * 0x40;
        functions[i][1] = 0x20;
    }
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, count, false);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, "DW_CFA_advance_loc: 6 to"), count);
    free(text);
    free(functions);
}

/* A function in dump `source` whose CFA is at first at this offset. */
static void load_function(struct fixture *fixture, uint16_t source, uint64_t addr, uint8_t offset)
{
    static const uint8_t bytes[0x20] = {0x55};
    struct table frames = usual_frames(sizeof(bytes));

    frames.bytes[CFA_OFFSET_AT] = offset;
    const uint64_t record = put_record_to(fixture, source, sizeof(usual_header), frames.bytes,
                                          frames.size, usual_header, sizeof(usual_header), false);
    struct code *code = fixture_load(fixture, source, addr, "function", bytes, sizeof(bytes));
    code->unwind = record;
    code->unwind_size = (uint32_t)frames.size;
    fixture->tables_size += frames.size + 8;
    fixture_place(fixture, code);
}

/* CIEs of no bytes, and of more than are kept to be known again. */
static void test_odd_cies(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET + 0x40, 0x20}, {OFFSET + 0x80, 0x20}, {OFFSET + 0xc0, 0x20}};
    struct table useless = {0}, empty = {0}, large = {0};

    put_u32(&empty, 4);
    put_u32(&empty, 0);
    useless = empty;
    const size_t fde = begin_fde(&useless, 0);
    put_u64(&useless, BASE);
    put_u64(&useless, 0x20);
    end_entry(&useless, fde);
    put_usual_fde(&empty, put_cie(&empty, "zR", "\x1b", 1), 0x20);
    const size_t cie = put_cie(&large, "zR", "\x1b", 1);
    for (size_t i = 0; i < 40; i++)
        put(&large, "\x0e\x0a", 2); /* def_cfa_offset 10 */
    end_entry(&large, cie);
    put_usual_fde(&large, cie, 0x20);

    fixture_add_extent(fixture, BASE, 0x100, OFFSET);
    add_function(fixture, BASE, 0x20, &useless);
    add_function(fixture, BASE + 0x40, 0x20, &large);
    add_function(fixture, BASE + 0x80, 0x20, &large);
    add_function(fixture, BASE + 0xc0, 0x20, &empty);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 3, false);
    assert_int_equal(fixture->stats.unwind_dropped, 1);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, " CIE\n"), 2);
    assert_int_equal(count_of(text, " FDE cie=00000000 "), 2);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_offset: 10\n"), 40);
    free(text);
}

static int compare_addresses(const void *left, const void *right)
{
    const struct code *const *a = left, *const *b = right;

    return ((*a)->addr > (*b)->addr) - ((*a)->addr < (*b)->addr);
}

/* The offset of the CFA in the CIE of row `i` of the search table. */
static uint8_t cfa_offset(const struct fixture *fixture, size_t i)
{
    const GElf_Shdr header = fixture_section(fixture, ".eh_frame_hdr", 0, NULL);
    uint8_t *row = fixture_bytes(fixture, header.sh_offset + 12 + 8 * i, 8);
    const uint64_t at = header.sh_offset + (uint64_t)(int32_t)bytes_u32(row + 4, false);
    uint8_t *fde = fixture_bytes(fixture, at, 8);
    uint8_t *cie = fixture_bytes(fixture, at + 4 - bytes_u32(fde + 4, false), CFA_OFFSET_AT + 1);
    const uint8_t offset = cie[CFA_OFFSET_AT];

    free(row);
    free(fde);
    free(cie);
    return offset;
}

/*
 * Tables are taken from what is read for the code, as far as that goes on in the order of the
 * dumps: each function has its own, whatever the orders are. `place` says where the i-th of a dump
 * is.
 */
static void check_order(struct fixture *fixture, size_t (*place)(size_t i, size_t count))
{
    const size_t count = 4000;
    uint64_t(*functions)[2] = calloc(count, sizeof(*functions));
    uint8_t *offsets = calloc(count, 1);

    assert_non_null(functions);
    assert_non_null(offsets);
    fixture_add_extent(fixture, BASE, count * 0x40, OFFSET);
    for (size_t i = 0; i < count; i++) {
        const size_t at = place(i, count);
        assert_int_equal(offsets[at], 0);
        offsets[at] = (uint8_t)(8 + i % 100);
        load_function(fixture, at % 5 == 0, BASE + at * 0x40, offsets[at]);
        functions[i][0] = OFFSET + i * 0x40;
        functions[i][1] = 0x20;
    }
    qsort(fixture->codes, count, sizeof(*fixture->codes), compare_addresses);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, count, false);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cfa_offset(fixture, i), offsets[i]);
    free(offsets);
    free(functions);
}

static size_t forwards(size_t i, size_t count)
{
    (void)count;
    return i;
}

static size_t backwards(size_t i, size_t count)
{
    return count - 1 - i;
}

/* Far away from its neighbours, each. */
static size_t scattered(size_t i, size_t count)
{
    return i * 1237 % count;
}

/* In order, but for a few. */
static size_t exchanged(size_t i, size_t count)
{
    return i == 0 ? count - 1 : i == count - 1 ? 0 : i % 50 == 7 ? i + 1 : i % 50 == 8 ? i - 1 : i;
}

static void test_forwards(void **state)
{
    check_order(*state, forwards);
}

static void test_backwards(void **state)
{
    check_order(*state, backwards);
}

static void test_scattered(void **state)
{
    check_order(*state, scattered);
}

static void test_exchanged(void **state)
{
    check_order(*state, exchanged);
}

/* ---- Pieces at the same addresses, in files of one base ---- */

/*
 * A function of this layer, the image being that of layer 0. `second` are its bytes from 8 on; its
 * table, if it has one, says that the CFA is rsp + `offset`.
 */
static void add_version(struct fixture *fixture, uint32_t layer, uint64_t addr, uint64_t second,
                        uint8_t offset)
{
    const size_t size = 0x20;
    struct table frames = {0};
    uint8_t bytes[0x20] = {0};

    bytes_put_u64(bytes + 8, second, false);
    struct code *code = fixture_load(fixture, 0, addr, "version", bytes, size);
    code->layer = layer;
    if (layer == 0)
        fixture_place(fixture, code);
    else
        fixture_place_elsewhere(fixture, code);
    fixture->tables_size += 8192;
    if (offset == 0)
        return;
    const size_t cie = put_cie(&frames, "zR", "\x1b", 1);
    const size_t fde = begin_fde(&frames, cie);
    put_u32(&frames, (uint32_t) - (size + frames.size));
    put_u32(&frames, (uint32_t)size);
    put(&frames, "\0\x0e", 2); /* no augmentation data, def_cfa_offset */
    put_u8(&frames, offset);
    end_entry(&frames, fde);
    code->unwind = put_record(fixture, sizeof(usual_header), frames.bytes, frames.size,
                              usual_header, sizeof(usual_header), false);
    code->unwind_size = (uint32_t)frames.size;
}

/* Each part of the addresses has its FDE; where both pieces are, it asks which one it is. */
static void test_replaced_code(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET, 8}, {OFFSET + 8, 0x18}, {OFFSET + 0x20, 8}, {OFFSET + 0x100, 0x20}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE, 4, 16);
    add_version(fixture, 1, BASE + 8, 0, 32); /* zeros where the other one has its 4 */
    add_version(fixture, 0, BASE + 0x100, 4, 64);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 4, false);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    /* 139715286138888 = BASE + 8, the first aligned word of both. */
    assert_non_null(
        strstr(text, "DW_CFA_def_cfa_expression (DW_OP_const8u: 139715286138888; DW_OP_deref; "
                     "DW_OP_dup; DW_OP_const8u: 0; DW_OP_eq; DW_OP_bra: 7; "
                     "DW_OP_drop; DW_OP_bregx: 7 (rsp) 16; DW_OP_skip: 4; "
                     "DW_OP_drop; DW_OP_bregx: 7 (rsp) 32; DW_OP_nop)"));
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_expression"), 1);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_sf: r7 (rsp) ofs 16"), 1);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_sf: r7 (rsp) ofs 32"), 1);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_offset: 64"), 1);
    free(text);
}

/* The first and the last piece have nothing in common but what lies over both. */
static void test_chain_of_replaced_code(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {
        {OFFSET, 0x10}, {OFFSET + 0x10, 0x10}, {OFFSET + 0x20, 0x10}, {OFFSET + 0x30, 0x10}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE, 4, 16);
    add_version(fixture, 1, BASE + 0x10, 5, 32);
    add_version(fixture, 0, BASE + 0x20, 6, 64);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 4, false);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_expression"), 2);
    free(text);
}

/* What unwinders do without a table is said in its stead. */
static void test_replaced_code_without_table(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t functions[][2] = {{OFFSET, 0x20}};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE, 4, 0);
    add_version(fixture, 1, BASE, 5, 32);
    add_version(fixture, 0, BASE + 0x100, 4, 0); /* of these two there is nothing to say */
    add_version(fixture, 1, BASE + 0x108, 5, 0);
    write_image(fixture, &fixture_x86_64);
    assert_functions(fixture, functions, 1, false);
    char *text = read_frames(fixture);
    assert_non_null(strstr(text, "DW_OP_bregx: 6 (rbp) 16; DW_OP_skip"));
    assert_non_null(strstr(text, "DW_OP_bregx: 7 (rsp) 32; DW_OP_nop"));
    assert_non_null(strstr(text, "DW_CFA_val_expression: r6 (rbp)"));
    assert_non_null(strstr(text, "DW_CFA_offset_extended_sf: r16 (rip) at cfa-8"));
    free(text);
}

static void test_replaced_code_of_the_same_bytes(void **state)
{
    struct fixture *fixture = *state;

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE, 4, 16);
    add_version(fixture, 1, BASE, 4, 16);
    add_version(fixture, 0, BASE + 0x100, 4, 16);
    add_version(fixture, 1, BASE + 0x100, 4, 32);
    write_image(fixture, &fixture_x86_64);
    assert_int_equal(fixture->stats.unwind_entries, 2);
    assert_int_equal(fixture->stats.unwind_dropped, 2);
    char *text = read_frames(fixture);
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_sf: r7 (rsp) ofs 16"), 1);
    assert_int_equal(count_of(text, "DW_CFA_undefined: r16 (rip)"), 1);
    /* Each entry has a CFA, though that of the second one means nothing. */
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_sf"), 2);
    assert_null(strstr(text, "expression"));
    free(text);
}

/* Of very many versions the table of the image knows its own one: else the stack ends. */
static void test_code_that_was_replaced_often(void **state)
{
    struct fixture *fixture = *state;

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    for (uint32_t layer = 0; layer < 17; layer++)
        add_version(fixture, layer, BASE, 100 + layer, (uint8_t)(8 * (layer + 1)));
    for (uint32_t layer = 0; layer < 16; layer++)
        add_version(fixture, layer, BASE + 0x100, 100 + layer, (uint8_t)(8 * (layer + 1)));
    write_image(fixture, &fixture_x86_64);
    assert_int_equal(fixture->stats.unwind_entries, 2);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    assert_non_null(strstr(text, "DW_CFA_def_cfa_sf: r7 (rsp) ofs 8\n"));
    assert_non_null(strstr(text, "DW_CFA_expression: r16 (rip) (DW_OP_const8u: 139715286138888; "
                                 "DW_OP_deref; DW_OP_dup; DW_OP_const8u: 100; DW_OP_eq; "
                                 "DW_OP_bra: 5; DW_OP_drop; DW_OP_lit0; DW_OP_skip: 4; "
                                 "DW_OP_drop; DW_OP_consts: -8; DW_OP_plus; DW_OP_nop)"));
    assert_int_equal(count_of(text, "DW_CFA_def_cfa_expression"), 1);
    assert_int_equal(count_of(text, "DW_OP_eq"), 1 + 15);
    free(text);
}

/*
 * Layer 1 has a table with a row for each 4 bytes, in two FDEs that overlap: the first one counts,
 * and the other has its rows where it says, behind that. Layer 0 has a short piece over each FDE.
 */
static void test_replaced_code_with_rows(void **state)
{
    struct fixture *fixture = *state;
    static const uint8_t bytes[0x40] = {1};
    struct table frames = {0};

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE + 0x10, 4, 120);
    add_version(fixture, 0, BASE + 0x30, 4, 120);
    struct code *code = fixture_load(fixture, 0, BASE, "rows", bytes, sizeof(bytes));
    code->layer = 1;
    fixture_place_elsewhere(fixture, code);
    const size_t cie = put_cie(&frames, "zR", "\x1b", 1);
    for (uint8_t i = 0; i < 2; i++) {
        const size_t fde = begin_fde(&frames, cie);
        put_u32(&frames, (uint32_t)(0x10 * i - (sizeof(bytes) + frames.size)));
        put_u32(&frames, i == 0 ? 0x20 : 0x30);
        put_u8(&frames, 0);
        for (uint8_t row = 0; row < 8; row++) {
            put(&frames, "\x0e", 1); /* def_cfa_offset, advance_loc 4 */
            put_u8(&frames, (uint8_t)(4 * (1 + row + 8 * i)));
            put(&frames, "\x44", 1);
        }
        end_entry(&frames, fde);
    }
    code->unwind = put_record(fixture, sizeof(usual_header), frames.bytes, frames.size,
                              usual_header, sizeof(usual_header), false);
    code->unwind_size = (uint32_t)frames.size;
    write_image(fixture, &fixture_x86_64);
    assert_int_equal(fixture->stats.unwind_dropped, 0);
    char *text = read_frames(fixture);
    /* The first FDE has its rows 0 to 7; of the second one 4 are before 0x20, and 4 to 7 not. */
    for (unsigned row = 0; row < 16; row++) {
        char wanted[64];
        const unsigned offset = 4 * (1 + row);
        snprintf(wanted, sizeof(wanted),
                 row < 4 ? "DW_CFA_def_cfa_sf: r7 (rsp) ofs %u\n" : "DW_OP_bregx: 7 (rsp) %u;",
                 offset);
        assert_true((strstr(text, wanted) != NULL) == (row < 8 || row >= 12));
    }
    free(text);
}

/* What versions have become may not fit: then it is missing, and said to be. */
static void test_no_room_for_replaced_code(void **state)
{
    struct fixture *fixture = *state;

    fixture_add_extent(fixture, BASE, 0x200, OFFSET);
    add_version(fixture, 0, BASE, 4, 16);
    add_version(fixture, 1, BASE, 5, 32);
    fixture->tables_size = 32;
    assert_int_equal(fixture_write(fixture, &fixture_x86_64), 0);
    assert_int_equal(fixture->stats.unwind_entries, 0);
    assert_int_equal(fixture->stats.unwind_dropped, 2);
}

#define fixture_test(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(test_without_tables),
        fixture_test(test_usual_tables),
        fixture_test(test_dump_in_another_order),
        fixture_test(test_tables_before_the_code),
        fixture_test(test_one_table_for_many_functions),
        fixture_test(test_moved_code),
        fixture_test(test_encodings),
        fixture_test(test_32_bit_big_endian),
        fixture_test(test_language_data_is_left_out),
        fixture_test(test_ranges),
        fixture_test(test_damaged_tables),
        fixture_test(test_damaged_records),
        fixture_test(test_no_room),
        fixture_test(test_out_of_reach),
        fixture_test(test_many_tables),
        fixture_test(test_odd_cies),
        fixture_test(test_forwards),
        fixture_test(test_backwards),
        fixture_test(test_scattered),
        fixture_test(test_exchanged),
        fixture_test(test_replaced_code),
        fixture_test(test_chain_of_replaced_code),
        fixture_test(test_replaced_code_without_table),
        fixture_test(test_replaced_code_of_the_same_bytes),
        fixture_test(test_code_that_was_replaced_often),
        fixture_test(test_replaced_code_with_rows),
        fixture_test(test_no_room_for_replaced_code),
    };
    return cmocka_run_group_tests_name("image-unwind", tests, NULL, NULL);
}
