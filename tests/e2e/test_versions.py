#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects into recordings as perf 3.x to 7.x, and perhaps later ones, make them.

    test_versions.py [CASE...]

What is new in a perf.data, or gone, is kept as it is, and the code has its name in all of them.
"""

import os
import struct
import sys
import tempfile

import profiles
import recording

import perfdiff
import perfread
from jitbuild import ARCH_TIMESTAMP, JitDump
from perfbuild import (ARCH, AUX, AUXTRACE_INFO, BRANCH_STACK, CALLCHAIN, COMM, COMM_EXEC, CPU,
                       DEFAULT_FLAGS, FLAG_MMAP2, HEADER_EVENT_TYPE, HOSTNAME, ID, IDENTIFIER, IP,
                       ITRACE_START, PERIOD, SAMPLE_ID_ALL, STREAM_ID, TID, TIME, USER, Attr,
                       PerfData)

HEAP = 0x7F0000000000
OLD_FLAGS = DEFAULT_FLAGS & ~FLAG_MMAP2 & ~COMM_EXEC  # mmap2 and comm_exec came with 3.12 and 3.16
# Bits of branch_sample_type, with that of user space.
ANY_BRANCH, CALL_STACK, HARDWARE_INDEX = 1 | 1 << 3, 1 | 1 << 11, 1 << 17
CONTEXT_USER = 2**64 - 512  # in a call chain
SHIFT, MULT, ZERO = 10, 512, 7  # of TIME_CONV: a cycle is half a nanosecond


def cycles(time):
    return (time - ZERO) * 2


def build(attrs=None, *, mmap2=True, arch=False, extra=None, features=(), events=1,
          sample=None, **options):
    """A process with two functions, one after the other, at one address, and a sample in each.

    `arch`: the dump has the times of the processor, as the default clock of perf wants it. `extra`
    adds records between the samples, `features` are (bit, payload), `sample` more fields of the
    samples.
    """
    perf = PerfData(attrs or [Attr(IP | TID | TIME | PERIOD)])
    add = perf.mmap2 if mmap2 else perf.mmap
    perf.comm("app", pid=100, time=1000)
    add("/usr/bin/app", 0x400000, 0x1000, pid=100, time=1001)
    add(f"{os.getcwd()}/jit-100.dump", 0x10000, 0x1000, pid=100, time=1002)
    add("//anon", HEAP, 0x10000, pid=100, time=1003)
    if arch:
        perf.time_conv(SHIFT, MULT, ZERO)
    dump = JitDump(100, flags=ARCH_TIMESTAMP if arch else 0)
    for number in range(2):
        time = 2000 + 1000 * number
        dump.load(HEAP + 0x100, bytes([0x90] * 32), f"function{number}",
                  time=cycles(time) if arch else time)
        perf.sample(HEAP + 0x108, pid=100, time=time + 500, attr=number % events, cpu=1,
                    **(sample or {}))
        if extra:
            extra(perf)
        perf.finished_round()
    perf.feature_string(HOSTNAME, "a-host")
    perf.feature_string(ARCH, "x86_64")
    for bit, payload in features:
        perf.feature(bit, payload)
    perf.write("perf.data", **options)
    dump.write("jit-100.dump")


def old(size, **fields):
    """An attr from before there was a clock to choose."""
    return Attr(IP | TID | TIME, flags=OLD_FLAGS, clockid=None, size=size, **fields)


def unknown_records(perf):
    """Of the kernel, with sample ids, and of perf itself."""
    for type in (17, 18, 19, 20, 21, 22, 30, 63):
        perf.event(type, bytes(range(24)), pid=100, time=2400)
    for type in (84, 85, 90, 255):
        perf.record(type, bytes(16))


def odd_misc(perf):
    """Bits of misc that say more, or that nobody knows yet."""
    perf.mmap2("/usr/lib/a.so", 0x500000, 0x1000, pid=100, time=2410, misc=USER | 1 << 12)
    perf.mmap2("/usr/lib/b.so", 0x600000, 0x1000, pid=100, time=2411, misc=USER | 1 << 10)
    perf.event(COMM, struct.pack("<II", 100, 102) + b"thread\0\0", pid=100, time=2412, misc=1 << 11)


def event_types():
    """struct perf_trace_event_type {u64 event_id; char name[64];} for each event."""
    return struct.pack("<Q64s", 0, b"cycles")


def branches(index=None):
    """A branch stack (struct perf_branch_entry: from, to, flags), with the index of the newest
    entry in the hardware or without: two calls in the function, which the mispredicted bit tells apart."""
    words = [2] + ([] if index is None else [index])
    words += [HEAP + 0x10A, HEAP + 0x108, 1, HEAP + 0x11C, HEAP + 0x100, 2]
    return dict(tail=struct.pack(f"<{len(words)}Q", *words))


def traces(perf):
    """Two pieces of a trace, for two processors, as of Intel PT, with the records around them."""
    perf.record(AUXTRACE_INFO, struct.pack("<II", 1, 0) + bytes(8 * 14))
    for idx in range(2):
        perf.event(ITRACE_START, struct.pack("<II", 100, 100), pid=100, time=2300)
        perf.event(AUX, struct.pack("<QQQ", 4096 * idx, 4096, 0), pid=100, time=2400)
        perf.auxtrace(bytes([idx]) * 4096, offset=4096 * idx, idx=idx, cpu=idx, tid=100)


CASES = {
    "attrs of 64 bytes, no mmap2": lambda: build([old(64)], mmap2=False, arch=True),
    "attrs of 72 bytes, no mmap2": lambda: build([old(72)], mmap2=False, arch=True),
    "attrs of 80 bytes, no mmap2": lambda: build([old(80)], mmap2=False, arch=True),
    "attrs of 96 bytes": lambda: build([Attr(IP | TID | TIME, size=96)]),
    "attrs of 104 bytes": lambda: build([Attr(IP | TID | TIME, size=104)]),
    "attrs of 112 bytes": lambda: build([Attr(IP | TID | TIME, size=112)]),
    "attrs of 120 bytes": lambda: build([Attr(IP | TID | TIME, size=120)]),
    "attrs of 136 bytes": lambda: build([Attr(IP | TID | TIME, size=136)]),
    "attrs of 144 bytes": lambda: build([Attr(IP | TID | TIME, size=144)]),
    "attrs of 200 bytes": lambda: build([Attr(IP | TID | TIME, size=200)]),
    "attrs of 200 bytes in a pipe": lambda: build([Attr(IP | TID | TIME, size=200)], pipe=True),
    "names of the events before the data": lambda: build(
        [old(72)], mmap2=False, arch=True, event_types=event_types()),
    "names of the events as records": lambda: build(
        extra=lambda perf: perf.record(HEADER_EVENT_TYPE, event_types()), pipe=True),
    "no sample_id_all": lambda: build(
        [Attr(IP | TID | TIME, flags=DEFAULT_FLAGS & ~SAMPLE_ID_ALL)]),
    "several events by ID": lambda: build(
        [Attr(IP | TID | TIME | ID | CPU, ids=[1]), Attr(IP | TID | TIME | ID | CPU, ids=[2])],
        events=2),
    "several events by IDENTIFIER, of different fields": lambda: build(
        [Attr(IDENTIFIER | IP | TID | TIME, ids=[1]),
         Attr(IDENTIFIER | IP | TID | TIME | CPU | STREAM_ID | PERIOD, ids=[2])], events=2),
    "a dummy event with another clock": lambda: build(
        [Attr(IDENTIFIER | IP | TID | TIME, ids=[1]),
         Attr(IDENTIFIER | IP | TID | TIME, ids=[2], type=1, config=9, clockid=None)]),
    "records of other types": lambda: build(extra=unknown_records),
    "other bits of misc": lambda: build(extra=odd_misc),
    "branch stacks": lambda: build(
        [Attr(IP | TID | TIME | BRANCH_STACK, branches=ANY_BRANCH)], sample=branches()),
    "branch stacks with the index of the hardware": lambda: build(
        [Attr(IP | TID | TIME | BRANCH_STACK, branches=ANY_BRANCH | HARDWARE_INDEX)],
        sample=branches(7)),
    "call chains of branch stacks (lbr)": lambda: build(
        [Attr(IP | TID | TIME | CALLCHAIN | BRANCH_STACK, branches=CALL_STACK | HARDWARE_INDEX)],
        sample=dict(callchain=[CONTEXT_USER, HEAP + 0x108], **branches(0))),
    "pieces of a trace (AUX)": lambda: build(extra=traces),
    "pieces of a trace (AUX) in a pipe": lambda: build(extra=traces, pipe=True),
    "mappings with build-ids": lambda: build(
        extra=lambda perf: perf.mmap2("/usr/lib/c.so", 0x700000, 0x1000, pid=100, time=2420,
                                      build_id=bytes(range(20)))),
    "features of later versions": lambda: build(
        features=[(33, struct.pack("<II", 62, 0)), (40, b"odd"), (200, bytes(100)), (255, b"")]),
}


def reads(perf, path):
    """Whether this perf knows the form, by what it says of the recording before the injection."""
    done = profiles.run([*perf.command, "script", "-f", "-i", path, "-F", "ip"],
                        env=profiles.home("home"), check=False)
    return done.returncode == 0 and f"{HEAP + 0x108:x}" in done.stdout.decode()


def judge(case):
    case()
    profiles.run([os.environ["JITINJECT"], "-q", "-i", "perf.data", "-o", "out.data"])
    changes = perfdiff.compare("perf.data", "out.data")
    removed = [os.path.basename(record.filename) for record in changes.removed]
    assert removed in (["jit-100.dump"], ["jit-100.dump", "//anon"]), removed
    assert changes.added, "nothing was injected"
    for bit, payload in changes.before.features.items():
        if bit == perfread.AUXTRACE_FEATURE:  # which perfread has checked
            continue
        assert changes.after.features[bit] == payload, f"feature {bit}"
    known = [perf for perf in profiles.perfs() if reads(perf, "perf.data")]
    for perf in known:
        samples = perf.samples("out.data", "home")
        names = [sample.frames[0].symbol for sample in samples]
        assert names == ["function0", "function1"], f"{perf} finds {names}"
    return known


def main(names):
    recording.need("perf")
    failed = 0
    cases = {name: case for name, case in CASES.items() if name in names or not names}
    for name, case in cases.items():
        with tempfile.TemporaryDirectory(prefix="versions-") as folder:
            os.chdir(folder)
            try:
                known = judge(case)
                print(f"ok    {name}: read by {', '.join(map(str, known)) or 'no perf here'}")
            except (AssertionError, perfread.PerfFileError, profiles.ToolFailed) as failure:
                print(f"FAIL  {name}: {failure}")
                failed += 1
            os.chdir("/")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
