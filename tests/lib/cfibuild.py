# SPDX-License-Identifier: MIT
"""Builds .eh_frame and .eh_frame_hdr as JITs write them, for jitbuild.JitDump.unwind.

    rules = CallRules(return_address=16, data_align=-8, cfa_register=7, cfa_offset=8)
    frames, header = build(rules, code_addr, code_size)

Format: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.
"""

import collections
import struct

PCREL_SDATA4, ABSPTR = 0x1B, 0x00
USUAL_HEADER = bytes([1, 0x1B, 0x03, 0x3B])

DW_CFA_DEF_CFA, DW_CFA_OFFSET, DW_CFA_NOP = 0x0C, 0x80, 0

# How a function without a frame of its own finds its caller.
CallRules = collections.namedtuple("CallRules",
                                   "return_address data_align cfa_register cfa_offset")


def uleb(value):
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data + bytes([value]))


def sleb(value):
    data = bytearray()
    while not -64 <= value <= 63:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data + bytes([value & 0x7F]))


def entry(order, content, bits):
    """An entry with its length; its end is padded with DW_CFA_nop."""
    content += bytes([DW_CFA_NOP]) * (-(4 + len(content)) % (bits // 8))
    return struct.pack(order + "I", len(content)) + content


def build(rules, code_addr, code_size, *, order="<", bits=64, encoding=PCREL_SDATA4, at=None):
    """(.eh_frame, .eh_frame_hdr) of one function, for tables that begin at `at`; without, they
    follow the code, aligned to 8."""
    at = (code_addr + code_size + 7) // 8 * 8 if at is None else at
    mask = (1 << bits) - 1
    cie = struct.pack(order + "IB", 0, 1) + b"zR\0" + uleb(1) + sleb(rules.data_align)
    cie += bytes([rules.return_address]) + uleb(1) + bytes([encoding])
    cie += bytes([DW_CFA_DEF_CFA]) + uleb(rules.cfa_register) + uleb(rules.cfa_offset)
    cie = entry(order, cie, bits)

    pc_at = at + len(cie) + 8
    if encoding == PCREL_SDATA4:
        pointer = struct.pack(order + "iI", code_addr - pc_at, code_size)
    else:
        pointer = struct.pack(order + ("QQ" if bits == 64 else "II"), code_addr & mask, code_size)
    fde = entry(order, struct.pack(order + "I", len(cie) + 4) + pointer + uleb(0), bits)
    frames = cie + fde + bytes(4)

    header_at = at + len(frames)
    header = USUAL_HEADER + struct.pack(order + "iIii", at - (header_at + 4), 1,
                                        code_addr - header_at, at + len(cie) - header_at)
    return frames, header
