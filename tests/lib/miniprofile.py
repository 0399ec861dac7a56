#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a small profile in the current folder: perf.data and a jitdump for each of two processes.

    miniprofile.py [--pipe] [--no-clockid] [--no-markers] [--big-endian]

Processes 100 and 200 ("app") each map anonymous executable memory, then a dump, then load two
functions "first" and "second" into that memory and are sampled once in each. All times and
addresses are fixed, so what becomes of them can be written down.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from jitbuild import EM_X86_64, JitDump
from perfbuild import ARCH, CLOCK_MONOTONIC, IP, TID, TIME, Attr, PerfData

PIDS = (100, 200)
HEAP, HEAP_SIZE = 0x7F0000000000, 0x10000
FUNCTIONS = [("first", HEAP + 0x1000), ("second", HEAP + 0x2000)]
CODE = b"\x90" * 31 + b"\xc3"  # nops and a return


def dump(pid, order="<", start=0):
    """The jitdump of a process: its functions are loaded 2000 and 2001 ns after `start`."""
    jit = JitDump(pid, mach=EM_X86_64, timestamp=start + 1000, order=order)
    for number, (name, addr) in enumerate(FUNCTIONS):
        jit.debug(addr, [(addr, 1 + number, 0, "app.js")], time=start + 2000 + number)
        jit.load(addr, CODE, name, time=start + 2000 + number)
    return jit


def recording(clockid=CLOCK_MONOTONIC, order="<"):
    """A perf.data without events yet."""
    perf = PerfData([Attr(IP | TID | TIME, clockid=clockid)], order)
    perf.feature_string(ARCH, "x86_64")
    return perf


def process(perf, pid, marker=None, start=0, **file):
    """A process begins, and maps its dump if it has one; `file` is what mmap2 tells of that."""
    perf.comm("app", pid=pid, time=start + 1000)
    perf.mmap2("/usr/bin/app", 0x400000, 0x1000, pid=pid, time=start + 1001)
    perf.mmap2("//anon", HEAP, HEAP_SIZE, pid=pid, time=start + 1002)
    if marker:
        perf.mmap2(marker, 0x7E0000000000, 0x1000, pid=pid, time=start + 1003, **file)


def samples(perf, *pids, start=0):
    """A sample in each function."""
    for number, (_, addr) in enumerate(FUNCTIONS):
        for pid in pids:
            perf.sample(addr + 8, pid=pid, time=start + 3000 + number)
    perf.finished_round()


def profile(folder, markers=True, clockid=CLOCK_MONOTONIC, order="<", pids=PIDS, start=0):
    """The perf.data whose markers name dumps in `folder`."""
    perf = recording(clockid, order)
    for pid in pids:
        process(perf, pid, f"{folder}/jit-{pid}.dump" if markers else None, start)
    samples(perf, *pids, start=start)
    return perf


def main():
    parser = argparse.ArgumentParser(description="Makes a small profile in the current folder.")
    parser.add_argument("--pipe", action="store_true", help="perf.data in pipe form")
    parser.add_argument("--no-clockid", action="store_true", help="as without perf record -k mono")
    parser.add_argument("--no-markers", action="store_true", help="nothing tells of the dumps")
    parser.add_argument("--big-endian", action="store_true", help="from a big-endian machine")
    options = parser.parse_args()
    order = ">" if options.big_endian else "<"
    clockid = None if options.no_clockid else CLOCK_MONOTONIC
    profile(os.getcwd(), not options.no_markers, clockid, order).write(
        "perf.data", pipe=options.pipe)
    for pid in PIDS:
        dump(pid, order).write(f"jit-{pid}.dump")


if __name__ == "__main__":
    main()
