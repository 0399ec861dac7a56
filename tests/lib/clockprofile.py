#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a small profile in the current folder whose two clocks are not one.

    clockprofile.py [--clockid N|none] [--ahead NS] [--alone] [--attached] [--flag] [--tsc]
                    [--conv short|long|no-zero] [--big-endian]

Process 100 loads three functions: "alone", at an address of its own, "first", and 47 ms later
"second", which replaces it, or lies behind it (--alone). All are sampled. Times are known:

    ms after 5 s on the dump's clock                  0     process begins, 1 dump is announced,
    2 memory is mapped, 2.1 "alone", 2.5 sample, 3 "first", 10 ... 49 samples, 50 "second",
    51 ... 90 samples

On the recording's clock it is --ahead ns later. --attached: perf came when the memory was there.
--flag: the dump says that its times are the processor's; --tsc: they are, with a processor of 2 GHz.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from jitbuild import ARCH_TIMESTAMP, JitDump
from perfbuild import ARCH, CLOCK_MONOTONIC, IP, TID, TIME, Attr, PerfData

PID = 100
BEGIN, MS = 5_000_000_000, 1_000_000
HEAP = 0x7F0000000000
ALONE, FIRST = HEAP + 0x1000, HEAP + 0x2000
NOPS = b"\x90" * 31
# perf_event.h: ns = zero + (cycles >> shift) * mult + ...; one cycle is half a ns.
SHIFT, MULT = 31, 1 << 30
TSC_ZERO = 1_000_000_000  # ns on the recording's clock when the processor's is 0


def dump(pid=PID, alone=False, flag=False, tsc=False, ahead=0, order="<"):
    def time(ms):
        ns = BEGIN + int(ms * MS)
        return (ns + ahead - TSC_ZERO) * 2 if tsc else ns

    jit = JitDump(pid, flags=ARCH_TIMESTAMP if flag or tsc else 0, timestamp=time(0.9), order=order)
    jit.load(ALONE, NOPS + b"\xc3", "alone", time=time(2.1))
    jit.load(FIRST, NOPS + b"\xc3", "first", time=time(3))
    jit.load(FIRST + 0x1000 if alone else FIRST, NOPS + b"\xcb", "second", time=time(50))
    return jit


def add_process(perf, folder, pid=PID, alone=False, ahead=0, attached=False):
    def time(ms):
        return BEGIN + int(ms * MS) + ahead

    before = (lambda ms: 0) if attached else time
    perf.comm("app", pid=pid, time=before(0))
    perf.mmap2("/usr/bin/app", 0x400000, 0x1000, pid=pid, time=before(0))
    perf.mmap2(f"{folder}/jit-{pid}.dump", 0x7E0000000000, 0x1000, pid=pid, time=before(1))
    perf.mmap2("//anon", HEAP, 0x10000, pid=pid, time=before(2))
    perf.sample(ALONE + 8, pid=pid, time=time(2.5))
    for ms in (10, 20, 30, 40, 49):
        perf.sample(FIRST + 8, pid=pid, time=time(ms))
    for ms in (51, 60, 70, 80, 90):
        perf.sample((FIRST + 0x1000 if alone else FIRST) + 8, pid=pid, time=time(ms))


def profile(clockid=None, order="<", sample_type=IP | TID | TIME):
    perf = PerfData([Attr(sample_type, clockid=clockid)], order)
    perf.feature_string(ARCH, "x86_64")
    return perf


def add_conversion(perf, form):
    if form == "short":
        perf.time_conv(SHIFT, MULT, TSC_ZERO)
    elif form:
        perf.time_conv(SHIFT, MULT, TSC_ZERO, cycles=0, mask=0, cap_zero=form != "no-zero",
                       cap_short=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clockid", default="none", help="of the recording; none: perf's own")
    parser.add_argument("--ahead", type=int, default=0, help="ns of the recording's clock")
    parser.add_argument("--alone", action="store_true", help="no address is used again")
    parser.add_argument("--attached", action="store_true", help="the recording began later")
    parser.add_argument("--flag", action="store_true", help="the dump says it is in TSC")
    parser.add_argument("--tsc", action="store_true", help="the dump is in TSC")
    parser.add_argument("--conv", choices=["short", "long", "no-zero"], help="TIME_CONV")
    parser.add_argument("--big-endian", action="store_true")
    options = parser.parse_args()
    order = ">" if options.big_endian else "<"
    perf = profile(None if options.clockid == "none" else int(options.clockid), order)
    add_conversion(perf, options.conv)
    add_process(perf, os.getcwd(), PID, options.alone, options.ahead, options.attached)
    perf.finished_round()
    perf.write("perf.data")
    dump(PID, options.alone, options.flag, options.tsc, options.ahead, order).write(
        f"jit-{PID}.dump")


if __name__ == "__main__":
    main()
