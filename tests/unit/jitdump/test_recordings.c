/* SPDX-License-Identifier: MIT */
/* Dumps of real runtimes. What is expected was counted from their bytes by other means. */
#include "builder.h"

#include "jitdump/fixtures.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void read_at(const struct opened *opened, uint64_t offset, void *bytes, size_t size)
{
    assert_int_equal(pread(jitdump_fd(opened->dump), bytes, size, (off_t)offset), size);
}

static void expect_name(const struct opened *opened, const struct code *code, const char *name)
{
    char found[256] = "";

    assert_int_equal(code->name_size, strlen(name));
    read_at(opened, code->name, found, code->name_size);
    assert_string_equal(found, name);
}

/* The DEBUG_INFO of every piece, where it has one, is of its address. */
static size_t count_debug(const struct opened *opened)
{
    size_t count = 0;

    for (size_t i = 0; i < opened->index.count; i++) {
        uint64_t addr;
        if (!jitdump_index_code(&opened->index, i)->debug)
            continue;
        read_at(opened, jitdump_index_code(&opened->index, i)->debug + 16, &addr, sizeof(addr));
        assert_int_equal(addr, jitdump_index_code(&opened->index, i)->addr);
        count++;
    }
    return count;
}

/* UNWINDING_INFO, DEBUG_INFO x 3, LOAD x 3: each line table is that of its function. */
static void llvm_orc_pairs_by_address(void **state)
{
    struct opened opened;

    (void)state;
    open_index(&opened, FIXTURES "/llvm19-orc-dwarf/jit-18964.dump");
    const struct code *codes = jitdump_index_code(&opened.index, 0);
    assert_int_equal(opened.index.count, 3);
    expect_name(&opened, &codes[0], "sum");
    expect_name(&opened, &codes[1], "hash");
    expect_name(&opened, &codes[2], "main");
    assert_int_equal(codes[0].debug, 272);
    assert_int_equal(codes[1].debug, 810);
    assert_int_equal(codes[2].debug, 1302);
    assert_int_equal(count_debug(&opened), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(codes[i].unwind, 40);
        assert_int_equal(codes[i].unwind_size, 192);
    }
    assert_int_equal(opened.index.stats.closes, 1);

    /* Flags that nobody set, bit 0 among them: they say nothing of the clock. */
    assert_int_equal(jitdump_header(opened.dump)->flags & 1, 1);
    assert_false(jitdump_header(opened.dump)->arch_timestamps);
    assert_int_equal(opened.reports.warnings, 1);
    close_index(&opened);
}

/* Foreign bytes at two places; every trampoline is the same 11 bytes. */
static void cpython_fork_is_read_to_its_end(void **state)
{
    static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
    struct opened opened;
    size_t before = 0, between = 0;

    (void)state;
    open_index(&opened, FIXTURES "/py313-fork/jit-31394.dump");
    assert_int_equal(opened.index.count, 222);
    assert_int_equal(opened.index.stats.unwinding_infos, 222);
    assert_int_equal(opened.index.stats.skipped_bytes, 34 + 34);
    assert_int_equal(opened.reports.warnings, 2);
    assert_int_equal(opened.reports.last_offset, 48662);
    assert_non_null(strstr(opened.reports.last_text, "48696"));
    assert_int_equal(opened.index.stats.cut_bytes, 0);
    assert_int_equal(jitdump_header(opened.dump)->elf_machine, 0);
    for (size_t i = 0; i < opened.index.count; i++) {
        const struct code *code = jitdump_index_code(&opened.index, i);
        uint8_t bytes[sizeof(trampoline)];
        before += code->name < 46859;
        between += code->name > 46859 && code->name < 48662;
        assert_int_equal(code->size, sizeof(trampoline));
        assert_int_equal(code->pid, 31394);
        assert_int_equal(code->unwind_size, 48);
        read_at(&opened, code->name + code->code_delta, bytes, sizeof(bytes));
        assert_memory_equal(bytes, trampoline, sizeof(bytes));
    }
    assert_int_equal(before, 206);
    assert_int_equal(between, 8);
    close_index(&opened);

    struct jitdump *empty;
    assert_int_equal(jitdump_open(FIXTURES "/py313-fork/jit-31486.dump", NULL, &empty), -EBADMSG);
    assert_int_equal(jitdump_open(FIXTURES "/py313-fork/jit-31487.dump", NULL, &empty), -EBADMSG);
}

static void qemu_has_a_line_table_before_each_load(void **state)
{
    struct opened opened;

    (void)state;
    open_index(&opened, FIXTURES "/qemu10/jit-19974.dump");
    assert_int_equal(opened.index.count, 1372);
    assert_int_equal(count_debug(&opened), 1372);
    for (size_t i = 0; i < opened.index.count; i++)
        assert_int_equal(jitdump_index_code(&opened.index, i)->debug + 49 + 56,
                         jitdump_index_code(&opened.index, i)->name);
    assert_int_equal(opened.index.stats.code_bytes, 208322);
    assert_int_equal(opened.index.stats.first_time, 4437281500643);
    assert_int_equal(opened.index.stats.last_time, 4437594734484);
    expect_name(&opened, jitdump_index_code(&opened.index, 1371), "guest-0x437725");
    assert_int_equal(opened.reports.warnings + opened.reports.notes, 0);
    close_index(&opened);
}

/* V8 has unwind tables for optimised code; for the rest it writes a header without any. */
static void node_has_few_unwind_tables(void **state)
{
    struct opened opened;
    size_t unwind = 0;

    (void)state;
    open_index(&opened, FIXTURES "/node-churn/jit-10330.dump");
    assert_int_equal(opened.index.count, 2879);
    assert_int_equal(opened.index.stats.unwinding_infos, 2879);
    assert_int_equal(count_debug(&opened), 697);
    for (size_t i = 0; i < opened.index.count; i++) {
        const struct code *code = jitdump_index_code(&opened.index, i);
        assert_int_equal(code->unwind_size, code->unwind ? 72 : 0);
        if (code->unwind) /* 128 bytes, directly before its LOAD */
            assert_int_equal(code->unwind + 128 + 56, code->name);
        unwind += code->unwind != 0;
    }
    assert_int_equal(unwind, 486);
    expect_name(&opened, jitdump_index_code(&opened.index, 2), "Builtin:RecordWriteSaveFP");
    assert_int_equal(jitdump_index_code(&opened.index, 2)->size, 2720);
    assert_int_equal(opened.reports.warnings + opened.reports.notes, 0);
    close_index(&opened);
}

static void java_ends_in_a_close_of_16_bytes(void **state)
{
    struct opened opened;

    (void)state;
    open_index(&opened, FIXTURES "/java17/jit-15054.dump");
    assert_int_equal(opened.index.count, 511);
    assert_int_equal(count_debug(&opened), 68);
    assert_int_equal(opened.index.stats.closes, 1);
    assert_int_equal(opened.index.stats.debug_unpaired, 0);
    assert_int_equal(opened.reports.warnings + opened.reports.notes, 0);
    close_index(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llvm_orc_pairs_by_address),
        cmocka_unit_test(cpython_fork_is_read_to_its_end),
        cmocka_unit_test(qemu_has_a_line_table_before_each_load),
        cmocka_unit_test(node_has_few_unwind_tables),
        cmocka_unit_test(java_ends_in_a_close_of_16_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
