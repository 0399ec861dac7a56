#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects code into recordings that other projects keep for their tests.

    test_third_party.py [FILE...]

They are not part of this project: without FILE, those of $JITINJECT_THIRD_PARTY or of a directory
beside the sources are taken. None has a JIT in it. So some of its samples are given to one: a dump
is made whose functions lie where the samples are, and a record that announces it. What perf prints
of the result then differs from what it prints of the original in the names of these samples alone.
"""

import collections
import os
import re
import sys
import tempfile

import profiles
import recording

import perfdiff
import perfedit
import perfread
from jitbuild import JitDump
from perfbuild import Attr, PerfData

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTORY = os.environ.get("JITINJECT_THIRD_PARTY", os.path.join(
    HERE, "..", "..", "..", "shared", "data", "third-party"))
FUNCTION_SIZE = 64
NOWHERE = 0x70000000
USER = 2
BRANCH_STACK, STACK_USER = 1 << 11, 1 << 13
FIELDS = "comm,tid,pid,time,event,ip,sym,dso"


def start_of(addr):
    """Where the function of an address begins."""
    return addr // FUNCTION_SIZE * FUNCTION_SIZE


def choose(file):
    """The process with most samples in user space, and where most of them are: {address: time of
    the first}. Without any, some place where nothing is."""
    everywhere = [sample for sample in file.of_type("SAMPLE") if sample.time and sample.pid]
    samples = [sample for sample in everywhere if sample.misc & 7 == USER]
    if not samples:
        return everywhere[-1].pid, {NOWHERE: everywhere[-1].time}
    pid, _ = collections.Counter(sample.pid for sample in samples).most_common(1)[0]
    samples = [sample for sample in samples if sample.pid == pid]
    places = collections.Counter(start_of(sample.ip) for sample in samples)
    return pid, {place: min(sample.time for sample in samples if start_of(sample.ip) == place)
                 for place, _ in places.most_common(4)}


def announce(data, pid, path, time):
    """The file with a mapping of a dump right before what is of that time."""
    file = perfread.PerfFile(data)
    number = next(number for number, record in enumerate(file.records) if record.time == time)
    record = PerfData([Attr(attr.sample_type, flags=attr.flags, clockid=None, ids=attr.ids)
                       for attr in file.attrs], file.order)
    record.mmap2(path, 0x10000, 0x1000, pid=pid, time=time - 2)
    return perfedit.with_record(data, number, bytes(record.data))


def rows(perf, path, home, chains):
    """What perf prints, as (pid, address, text) for each line; a pid is in force until the next."""
    command = [*perf.command, "script", "-f", "--ns", "--no-inline", "-i", path, "-F", FIELDS]
    text = profiles.run(command + ([] if chains else ["-G"]), env=profiles.home(home),
                        check=False).stdout.decode(errors="surrogateescape")
    pid = None
    for line in text.splitlines():
        head = re.match(r".*?\s(\d+)/(\d+)\s+\d+\.\d+:", line)
        pid = int(head.group(1)) if head else pid
        frame = re.search(r"\s([0-9a-f]+) (\S.*) \((.*)\)$", line)
        yield pid, int(frame.group(1), 16) if frame else None, line


def check_perf(perf, folder, pid, places, chains):
    """Returns whether perf can read the file."""
    before = list(rows(perf, os.path.join(folder, "perf.data"), os.path.join(folder, "home"), chains))
    after = list(rows(perf, os.path.join(folder, "out.data"), os.path.join(folder, "home"), chains))
    assert len(before) == len(after), f"{perf}: {len(before)} lines, then {len(after)}"
    named = 0
    for (owner, addr, old), (_, _, new) in zip(before, after):
        if owner != pid or addr is None or start_of(addr) not in places:
            assert old == new, f"{perf}: {old} became {new}"
        elif f"injected_{start_of(addr):x}" in new and f"/jit-{pid}-jitted-" in new:
            named += 1
        else:
            raise AssertionError(f"{perf}: {new} has no name of ours")
    assert not before or named or NOWHERE in places, f"{perf}: no line has a name of ours"
    return bool(before)


def judge(path, perfs):
    """Returns how often a perf could read the file."""
    with tempfile.TemporaryDirectory(prefix="third-party-") as folder:
        data, plain = os.path.join(folder, "perf.data"), os.path.join(folder, "plain.data")
        inject = [os.environ["JITINJECT"], "-q"]
        profiles.run([*inject, "-i", path, "-o", plain])  # uncompressed
        with open(plain, "rb") as file:
            content = perfedit.with_clock(file.read())
        pid, places = choose(perfread.PerfFile(content))
        dump_path = os.path.join(folder, f"jit-{pid}.dump")
        content = announce(content, pid, dump_path, min(places.values()))
        with open(data, "wb") as file:
            file.write(content)
        dump = JitDump(pid)
        for place, time in sorted(places.items()):
            dump.load(place, b"\x90" * FUNCTION_SIZE, f"injected_{place:x}", time=time - 1)
        dump.write(dump_path)
        profiles.run([*inject, "-i", data, "-o", os.path.join(folder, "out.data")])

        changes = perfdiff.compare(data, os.path.join(folder, "out.data"))
        removed = [record.filename for record in changes.removed]
        assert removed.count(dump_path) == 1, removed
        assert all(name == dump_path or name.startswith("//anon") for name in removed), removed
        assert changes.added, "nothing injected"
        for bit, payload in changes.before.features.items():
            if bit not in (perfread.BUILD_ID_FEATURE, perfread.AUXTRACE_FEATURE):
                assert changes.after.features[bit] == payload, f"feature {bit}"
        # Where perf unwinds, what it finds depends on the files that code is in; and of branches it
        # shows the place in these.
        comparable = not any(attr.sample_type & (STACK_USER | BRANCH_STACK)
                             for attr in changes.before.attrs)
        return sum(check_perf(perf, folder, pid, places, chains)
                   for perf in perfs for chains in {False, comparable})


def main(paths):
    recording.need("perf")
    if not paths and not os.path.isdir(DIRECTORY):
        recording.skip(f"no recordings of other projects in {DIRECTORY}")
    paths = paths or sorted(os.path.join(DIRECTORY, name) for name in os.listdir(DIRECTORY))
    perfs = profiles.perfs()
    failed = 0
    for path in paths:
        try:
            print(f"{os.path.basename(path)}: read {judge(path, perfs)} times")
        except (AssertionError, perfread.PerfFileError, profiles.ToolFailed) as failure:
            print(f"FAIL: {os.path.basename(path)}: {failure}")
            failed += 1
    print(f"{len(paths) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
