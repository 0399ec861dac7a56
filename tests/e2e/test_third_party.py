#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects code into recordings of programs that have none.

    test_third_party.py [FILE...]
    test_third_party.py --record

Other projects keep such recordings for their tests. They are not part of this one: without FILE, those of
$JITINJECT_THIRD_PARTY or of a directory beside the sources are taken. --record makes some here, with the
options that change the form of a perf.data or of its records.

None has a JIT in it. So some of its samples are given to one: a dump
is made whose functions lie where the samples are, and a record that announces it. What perf prints
of the result then differs from what it prints of the original in the names of these samples alone.
"""

import collections
import os
import re
import subprocess
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
PAGE = 4096
NOWHERE = 0x70000000
MARKER = 0x2A0000000000  # where no call chain leads, not even a wrong one
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
    record.mmap2(path, MARKER, 0x1000, pid=pid, time=time - 2)
    return perfedit.with_record(data, number, bytes(record.data))


def rows(perf, path, home, chains):
    """What perf prints, as (pid, time, address, text) for each line; pid and time are those of the
    sample, which begins with them."""
    command = [*perf.command, "script", "-f", "--ns", "--no-inline", "-i", path, "-F", FIELDS]
    text = profiles.run(command + ([] if chains else ["-G"]), env=profiles.home(home),
                        check=False).stdout.decode(errors="surrogateescape")
    pid = time = None
    for line in text.splitlines():
        head = re.match(r".*?\s(\d+)/\d+\s+(\d+)\.(\d+):", line)
        if head:
            pid, time = int(head.group(1)), int(head.group(2) + head.group(3))
        frame = re.search(r"\s([0-9a-f]+) (\S.*) \((.*)\)$", line[head.end():] if head else line)
        yield pid, time, int(frame.group(1), 16) if frame else None, line


def check_perf(perf, folder, pid, places, chains):
    """Returns whether perf can read the file."""
    before = list(rows(perf, os.path.join(folder, "perf.data"), os.path.join(folder, "home"), chains))
    after = list(rows(perf, os.path.join(folder, "out.data"), os.path.join(folder, "home"), chains))
    assert len(before) == len(after), f"{perf}: {len(before)} lines, then {len(after)}"
    named = 0
    for (owner, time, addr, old), (*_, new) in zip(before, after):
        ours = re.search(rf" injected_([0-9a-f]+) \(.*/jit-{pid}-jitted-", new)
        if ours and owner == pid:
            place = int(ours.group(1), 16)
            # Where perf 6.1 has the file, it prints the place in that of some frames.
            assert place in places and (start_of(addr) - place) % PAGE == 0, f"{perf}: {old}, {new}"
            named += 1
        else:
            assert old == new, f"{perf}: {old} became {new}"
            # Callers may have been there earlier.
            assert owner != pid or addr is None or time < places.get(start_of(addr), time + 1), (
                f"{perf}: {new} has no name of ours")
    assert not before or named or NOWHERE in places, f"{perf}: no line has a name of ours"
    return bool(before)


# What perf record is told, by what it is for.
OPTIONS = {
    "copies of the stack": "--call-graph dwarf,512",
    "compressed": "-z",
    "a pipe": "-g -o -",
    "a compressed pipe": "-z -o -",
    "several events": "-e task-clock -e dummy -e page-faults",
    "a group": "-e {cpu-clock,task-clock}:S",
    "samples of many fields":
        "-d -P --sample-cpu --weight --running-time --user-regs=ip,sp,bp --intr-regs=ip "
        "--sample-identifier",
    "records of many types": "-g -s --switch-events --namespaces --all-cgroups --no-buildid",
}
PROGRAM = [sys.executable, "-S", "-c", "sum(n * n for n in range(500000))"]


def record(folder):
    """A recording with each set of options that the perf of this machine takes."""
    perf = recording.need_recorder()
    for name, options in OPTIONS.items():
        path = os.path.join(folder, f"{name}.data")
        with open(path, "wb") as file:
            done = subprocess.run(
                [perf, "record", "-N", "-q", "-e", "cpu-clock", "-F", "999", "-o", path,
                 *options.split(), "--", *PROGRAM],
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            print(f"no recording of {name} here: {done.stderr.decode(errors='replace')[:200]}")
        else:
            yield path


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
    if paths == ["--record"]:
        with tempfile.TemporaryDirectory(prefix="recorded-") as folder:
            return judge_all(record(folder))
    if not paths and not os.path.isdir(DIRECTORY):
        recording.skip(f"no recordings of other projects in {DIRECTORY}")
    return judge_all(paths or sorted(os.path.join(DIRECTORY, name) for name in os.listdir(DIRECTORY)))


def judge_all(paths):
    perfs = profiles.perfs()
    passed = failed = 0
    for path in paths:
        try:
            print(f"{os.path.basename(path)}: read {judge(path, perfs)} times")
            passed += 1
        except (AssertionError, perfread.PerfFileError, profiles.ToolFailed) as failure:
            print(f"FAIL: {os.path.basename(path)}: {failure}")
            failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
