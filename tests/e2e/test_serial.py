#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs and what is said are the same with one thread as with several.

    test_serial.py [FIXTURE...]

$NO_THREADS is a library that counts the threads which a program starts, or keeps it from starting any; $GENERATE is
bench-generate.
"""

import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
# Several dumps; foreign bytes in one of them; lines; unwind tables; many images.
NAMES = ["py313-fork", "node-family", "node-churn", "llvm19-orc-dwarf", "tiny-churn"]
# Oddities of many dumps have an order, too.
MANY = ["--functions", "4000", "--processes", "40", "--lines", "3", "--unwind"]
# So large that two threads index it: the scan is over at once, and then that one helps.
LARGE = ["--functions", "40000", "--samples", "1000", "--lines", "3", "--unwind"]
# So long that another thread scans its second half.
SHORT = ["--functions", "100", "--samples", "1000", "--remaps", "1000"]
LONG = ["--functions", "100", "--samples", "700000", "--remaps", "1000"]
OF_LONG = ["long", "late_mappings", "false_rounds", "unknown_record"]
TRIES = 20
COMM, SAMPLE, MMAP2, FINISHED_ROUND, UNKNOWN = 3, 9, 10, 68, 90


def inject(recording, scratch, serial):
    """Digests of the outputs, by name, and what was printed; and how many threads were asked for."""
    out = scratch / "out"
    out.mkdir()
    asked = scratch / "asked"
    environment = {**os.environ, "LD_PRELOAD": os.environ["NO_THREADS"],
                   "ASAN_OPTIONS": "verify_asan_link_order=0",
                   "REFUSED" if serial else "STARTED": str(asked)}
    run = subprocess.run([os.environ["JITINJECT"], "-v", "-i", recording / "perf.data",
                          "-o", out / "perf.jit.data"], capture_output=True, env=environment)
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
    threads = asked.stat().st_size
    asked.unlink()
    found["printed"] = (run.returncode, run.stdout, run.stderr)
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    return found, threads


def records(data, wanted):
    """Offsets of the records of a type."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    found = []
    while at < end:
        kind, size = struct.unpack_from("<I2xH", data, at)
        if kind == wanted:
            found.append(at)
        at += size
    return found


def late_mappings(data, at):
    """Memory is mapped again in the second half, too."""
    late = at[len(at) * 3 // 4]
    time = data[late + 24:late + 32]
    moved = bytearray()
    for mapping in reversed(records(data, MMAP2)[-300:]):
        size = struct.unpack_from("<H", data, mapping + 6)[0]
        moved += data[mapping:mapping + size - 8] + time
        del data[mapping:mapping + size]
    late -= len(moved)
    data[late:late] = moved


def many_events(data, at):
    """Before these come so many events that a scout keeps no more of them."""
    for event in at[len(at) * 6 // 10:len(at) * 7 // 10]:
        struct.pack_into("<IH", data, event, COMM, 0)
        struct.pack_into("<Q", data, event + struct.unpack_from("<H", data, event + 6)[0] - 8, 0)
    late_mappings(data, at)


def false_rounds(data, at):
    """Words in samples that look like the end of a round, wherever one is looked for."""
    for sample in at[len(at) * 2 // 5:len(at) * 3 // 5]:
        size = struct.unpack_from("<H", data, sample + 6)[0]
        struct.pack_into("<IHH", data, sample + size - 8, FINISHED_ROUND, 0, 8)


def unknown_record(data, at):
    struct.pack_into("<I", data, at[len(at) * 3 // 4], UNKNOWN)


def broken_record(data, at):
    struct.pack_into("<H", data, at[len(at) * 3 // 4] + 6, 4)


def recordings(names, scratch):
    """Names and directories, of which each is there until the next is asked for."""
    for name in names or NAMES:
        yield name, FIXTURES / name
    if names:
        return
    for name, options in ("many", MANY), ("large", LARGE), ("short", SHORT), ("long", LONG):
        generated = scratch / name
        subprocess.run([os.environ["GENERATE"], *options, "--out", generated], check=True)
        yield name, generated
    path = generated / "perf.data"
    data = path.read_bytes()
    at = records(data, SAMPLE)
    for change in late_mappings, many_events, false_rounds, unknown_record, broken_record:
        changed = bytearray(data)
        change(changed, at)
        path.write_bytes(changed)
        yield change.__name__, generated


def judge(name, recording, scratch, least):
    """Whether it is good, and how many threads there were: `least` of them, if one that begins only
    while there is enough to do for it does so now and then."""
    for _ in range(TRIES):
        parallel, threads = inject(recording, scratch, False)
        if threads >= least:
            break
    serial, _ = inject(recording, scratch, True)
    different = [key for key in sorted(parallel.keys() | serial.keys())
                 if parallel.get(key) != serial.get(key)]
    good = name != "broken_record"
    if (parallel["printed"][0] == 0) != good or ("perf.jit.data" in parallel) != good:
        different.append("printed")
    for key in different:
        print(f"FAIL: {name}: {key}: {parallel.get(key)} with threads, {serial.get(key)} without")
    return not different, threads


def main(names):
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        good, threads = [], {}
        for name, recording in recordings(names, scratch):
            # One more reads from a second place.
            least = threads["short"] + 1 if name in OF_LONG else 0
            is_good, threads[name] = judge(name, recording, scratch, least)
            if threads[name] < least:
                is_good = False
                print(f"FAIL: {name} was not read from two places")
            good.append(is_good)
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed, 0 skipped")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
