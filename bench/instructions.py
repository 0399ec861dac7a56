#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when jitinject needs more than 10 % more instructions than was recorded.

    bench/instructions.py --build DIR --kind KIND [--record]

Counts with callgrind, on recordings of 20,000 functions that are always the same, and compares with
bench/instructions.json, where the figures of each kind of build (compiler, build type, machine) are.
--record writes what was counted into that file: after a change that is worth its cost, or for
another kind of build.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
ALLOWED = 1.10
CASES = {
    "plain": ["--functions", "20000"],
    "lines and unwind tables": ["--functions", "20000", "--lines", "20", "--unwind"],
}
SKIPPED = 77


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build directory")
    parser.add_argument("--kind", required=True, help="what the figures are for")
    parser.add_argument("--record", action="store_true", help="write the figures")
    return parser.parse_args()


def count(build, case, scratch):
    recording = os.path.join(scratch, "recording")
    subprocess.run([os.path.join(build, "bench", "bench-generate"), "--out", recording, *case],
                   check=True)
    # What a test runner has malloc() fill memory with would be counted, too.
    plain = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          os.path.join(build, "jitinject"), "-q",
                          "-i", os.path.join(recording, "perf.data"),
                          "-o", os.path.join(scratch, "perf.jit.data")],
                         env=plain, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit("valgrind: exit %d\n%s" % (run.returncode, run.stderr))
    return int(found[1])


def main():
    args = options()
    with open(FIGURES, encoding="ascii") as file:
        figures = json.load(file)
    if args.kind not in figures and not args.record:
        print("no figures for %s: record them with --record" % args.kind)
        return SKIPPED
    counted = {}
    failed = False
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            counted[name] = count(args.build, case, scratch)
        if args.record:
            print("%s: %d" % (name, counted[name]))
            continue
        recorded = figures[args.kind][name]
        share = counted[name] / recorded
        print("%s: %d instructions, %.1f %% of %d" % (name, counted[name], 100 * share, recorded))
        if share > ALLOWED:
            failed = True
            print("FAIL: more than 10 %% over the recorded figure; if it is worth it, record the new "
                  "one:\n  bench/instructions.py --build %s --kind %s --record"
                  % (args.build, args.kind))
    if args.record:
        figures[args.kind] = counted
        with open(FIGURES, "w", encoding="ascii") as file:
            json.dump(figures, file, indent=1, sort_keys=True)
            file.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
