# SPDX-License-Identifier: MIT
"""Checks the modules of this folder against perf: it reads what perfbuild and jitbuild make as
they meant it, and perfread sees in perf's output what perf itself prints.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import miniprofile
import perfread
from perfbuild import (ARCH, CALLCHAIN, COMPRESSED, CPU, HOSTNAME, ID, IDENTIFIER, IP, PERIOD, TID,
                       TIME, Attr, PerfData)

SKIPPED = 77

# What `perf script --show-mmap-events --show-task-events` has to print, in order. The
# mapping's offset is its address, because older versions of perf print addresses within the file.
SCRIPT = """\
100/100 PERF_RECORD_MMAP2 100/100: [0x400000(0x1000) @ 0x400000 08:01 7 0]: /usr/bin/app
100/100 PERF_RECORD_COMM: app:100/100
100/100 PERF_RECORD_MMAP 100/100: [0x8000(0x2000) @ 0x3000]: //anon
101/101 PERF_RECORD_FORK(101:101):(100:100)
101/101 PERF_RECORD_MMAP2 101/101: [0x9000(0x1000) @ 0x80 <0102030405060708090a0b0c0d0e0f1011121314>]: /tmp/x.so
100/102 7010 400010
100/102 7011 400010
101/101 PERF_RECORD_EXIT(101:101):(100:100)
"""


def build(attrs, order="<", compressed=False):
    perf = PerfData(attrs, order)
    with perf.compressed(chunk=100) if compressed else contextlib.nullcontext():
        perf.mmap2("/usr/bin/app", 0x400000, 0x1000, 0x400000, pid=100, inode=7)
        perf.comm("app", pid=100, time=1000)
        perf.mmap("//anon", 0x8000, 0x2000, 0x3000, pid=100, time=2000)
        perf.fork(101, 100, time=3000)
        perf.mmap2("/tmp/x.so", 0x9000, 0x1000, 0x80, pid=101, time=4000,
                   build_id=bytes(range(1, 21)))
        for number in range(2):
            perf.sample(0x7010 + number, pid=100, tid=102, time=5000 + number, cpu=1,
                        callchain=[0x7010 + number, 0x400010], attr=number % len(attrs))
        perf.exit(101, 100, time=6000)
    perf.finished_round()
    perf.feature_string(HOSTNAME, "a-host")
    perf.feature_string(ARCH, "x86_64")
    perf.feature_clock()
    perf.feature_build_ids([(bytes(range(20)), "/usr/bin/app", -1)])
    return perf


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True).stdout


def script():
    """perf script's output without what differs between versions of perf."""
    lines = run("perf", "script", "-i", "perf.data", "--show-mmap-events", "--show-task-events",
                "-F", "pid,tid,ip").splitlines()
    text = ""
    for line in lines:
        words = [word for word in line.split() if word != "[unknown]"]
        if len(words) == 1 and re.fullmatch("[0-9a-f]+", words[0]):  # of a call chain
            text = text.rstrip("\n") + " " + words[0] + "\n"
        elif words:
            text += re.sub(r"\]: \S+ ", "]: ", " ".join(words)) + "\n"
    return text


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def check_reads(perf, **options):
    perf.write("perf.data", **options)
    printed = script()
    check(printed == SCRIPT, f"perf script printed\n{printed}")


def one_attr():
    return [Attr(IP | TID | TIME | CPU | PERIOD | CALLCHAIN)]


def two_attrs():
    bits = IDENTIFIER | IP | TID | TIME | ID | CPU | CALLCHAIN
    return [Attr(bits, ids=[11, 12]), Attr(bits, config=1, ids=[13])]


def test_file():
    check_reads(build(one_attr()))


def test_two_attrs():
    check_reads(build(two_attrs()))


def test_big_endian():
    check_reads(build(two_attrs(), ">"))


def test_attrs_last():
    check_reads(build(two_attrs()), attrs_last=True)


def test_pipe():
    check_reads(build(two_attrs()), pipe=True)


def test_compressed():
    perf = build(one_attr(), compressed=True)
    check(perf.data.count(COMPRESSED.to_bytes(4, "little") + b"\0\0") > 3, "few chunks")
    check_reads(perf)


def test_features():
    build(one_attr()).write("perf.data")
    header = run("perf", "report", "-i", "perf.data", "--header-only")
    for line in ("# hostname : a-host", "# arch : x86_64", "# clockid: monotonic (1)"):
        check(line in header, f"no {line} in\n{header}")
    rows = run("perf", "buildid-list", "-i", "perf.data")
    check(rows == bytes(range(20)).hex() + " /usr/bin/app\n", rows)


def test_reader():
    """Both byte orders and both forms read the same, and as they were built."""
    seen = set()
    for order in "<>":
        for pipe in (False, True):
            build(two_attrs(), order).write("perf.data", pipe=pipe)
            file = perfread.read("perf.data")
            check(file.build_ids() == [(bytes(range(20)), "/usr/bin/app", -1)], "build-ids")
            check((file.arch(), file.attrs[1].ids) == ("x86_64", [13]), "arch or ids")
            check([sample.callchain for sample in file.of_type("SAMPLE")]
                  == [[0x7010, 0x400010], [0x7011, 0x400010]], "call chains")
            check(file.of_type("SAMPLE")[1].id == 13, "id of the second sample")
            seen.add("\n".join(str(record) for record in file.records if record.type < 64))
    check(len(seen) == 1, "\n\n".join(seen))
    check("MMAP2 101/101 4000 0x9000+0x1000 @0x80 /tmp/x.so" in seen.pop(), "mapping")


def test_jitdump():
    """perf inject takes the dumps in, and perfread sees its mappings."""
    miniprofile.profile(os.getcwd()).write("perf.data")
    for pid in miniprofile.PIDS:
        miniprofile.dump(pid).write(f"jit-{pid}.dump")
    run("perf", "inject", "--jit", "-i", "perf.data", "-o", "out.data")
    added = [(map.pid, map.addr, map.time, os.path.basename(map.filename))
             for map in perfread.read("out.data").of_type("MMAP2") if "jitted-" in map.filename]
    check(added == [(pid, addr, 2000 + number, f"jitted-{pid}-{number}.so")
                    for pid in miniprofile.PIDS
                    for number, (_, addr) in enumerate(miniprofile.FUNCTIONS)], added)
    symbols = run("perf", "script", "-i", "out.data", "-F", "ip,sym").split()[1::2]
    check(symbols == ["first", "first", "second", "second"], symbols)


def main():
    try:
        run("perf", "--version")
    except (OSError, subprocess.CalledProcessError):
        print("skip: no perf that works here")
        return SKIPPED
    failed = 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.environ["HOME"] = folder  # perf inject fills ~/.debug
            try:
                test()
                print(f"ok      {name}")
            except (AssertionError, subprocess.CalledProcessError) as error:
                print(f"FAIL    {name}: {error}\n{getattr(error, 'stderr', None) or ''}")
                failed += 1
            os.chdir("/")
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
