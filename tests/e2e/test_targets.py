#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects code of other machines into recordings of theirs: all byte orders and classes.

    test_targets.py [CASE...]

The recordings are built (tests/lib). What becomes of them is read with the ELF tools of three
projects, by hand, and with perf, which reads recordings of any byte order.
"""

import collections
import os
import re
import shutil
import struct
import sys
import tempfile

import profiles
import recording

import cfibuild
import perfdiff
from jitbuild import JitDump
from perfbuild import (ARCH, CPU, HOSTNAME, ID, IDENTIFIER, IP, PERIOD, TID, TIME, Attr, PerfData)
from targets import TARGETS, BY_NAME

SPACING = 0x40  # from one function to the next
FUNCTIONS = 3

# What is recorded on `recorder`: processes with dumps of `target` at `heap`. A dump that says
# nothing of its machine is only there where that is the recorder's.
Case = collections.namedtuple("Case", "name recorder target heap")

CASES = [Case(target.name, target, target, target.heap) for target in TARGETS]
# Up to the last byte of 32 bits; kernels of 64 bits let compat processes use nearly all of it.
CASES += [Case(f"{target.name} top", target, target, 0x100000000 - FUNCTIONS * SPACING)
          for target in TARGETS if target.name in ("i386", "armeb", "mips")]
# Processes of 32 bits on kernels of 64, and an emulated program that writes a dump of its own.
CASES += [Case(f"{target} on {recorder}", BY_NAME[recorder], BY_NAME[target], BY_NAME[target].heap)
          for target, recorder in (("i386", "x86_64"), ("ppc", "ppc64"), ("s390x", "x86_64"),
                                   ("x86_64", "s390x"))]


class Function(collections.namedtuple("Function", "pid number addr size")):
    @property
    def name(self):
        return f"function{self.number}_of_{self.pid}"

    @property
    def lines(self):
        return [(self.addr, 10 * self.number + 1), (self.addr + 8, 10 * self.number + 2)]


def functions(case, pid):
    return [Function(pid, number, case.heap + number * SPACING, len(case.target.code))
            for number in range(FUNCTIONS)]


def build_dump(case, pid, machine):
    target = case.target
    dump = JitDump(pid, mach=machine, order=target.order)
    for function in functions(case, pid):
        encoding = (cfibuild.PCREL_SDATA4, cfibuild.ABSPTR)[function.number % 2]
        frames = cfibuild.build(target.rules, function.addr, function.size, order=target.order,
                                bits=target.bits, encoding=encoding)
        dump.debug(function.addr, [(addr, line, 0, "/src/app.x") for addr, line in function.lines],
                   time=2000 + function.number)
        dump.unwind(*frames, time=2000 + function.number)
        dump.load(function.addr, target.code, function.name, time=2000 + function.number)
    dump.write(f"jit-{pid}.dump")


def build(case):
    """Makes perf.data and the dumps in the current folder. Returns the functions."""
    recorder = case.recorder
    attr = Attr(IDENTIFIER | IP | TID | TIME | ID | CPU | PERIOD, ids=[5, 6])
    perf = PerfData([attr], recorder.order, long_bits=recorder.bits)
    machines = {100: case.target.machine}
    if case.recorder is case.target:
        machines[200] = 0
    made = []
    for pid, machine in machines.items():
        build_dump(case, pid, machine)
        perf.comm("app", pid=pid, time=1000, cpu=1)
        perf.mmap2("//anon", case.heap, FUNCTIONS * SPACING, pid=pid, time=1001, cpu=1)
        perf.mmap2(f"{os.getcwd()}/jit-{pid}.dump", 0x20000, 0x1000, pid=pid, time=1002, cpu=1)
        made += functions(case, pid)
    for function in made:
        for addr, _ in function.lines:
            perf.sample(addr + 4, pid=function.pid, time=3000 + 10 * len(perf.data), cpu=1)
    perf.finished_round()
    perf.feature_string(HOSTNAME, "a-host")
    perf.feature_string(ARCH, recorder.arch)
    perf.feature_build_ids([(bytes(range(20)), "/usr/bin/app", -1)])
    perf.write("perf.data")
    return made


class Image:
    """An ELF file, as far as it is looked at byte by byte."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.bits = {1: 32, 2: 64}[self.bytes[4]]
        self.order = {1: "<", 2: ">"}[self.bytes[5]]
        self.machine, = self.unpack("H", 18)
        self.flags, = self.unpack("I", 36 if self.bits == 32 else 48)

    def unpack(self, format, at):
        return struct.unpack_from(self.order + format, self.bytes, at)

    def tool(self, command):
        """What a tool says of the file, without a complaint."""
        done = profiles.run([*command, self.path], env=dict(os.environ, LC_ALL="C"))
        text = (done.stdout + done.stderr).decode()
        check(not re.search("warning|error:", text, re.IGNORECASE), f"{command[0]}:\n{text}")
        return text

    def section(self, name):
        """(address, offset) of the first section of that name."""
        row = re.search(rf" {re.escape(name)} +\S+ +([0-9a-f]+) ([0-9a-f]+) ",
                        self.tool(["readelf", "-SW"]))
        return int(row.group(1), 16), int(row.group(2), 16)

    def code_address(self):
        return self.section(".text")[0]

    def search_table(self):
        """The rows of .eh_frame_hdr: where code begins, and where its FDE says that it does."""
        _, at = self.section(".eh_frame_hdr")
        check(self.bytes[at:at + 4] == cfibuild.USUAL_HEADER, "an unusual .eh_frame_hdr")
        count, = self.unpack("I", at + 8)
        for row in range(count):
            code, fde = self.unpack("ii", at + 12 + 8 * row)
            relative, size = self.unpack("iI", at + fde + 8)
            yield at + code, at + fde + 8 + relative, size


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def check_header(target, image):
    found = (image.order, image.bits, image.machine, image.flags)
    check(found == (target.order, target.bits, target.machine, target.flags), f"header: {found}")


