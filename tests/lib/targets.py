# SPDX-License-Identifier: MIT
"""Machines that JITs make code for, with what their files and recordings look like."""

import collections
import struct

from cfibuild import CallRules

# order: of the bytes, as in struct. machine, flags: e_machine and e_flags. arch: `uname -m`.
# heap: where a JIT may have its code. code: some instructions, a return among them. shown: how
# llvm-objdump shows one of them, for which it needs all of the above. rules: of unwinding. align:
# of instructions.
Target = collections.namedtuple("Target",
                                "name order bits machine flags arch heap code shown rules align")

HEAP_64, HEAP_32 = 0x7F5A00000000, 0xB5F00000


def words(order, nop, *last):
    """Instructions of 4 bytes: seven that do nothing, and the last ones."""
    return struct.pack(f"{order}{7 + len(last)}I", *[nop] * 7, *last)


def target(name, order, bits, machine, arch, code, shown, rules, flags=0,
           align=4):
    return Target(name, order, bits, machine, flags, arch, HEAP_64 if bits == 64 else HEAP_32, code,
                  shown, CallRules(*rules), align)


MIPS_NOP, JR_RA, DSLL = 0, 0x03E00008, 0x00021078

TARGETS = [
    target("x86_64", "<", 64, 62, "x86_64", b"\x90" * 31 + b"\xc3", "retq", (16, -8, 7, 8),
           align=1),
    target("i386", "<", 32, 3, "i686", b"\x90" * 31 + b"\xc3", "retl", (8, -4, 4, 4),
           align=1),
    target("aarch64", "<", 64, 183, "aarch64", words("<", 0xD503201F, 0xD65F03C0), "ret",
           (30, -8, 31, 0)),
    target("arm", "<", 32, 40, "armv7l", words("<", 0xE1A00000, 0xE12FFF1E), "mov", (14, -4, 13, 0),
           0x05000000),
    # Instructions are little-endian there too.
    target("armeb", ">", 32, 40, "armv7b", words("<", 0xE1A00000, 0xE12FFF1E), "mov",
           (14, -4, 13, 0), 0x05800000),
    target("ppc64", ">", 64, 21, "ppc64", words(">", 0x60000000, 0x4E800020), "blr",
           (65, -8, 1, 0)),
    target("ppc64le", "<", 64, 21, "ppc64le", words("<", 0x60000000, 0x4E800020), "blr",
           (65, -8, 1, 0), 2),
    target("ppc", ">", 32, 20, "ppc", words(">", 0x60000000, 0x4E800020), "blr", (65, -4, 1, 0)),
    target("s390x", ">", 64, 22, "s390x", b"\x07\x07" * 15 + b"\x07\xfe", "br", (14, -8, 15, 160),
           align=2),
    target("mips", ">", 32, 8, "mips", words(">", MIPS_NOP, JR_RA, MIPS_NOP), "jr", (31, -4, 29, 0),
           0x70001000),
    target("mipsel", "<", 32, 8, "mips", words("<", MIPS_NOP, JR_RA, MIPS_NOP), "jr",
           (31, -4, 29, 0), 0x70001000),
    target("mips64", ">", 64, 8, "mips64", words(">", DSLL, JR_RA, MIPS_NOP), "dsll",
           (31, -8, 29, 0), 0x80000000),
    target("mips64el", "<", 64, 8, "mips64", words("<", DSLL, JR_RA, MIPS_NOP), "dsll",
           (31, -8, 29, 0), 0x80000000),
    target("sparc64", ">", 64, 43, "sparc64", words(">", 0x01000000, 0x81C3E008, 0x01000000),
           "retl", (15, -8, 14, 2047)),
    target("riscv64", "<", 64, 243, "riscv64", words("<", 0x13, 0x13) + b"\x01\x00\x82\x80", "ret",
           (1, -8, 2, 0), 5, align=2),
    target("loongarch64", "<", 64, 258, "loongarch64", words("<", 0x03400000, 0x4C000020), "ret",
           (1, -8, 3, 0), 0x43),
]
BY_NAME = {target.name: target for target in TARGETS}
