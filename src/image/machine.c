/* SPDX-License-Identifier: MIT */
/* Names of machines, as `uname -m` gives them and perf.data records them. */
#include "jitinject/image.h"

#include <elf.h>
#include <string.h>

static const struct {
    const char *arch;
    uint16_t machine;
} machines[] = {
    {"x86_64", EM_X86_64},
    {"amd64", EM_X86_64},
    {"i386", EM_386},
    {"i486", EM_386},
    {"i586", EM_386},
    {"i686", EM_386},
    {"aarch64", EM_AARCH64},
    {"aarch64_be", EM_AARCH64},
    {"arm64", EM_AARCH64},
    {"s390x", EM_S390},
    {"s390", EM_S390},
    {"ppc64", EM_PPC64},
    {"ppc64le", EM_PPC64},
    {"ppc", EM_PPC},
    {"riscv64", EM_RISCV},
    {"riscv32", EM_RISCV},
    {"loongarch64", EM_LOONGARCH},
    {"mips", EM_MIPS},
    {"mips64", EM_MIPS},
    {"sparc64", EM_SPARCV9},
    {"sparc", EM_SPARC},
};

uint16_t image_machine_of_arch(const char *arch)
{
    if (!arch)
        return EM_NONE;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (strcmp(arch, machines[i].arch) == 0)
            return machines[i].machine;
    /* armv5tel, armv7l, armv8l (a 32-bit process on a 64-bit kernel) ... */
    if (strncmp(arch, "arm", 3) == 0)
        return EM_ARM;
    return EM_NONE;
}

bool image_machine_is_64bit(uint16_t machine)
{
    switch (machine) {
    case EM_386:
    case EM_ARM:
    case EM_PPC:
    case EM_SPARC:
        return false;
    default:
        return true;
    }
}
