/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "../../../src/jitdump/format.h"
#include "../tool.h"

#include "jitinject/array.h"
#include "jitinject/io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct image_target fixture_x86_64 = {.machine = EM_X86_64, .is_64bit = true};

static void keep_report(void *context, const struct diag_report *report)
{
    struct fixture *fixture = context;

    fixture->reports++;
    fixture->severity = report->severity;
    snprintf(fixture->report_path, sizeof(fixture->report_path), "%s",
             report->path ? report->path : "");
    snprintf(fixture->report_text, sizeof(fixture->report_text), "%s", report->text);
    fixture->report_offset = report->offset;
}

int fixture_set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const uint32_t header[10] = {0x4A695444, 1, 40, EM_X86_64, 0, 4711, 0, 0, 0, 0};

    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/jitinject-image-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    for (size_t i = 0; i < FIXTURE_DUMPS; i++) {
        snprintf(fixture->dump_paths[i], sizeof(fixture->dump_paths[i]), "%s/jit-%zu.dump",
                 fixture->directory, 4711 + i);
        fixture->dump_files[i] = fopen(fixture->dump_paths[i], "w");
        assert_non_null(fixture->dump_files[i]);
        assert_int_equal(fwrite(header, sizeof(header), 1, fixture->dump_files[i]), 1);
    }
    snprintf(fixture->path, sizeof(fixture->path), "%s/image.so", fixture->directory);
    fixture->fd = -1;
    fixture->diag = (struct diag){.report = keep_report, .context = fixture};
    elf_version(EV_CURRENT);
    *state = fixture;
    return 0;
}

static void close_image(struct fixture *fixture)
{
    elf_end(fixture->elf);
    fixture->elf = NULL;
    if (fixture->fd >= 0)
        close(fixture->fd);
    fixture->fd = -1;
}

int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;

    close_image(fixture);
    for (size_t i = 0; i < FIXTURE_DUMPS; i++) {
        fclose(fixture->dump_files[i]);
        jitdump_free(fixture->dumps[i]);
        unlink(fixture->dump_paths[i]);
    }
    for (size_t i = 0; i < fixture->table_code_count; i++)
        free(fixture->table_codes[i]);
    free(fixture->table_codes);
    free(fixture->codes);
    free(fixture->extents);
    unlink(fixture->path);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

void fixture_add_extent(struct fixture *fixture, uint64_t addr, uint64_t size, uint64_t offset)
{
    assert_true(
        array_reserve(&fixture->extents, &fixture->extent_capacity, fixture->extent_count + 1));
    fixture->extents[fixture->extent_count++] = (struct place_extent){
        .addr = addr, .size = size, .offset = offset, .first = fixture->code_count};
}

uint64_t fixture_record(struct fixture *fixture, uint16_t source, uint32_t id, const void *fields,
                        size_t size)
{
    FILE *dump = fixture->dump_files[source];
    const uint64_t offset = (uint64_t)ftello(dump);
    const uint32_t prefix[4] = {id, (uint32_t)(16 + size), 1000, 0};

    assert_int_equal(fwrite(prefix, sizeof(prefix), 1, dump), 1);
    assert_int_equal(fwrite(fields, 1, size, dump), size);
    return offset;
}

void fixture_swap_dump(struct fixture *fixture, uint16_t source)
{
    const uint32_t header[] = {__builtin_bswap32(0x4A695444), __builtin_bswap32(1),
                               __builtin_bswap32(40)};
    FILE *dump = fixture->dump_files[source];

    assert_int_equal(fflush(dump), 0);
    assert_int_equal(pwrite(fileno(dump), header, sizeof(header), 0), sizeof(header));
}

struct code *fixture_load(struct fixture *fixture, uint16_t source, uint64_t addr, const char *name,
                          const void *bytes, size_t size)
{
    const size_t name_size = strlen(name);
    const size_t fields_size = 40 + name_size + 1 + size;
    struct code *code = calloc(1, sizeof(*code));
    uint8_t *fields = calloc(1, fields_size);
    const uint64_t fixed[5] = {0, addr, addr, size, fixture->code_count};

    assert_non_null(code);
    assert_non_null(fields);
    memcpy(fields, fixed, sizeof(fixed));
    memcpy(fields + 40, name, name_size + 1);
    if (size)
        memcpy(fields + 40 + name_size + 1, bytes, size);
    *code = (struct code){
        .time = 1000,
        .addr = addr,
        .size = size,
        .name = fixture_record(fixture, source, JITDUMP_LOAD, fields, fields_size) + LOAD_NAME,
        .pid = 4711,
        .name_size = (uint32_t)name_size,
        .code_delta = (uint32_t)(name_size + 1),
        .source = source,
    };
    free(fields);
    return code;
}

void fixture_place(struct fixture *fixture, struct code *code)
{
    assert_true(array_reserve(&fixture->codes, &fixture->code_capacity, fixture->code_count + 1));
    fixture->codes[fixture->code_count++] = code;
    fixture->extents[fixture->extent_count - 1].count++;
    fixture_place_elsewhere(fixture, code);
}

void fixture_place_elsewhere(struct fixture *fixture, struct code *code)
{
    assert_true(array_reserve(&fixture->table_codes, &fixture->table_code_capacity,
                              fixture->table_code_count + 1));
    fixture->table_codes[fixture->table_code_count++] = code;
}

