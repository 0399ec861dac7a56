# SPDX-License-Identifier: MIT
"""Builds jitdump files, byte by byte, for tests and measurements.

    dump = JitDump(pid=100)
    dump.debug(0x7000, [(0x7000, 1, 0, "app.js")], time=5)
    dump.load(0x7000, b"\\x90" * 64, "JS:*add app.js:1:1", time=5)
    dump.write("jit-100.dump")

Nothing is checked. Format: tools/perf/Documentation/jitdump-specification.txt of Linux.
"""

import struct

LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO = range(5)

MAGIC = 0x4A695444
EM_386, EM_ARM, EM_X86_64, EM_AARCH64, EM_RISCV = 3, 40, 62, 183, 243
ARCH_TIMESTAMP = 1


def cstring(text):
    return (text if isinstance(text, bytes) else text.encode()) + b"\0"


class JitDump:
    def __init__(self, pid, *, mach=EM_X86_64, timestamp=0, flags=0, version=1, magic=MAGIC,
                 pad1=0, header=b"", total_size=None, order="<"):
        """`header` follows the 40 bytes of the header and is counted in its total_size."""
        self.pid, self.order = pid, order
        self.next_index = 0
        size = 40 + len(header) if total_size is None else total_size
        self.data = bytearray(struct.pack(order + "IIIIIIQQ", magic, version, size, mach, pad1,
                                          pid, timestamp, flags))
        self.data += header
        self._load = struct.Struct(order + "IIQIIQQQQ")

    def load(self, addr, code=b"", name="", *, time, size=None, index=None, pid=None, tid=None,
             vma=None, pad=0, total_size=None):
        """LOAD. `size` overrides code_size; `pad` bytes lie between the name and the code.

        Without `index` every LOAD gets the next one. Returns the index.
        """
        if index is None:
            index = self.next_index
            self.next_index += 1
        pid = self.pid if pid is None else pid
        name = cstring(name)
        total = 56 + len(name) + pad + len(code) if total_size is None else total_size
        self.data += self._load.pack(LOAD, total, time, pid, pid if tid is None else tid,
                                     addr if vma is None else vma, addr,
                                     len(code) if size is None else size, index)
        self.data += name + bytes(pad) + code
        return index

    def move(self, old, new, size, index, *, time, pid=None, tid=None, vma=None):
        pid = self.pid if pid is None else pid
        self.record(MOVE, struct.pack(self.order + "IIQQQQQ", pid, pid if tid is None else tid,
                                      new if vma is None else vma, old, new, size, index), time)

    def debug(self, addr, entries, *, time, count=None, align=1):
        """DEBUG_INFO with entries of (address, line, column or discriminator, file)."""
        body = struct.pack(self.order + "QQ", addr, len(entries) if count is None else count)
        for entry_addr, line, column, file in entries:
            body += struct.pack(self.order + "Qii", entry_addr, line, column) + cstring(file)
        self.record(DEBUG_INFO, body, time, align=align)

    def unwind(self, eh_frame, eh_frame_hdr, mapped_size=0, *, time, header_first=False, size=None,
               header_size=None):
        """UNWINDING_INFO; the table first and its header last, as all writers but LLVM's do."""
        data = eh_frame_hdr + eh_frame if header_first else eh_frame + eh_frame_hdr
        self.record(UNWINDING_INFO, struct.pack(
            self.order + "QQQ", len(data) if size is None else size,
            len(eh_frame_hdr) if header_size is None else header_size, mapped_size) + data, time,
            align=8)

    def close(self, *, time):
        self.record(CLOSE, b"", time)

    def record(self, id, body, time, *, total_size=None, align=1):
        """Any record; `align` pads its end, `total_size` overrides what it says of its size."""
        body += bytes(-(16 + len(body)) % align)
        size = 16 + len(body) if total_size is None else total_size
        self.data += struct.pack(self.order + "IIQ", id, size, time) + body

    def raw(self, data):
        """Bytes as they are."""
        self.data += data

    def build(self):
        return bytes(self.data)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data)
