/* SPDX-License-Identifier: MIT */
/* What machine an image is for, and what its ELF header says of it. */
#include "jitinject/image.h"

#include "internal.h"

#include <elf.h>
#include <string.h>

/* Names as `uname -m` gives them and perf.data records them. */
static const struct machine {
    const char *arch;
    uint16_t machine;
    bool is_64bit;
} machines[] = {
    {"x86_64", EM_X86_64, true},
    {"amd64", EM_X86_64, true},
    {"i386", EM_386, false},
    {"i486", EM_386, false},
    {"i586", EM_386, false},
    {"i686", EM_386, false},
    {"aarch64", EM_AARCH64, true},
    {"aarch64_be", EM_AARCH64, true},
    {"arm64", EM_AARCH64, true},
    {"arm", EM_ARM, false},
    {"s390x", EM_S390, true},
    {"s390", EM_S390, false},
    {"ppc64", EM_PPC64, true},
    {"ppc64le", EM_PPC64, true},
    {"ppc", EM_PPC, false},
    {"riscv64", EM_RISCV, true},
    {"riscv32", EM_RISCV, false},
    {"loongarch64", EM_LOONGARCH, true},
    {"loongarch32", EM_LOONGARCH, false},
    {"mips", EM_MIPS, false},
    {"mips64", EM_MIPS, true},
    {"sparc64", EM_SPARCV9, true},
    {"sparc", EM_SPARC, false},
};

static const struct machine *find_arch(const char *arch)
{
    if (!arch)
        return NULL;
    /* armv5tel, armv7l, armv8l (a 32-bit process on a 64-bit kernel) ... */
    if (strncmp(arch, "armv", 4) == 0)
        arch = "arm";
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (strcmp(arch, machines[i].arch) == 0)
            return &machines[i];
    return NULL;
}

/* A machine that is in use in both classes, or is not known, counts as one of 64 bits. */
static bool is_64bit_machine(uint16_t machine)
{
    bool known = false;

    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].machine != machine)
            continue;
        if (machines[i].is_64bit)
            return true;
        known = true;
    }
    return !known;
}

/* Processors of 64 bits and what else they run. */
static const uint16_t siblings[][2] = {
    {EM_X86_64, EM_386},    {EM_AARCH64, EM_ARM},         {EM_PPC64, EM_PPC},
    {EM_SPARCV9, EM_SPARC}, {EM_SPARCV9, EM_SPARC32PLUS},
};

bool image_runs_on(uint32_t machine, const char *arch)
{
    const struct machine *recorded = find_arch(arch);

    if (machine == EM_NONE || machine > UINT16_MAX || !recorded || recorded->machine == machine)
        return true;
    /* The recording may have the name of the smaller one: setarch(8). */
    for (size_t i = 0; i < sizeof(siblings) / sizeof(siblings[0]); i++)
        if ((siblings[i][0] == machine && siblings[i][1] == recorded->machine) ||
            (siblings[i][1] == machine && siblings[i][0] == recorded->machine))
            return true;
    return false;
}

struct image_target image_target_of(uint32_t machine, const char *arch, bool is_big_endian)
{
    const struct machine *recorded = find_arch(arch);
    struct image_target target = {.machine = (uint16_t)machine, .is_big_endian = is_big_endian};

    if (machine == EM_NONE || machine > UINT16_MAX)
        target.machine = recorded ? recorded->machine : EM_NONE;
    target.is_64bit = recorded && recorded->machine == target.machine
                          ? recorded->is_64bit
                          : is_64bit_machine(target.machine);
    return target;
}

/* Of the ABI supplements of the machines; not all are in the elf.h of every libc. */
enum {
    ARM_EABI_5 = 0x05000000,
    ARM_BE8 = 0x00800000, /* data is big-endian, instructions are not */
    MIPS_ABI_O32 = 0x00001000,
    MIPS_ARCH_32R2 = 0x70000000,
    PPC64_ELF_V2 = 2,
    RISCV_COMPRESSED = 0x0001,
    RISCV_DOUBLE_FLOAT = 0x0004,
    LOONGARCH_DOUBLE_FLOAT = 0x03,
    LOONGARCH_OBJECT_ABI_1 = 0x40,
};
#define MIPS_ARCH_64R2 0x80000000u

/*
 * Disassemblers go by these: without them they take MIPS code for that of an R3000, and know no
 * compressed instructions of RISC-V. They name what Linux runs on such a machine.
 */
uint32_t image_machine_flags(const struct image_target *target)
{
    switch (target->machine) {
    case EM_ARM:
        return ARM_EABI_5 | (target->is_big_endian ? ARM_BE8 : 0u);
    case EM_MIPS:
        return target->is_64bit ? MIPS_ARCH_64R2 : MIPS_ARCH_32R2 | MIPS_ABI_O32;
    case EM_PPC64:
        return target->is_big_endian ? 0 : PPC64_ELF_V2;
    case EM_RISCV:
        return RISCV_COMPRESSED | RISCV_DOUBLE_FLOAT;
    case EM_LOONGARCH:
        return LOONGARCH_DOUBLE_FLOAT | LOONGARCH_OBJECT_ABI_1;
    default:
        return 0;
    }
}