struct code *fixture_add(struct fixture *fixture, uint64_t addr, const char *name,
                         const void *bytes, size_t size)
{
    struct code *code = fixture_load(fixture, 0, addr, name, bytes, size);

    fixture_place(fixture, code);
    return code;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;

    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    return (a->layer > b->layer) - (a->layer < b->layer);
}

int fixture_write(struct fixture *fixture, const struct image_target *target)
{
    struct place_file file = {
        .pid = 4711,
        .mirrors = true,
        .codes = fixture->codes,
        .code_count = fixture->code_count,
        .has_debug = true,
        .table_codes = fixture->table_codes,
        .table_code_count = fixture->table_code_count,
        .extents = fixture->extents,
        .extent_count = fixture->extent_count,
        .end = PLACE_TEXT_OFFSET,
    };

    if (fixture->table_code_count)
        qsort(fixture->table_codes, fixture->table_code_count, sizeof(*fixture->table_codes),
              compare_addresses);
    for (size_t i = 0; i < fixture->extent_count; i++)
        file.end = (fixture->extents[i].offset + fixture->extents[i].size + 0xfff) & ~0xfffull;
    file.tables_size = fixture->tables_size;
    file.tables_offset = fixture->tables_offset;
    if (file.tables_size && !file.tables_offset) {
        file.tables_offset = file.end;
        file.end = file.tables_offset + file.tables_size;
    }
    for (size_t i = 0; i < FIXTURE_DUMPS; i++) {
        assert_int_equal(fflush(fixture->dump_files[i]), 0);
        jitdump_free(fixture->dumps[i]);
        assert_int_equal(jitdump_open(fixture->dump_paths[i], &fixture->diag, &fixture->dumps[i]),
                         0);
        fixture->sources[i] = (struct image_source){.path = fixture->dump_paths[i],
                                                    .fd = jitdump_fd(fixture->dumps[i]),
                                                    .size = jitdump_size(fixture->dumps[i]),
                                                    .dump = fixture->dumps[i]};
    }
    close_image(fixture);
    fixture->reports = 0;
    fixture->fd = open(fixture->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fixture->fd >= 0);
    int err = image_write(&file, fixture->sources, target, &fixture->options, fixture->fd,
                          &fixture->diag, fixture->build_id, &fixture->stats);
    if (err == 0) {
        fixture->elf = elf_begin(fixture->fd, ELF_C_READ, NULL);
        assert_non_null(fixture->elf);
        assert_int_equal(elf_kind(fixture->elf), ELF_K_ELF);
    }
    return err;
}

char *fixture_run(const struct fixture *fixture, const char *command)
{
    return tool_run(command, fixture->path);
}

void fixture_assert_calm(const char *text)
{
    const bool calm = !strstr(text, "arning:") && !strstr(text, "rror:");

    if (!calm)
        print_message("%s\n", text);
    assert_true(calm);
}

void fixture_check(const struct fixture *fixture)
{
    char *lint = fixture_run(fixture, "eu-elflint %s");
    char *gnu_lint = fixture_run(fixture, "eu-elflint --gnu-ld %s");
    char *readelf = fixture_run(fixture, "LC_ALL=C readelf -a -W %s");

    assert_string_equal(lint, "No errors\n");
    assert_string_equal(gnu_lint, "No errors\n");
    fixture_assert_calm(readelf);
    free(readelf);
    free(gnu_lint);
    free(lint);
}

uint8_t *fixture_bytes(const struct fixture *fixture, uint64_t offset, size_t size)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    assert_int_equal(io_pread(fixture->fd, bytes, size, offset), size);
    return bytes;
}

static const char *section_name(const struct fixture *fixture, const GElf_Shdr *header)
{
    size_t names;

    assert_int_equal(elf_getshdrstrndx(fixture->elf, &names), 0);
    const char *name = elf_strptr(fixture->elf, names, header->sh_name);
    assert_non_null(name);
    return name;
}

GElf_Shdr fixture_section(const struct fixture *fixture, const char *name, size_t n, size_t *index)
{
    GElf_Shdr header = {0};

    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(fixture->elf, scn));) {
        assert_non_null(gelf_getshdr(scn, &header));
        if (strcmp(section_name(fixture, &header), name) == 0 && n-- == 0) {
            if (index)
                *index = elf_ndxscn(scn);
            return header;
        }
    }
    fail_msg("no section %s", name);
    return header;
}

size_t fixture_count_sections(const struct fixture *fixture, const char *name)
{
    size_t count = 0;
    GElf_Shdr header;

    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(fixture->elf, scn));) {
        assert_non_null(gelf_getshdr(scn, &header));
        count += strcmp(section_name(fixture, &header), name) == 0;
    }
    return count;
}

GElf_Sym fixture_symbol(const struct fixture *fixture, size_t index, const char **name)
{
    size_t section;
    const GElf_Shdr table = fixture_section(fixture, ".symtab", 0, &section);
    GElf_Sym symbol;

    assert_non_null(
        gelf_getsym(elf_getdata(elf_getscn(fixture->elf, section), NULL), (int)index, &symbol));
    if (name) {
        *name = elf_strptr(fixture->elf, table.sh_link, symbol.st_name);
        assert_non_null(*name);
    }
    return symbol;
}