def check_symbols(image, expected):
    """`expected`: rows of (address, size, name)."""
    for command in (["readelf", "-sW"], ["eu-readelf", "-s"]):
        rows = re.findall(r"([0-9a-f]{8,16}) +(\d+) FUNC .* (function\S+)", image.tool(command))
        found = [(int(value, 16), int(size), name) for value, size, name in rows]
        check(found == expected, f"symbols in {command[0]}: {found}")


def check_lines(image, expected):
    """`expected`: rows of (address, line)."""
    for tool in ("addr2line", "eu-addr2line"):
        said = profiles.run([tool, "-e", image.path, *[hex(addr) for addr, _ in expected]])
        check(said.stdout.decode().split() == [f"/src/app.x:{line}" for _, line in expected],
              f"{tool}: {said.stdout.decode()}")


def check_frames(image, text, expected):
    """`text`: what a tool prints of .eh_frame. `expected`: rows of (first address, end)."""
    found = [(int(start, 16), int(end, 16))
             for start, end in re.findall(r"pc=([0-9a-f]+)\.+([0-9a-f]+)", text)]
    check(found == expected, f"frames of {found}, not {expected}:\n{text}")


def check_instructions(target, text):
    check(len(re.findall(rf"\s{target.shown}\b", text)) >= FUNCTIONS
          and "/src/app.x:2\n" in text, f"instructions:\n{text}")


def check_image(case, image, made):
    """Header, symbols, lines and unwind tables, as the tools of three projects read them."""
    target = case.target
    check_header(target, image)
    image.tool(["readelf", "-aW"])
    # elfutils 0.188 knows nothing of LoongArch, and no flags of MIPS.
    if target.name != "loongarch64" and not target.name.startswith("mips"):
        text = image.tool(["eu-elflint", "--gnu-ld"])
        check(text == "No errors\n", f"eu-elflint: {text}")

    bias = image.code_address() - case.heap
    check_symbols(image, [(function.addr + bias, function.size, function.name)
                          for function in made])
    check_lines(image, [(addr + bias, line) for function in made for addr, line in function.lines])
    ranges = [(function.addr + bias, function.addr + bias + function.size) for function in made]
    text = image.tool(["readelf", "--debug-dump=frames"])
    check_frames(image, text, ranges)
    rule = re.search(r"DW_CFA_def_cfa: r(\d+).*? ofs (\d+)", text).groups()
    check(tuple(map(int, rule)) == target.rules[2:], f"rule: {rule}")
    found = list(image.search_table())
    check(found == [(start, start, end - start) for start, end in ranges], f"rows: {found}")

    # LLVM takes its time, and has nothing else to say of the same image elsewhere.
    if case.name == target.name and shutil.which("llvm-objdump"):
        check_frames(image, image.tool(["llvm-dwarfdump", "--eh-frame"]), ranges)
        if target.name != "loongarch64":  # known from LLVM 16 on
            check_instructions(target, image.tool(["llvm-objdump", "-dl", "--no-show-raw-insn"]))


def check_records(made):
    """All is kept but the markers and the memory that the code is in, and nothing is out of order."""
    changes = perfdiff.compare("perf.data", "out.data")
    pids = sorted({function.pid for function in made})
    markers = [record for record in changes.removed if record.filename.endswith(".dump")]
    check([record.pid for record in markers] == pids, f"removed: {changes.removed}")
    check(all(record.filename == "//anon" for record in changes.removed if record not in markers),
          f"removed: {changes.removed}")
    for function in made:
        check(any(record.pid == function.pid and record.addr <= function.addr
                  and function.addr + function.size <= record.addr + record.len
                  and (record.id, record.cpu) == (5, 0) for record in changes.added),
              f"no mapping of {function}: {[str(record) for record in changes.added]}")
    check(set(changes.before.features) == set(changes.after.features), "features")
    names = [name for _, name, _ in changes.after.build_ids()]
    check(names == ["/usr/bin/app"] + [f"{os.getcwd()}/jit-{pid}-jitted-0.so" for pid in pids],
          f"build-ids: {names}")


def check_perf(perf, made):
    """What perf prints for each sample."""
    text = perf.script("out.data", "home", "pid,ip,sym,srcline")
    expected = [f"{function.pid} {addr + 4:x} {function.name} app.x:{line}"
                for function in made for addr, line in function.lines]
    found = re.sub(r"\n\s+(?=app\.x)", " ", text).splitlines()
    found = [" ".join(line.split()) for line in found if line.strip()]
    check(sorted(found) == sorted(expected), f"{perf} prints\n{text}")


def judge(case):
    made = build(case)
    profiles.run([os.environ["JITINJECT"], "-q", "-i", "perf.data", "-o", "out.data"])
    check_records(made)
    check_image(case, Image("jit-100-jitted-0.so"), [f for f in made if f.pid == 100])
    if any(function.pid == 200 for function in made):
        check_header(case.target, Image("jit-200-jitted-0.so"))
    for perf in profiles.perfs():
        check_perf(perf, made)


def main(names):
    recording.need("perf")
    recording.need("eu-readelf")
    failed = 0
    cases = [case for case in CASES if case.name in names or not names]
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="targets-") as folder:
            os.chdir(folder)
            try:
                judge(case)
            except (AssertionError, profiles.ToolFailed) as failure:
                print(f"FAIL: {case.name}: {failure}")
                failed += 1
            os.chdir("/")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
