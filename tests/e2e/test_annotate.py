#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf annotate of one .so of 20,000 functions: instructions, source lines and their shares."""

import os
import re
import sys
import tempfile

import profiles
import recording

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jitbuild import JitDump  # noqa: E402
from perfbuild import ARCH, IP, PERIOD, TID, TIME, Attr, PerfData  # noqa: E402

PID, HEAP = 100, 0x7F0000000000
FUNCTIONS, STRIDE = 20000, 32
MIDDLE, LAST = FUNCTIONS // 2, FUNCTIONS - 1
WITHOUT_BYTES = 5
# The neighbours of the one without bytes must not suffer from it.
SAMPLED = (0, WITHOUT_BYTES - 1, WITHOUT_BYTES, WITHOUT_BYTES + 1, MIDDLE, LAST)
# It begins within the middle function, so it comes in another .so.
SECOND, SECOND_ADDR = "second", HEAP + STRIDE * MIDDLE + 4
SECOND_VALUE, SECOND_LINE = 0xABCD, 4 * FUNCTIONS + 1
LOOP = 9  # where the loop begins


def code(value):
    """A function that counts down, with a number to know it by."""
    return bytes.fromhex("55 4889e5 b8") + value.to_bytes(4, "little") + bytes.fromhex(
        "48ffcf 75fb 5d c3")


def instructions(value, line, addr):
    """What `code` is at an address: mnemonic, operands, line of the source, share of the samples."""
    return [("push", "%rbp", line, 0), ("mov", "%rsp,%rbp", line, 0),
            ("mov", f"$0x{value:x},%eax", line + 1, 25),
            ("dec", "%rdi", line + 2, 75), ("jne", f"{addr + LOOP:x}", line + 2, 0),
            ("pop", "%rbp", line + 3, 0), ("ret", "", line + 3, 0)]


def text_of(line):
    return f"text of line {line};"


def build(folder):
    source = os.path.join(folder, "app.source")
    with open(source, "w") as file:
        file.writelines(text_of(line) + "\n" for line in range(1, SECOND_LINE + 4))

    def load(addr, value, line, name, time, has_bytes=True):
        rows = zip((0, 4, LOOP, 14), range(line, line + 4))
        jit.debug(addr, [(addr + offset, row, 0, source) for offset, row in rows], time=time)
        bytes_of = code(value)
        jit.load(addr, bytes_of if has_bytes else b"", name, time=time, size=len(bytes_of))

    jit = JitDump(PID, timestamp=1000)
    for number in range(FUNCTIONS):
        load(HEAP + STRIDE * number, number, 4 * number + 1, f"f{number}", 2000 + number,
             number != WITHOUT_BYTES)
    load(SECOND_ADDR, SECOND_VALUE, SECOND_LINE, SECOND, 10**6)
    dump = os.path.join(folder, f"jit-{PID}.dump")
    jit.write(dump)

    perf = PerfData([Attr(IP | TID | TIME | PERIOD)])
    perf.comm("app", pid=PID, time=1000)
    perf.mmap2("//anon", HEAP, STRIDE * FUNCTIONS + 4096, pid=PID, time=1001)
    perf.mmap2(dump, 0x7E0000000000, 4096, pid=PID, time=1002)
    sampled = [(HEAP + STRIDE * number, 500000) for number in SAMPLED] + [(SECOND_ADDR, 2 * 10**6)]
    for addr, time in sampled:
        for number in range(8):
            perf.sample(addr + (4 if number < 2 else LOOP), pid=PID, time=time + number)
    perf.finished_round()
    perf.feature_string(ARCH, "x86_64")
    perf.write(os.path.join(folder, "perf.data"))


TITLE = re.compile(r"([0-9a-f]{16}) <(\w+)>:$")
SOURCE = re.compile(r"text of line (\d+);$")
INSTRUCTION = re.compile(r"\s*(\d+\.\d+)\s*:\s*([0-9a-f]+):\s+(\w+)\s*([^\s<]*)")


def annotations(perf, data, home):
    """The address of each function in its .so, and its instructions with the line above them."""
    command = perf.command + ["annotate", "-f", "--stdio", "-i", data]
    text = profiles.run(command, env=profiles.home(home)).stdout.decode(errors="replace")
    found, line = {}, None
    for row in text.split("\n"):
        if title := TITLE.search(row):
            rows, line = [], None
            found[title.group(2)] = int(title.group(1), 16), rows
        elif source := SOURCE.search(row):
            line = int(source.group(1))
        elif found and (match := INSTRUCTION.match(row)):
            share, _, mnemonic, operands = match.groups()
            rows.append((mnemonic, operands, line, float(share)))
    return found


def truths(perf, workshop):
    home = workshop.cache()
    leaves = {sample.frames[0] for sample in perf.samples(workshop.output, home)}
    first, second = workshop.images()
    wanted = {(f"f{number}", first) for number in SAMPLED} | {(SECOND, second)}
    leaves = {(frame.symbol, os.path.basename(frame.dso)) for frame in leaves}
    if leaves != wanted:
        yield f"samples in {leaves}, expected {wanted}"

    found = annotations(perf, workshop.output, home)
    known = {f"f{number}": (number, 4 * number + 1) for number in SAMPLED
             if number != WITHOUT_BYTES}
    known[SECOND] = SECOND_VALUE, SECOND_LINE
    for name, (value, line) in known.items():
        addr, rows = found.get(name, (0, []))
        if rows != (expected := instructions(value, line, addr)):
            yield f"{name}: {rows}\n    expected {expected}"


def main():
    if not profiles.perfs():
        recording.skip("perf is not installed")
    recording.need("objdump")
    if os.uname().machine != "x86_64":
        recording.skip("the code is of x86-64, and objdump may not know that here")
    well = True
    with tempfile.TemporaryDirectory(prefix="annotate-") as folder:
        build(folder)
        with profiles.Workshop(profiles.Recording(folder), os.environ["JITINJECT"]) as workshop:
            for perf in profiles.perfs():
                for fault in truths(perf, workshop):
                    print(f"{perf}: {fault}")
                    well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
