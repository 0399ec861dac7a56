#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that is refused memory or a thread, at whatever place, writes all that it writes else, or nothing and says so once.

    test_memory.py

$NO_MEMORY is a library that refuses the $REFUSE-th request of a program, and with $ALL all later ones.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
# Options, of which OUT is where the outputs go: lines; unwind tables of several versions; a stream; maps; the other command.
CASES = {
    "debug": ["--dump-dir", "/nowhere", "-i", FIXTURES / "tiny-debug/perf.data", "-o", "OUT/perf.jit.data"],
    "nofp-reuse": ["-i", FIXTURES / "tiny-nofp-reuse/perf.data", "-o", "OUT/perf.jit.data"],
    "stream": ["--dump", f"31703={FIXTURES}/tiny-reuse/jit-31703.dump", "-i", FIXTURES / "tiny-reuse/perf.data"],
    "maps": ["--perf-map", "-i", FIXTURES / "maps/php/perf.data", "-o", "OUT/perf.jit.data"],
    "map": ["map", "-o", "OUT/perf.map", FIXTURES / "tiny-reuse/jit-31703.dump"],
}


class Run:
    def __init__(self, options, scratch, number, all_later):
        out = scratch / "out"
        out.mkdir()
        environment = {**os.environ, "LD_PRELOAD": os.environ["NO_MEMORY"], "ASKED": str(scratch / "asked"),
                       "REFUSE": str(number)}
        if all_later:
            environment["ALL"] = "yes"
        run = subprocess.run([os.environ["JITINJECT"], *[str(option).replace("OUT", str(out)) for option in options]],
                             cwd=out, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=60)
        self.status, self.stdout = run.returncode, run.stdout
        self.stderr = run.stderr.decode(errors="replace")
        self.asked = int((scratch / "asked").read_text())
        self.files = {path.name: path.read_bytes() for path in out.iterdir()}
        for path in out.iterdir():
            path.unlink()
        out.rmdir()


def wrong(run, whole):
    """What is wrong with a run, or None."""
    if run.status == 0:
        return None if (run.files, run.stdout) == (whole.files, whole.stdout) else "status 0, but another output"
    if run.status != 1:
        return f"status {run.status}"
    if run.files:
        return f"status 1, but {sorted(run.files)} are there"
    errors = run.stderr.count("jitinject: error: ")
    return None if errors == 1 else f"{errors} errors are reported"


def test(name, scratch):
    """The number of failures."""
    whole = Run(CASES[name], scratch, 0, False)
    if whole.status != 0 or whole.asked < 10:
        print(f"FAIL {name}: without a refusal status {whole.status}, {whole.asked} requests\n{whole.stderr}")
        return 1
    found = {}
    for all_later, step in (False, 1), (True, 7):
        for number in range(1, whole.asked + 1, step):
            run = Run(CASES[name], scratch, number, all_later)
            if problem := wrong(run, whole):
                found.setdefault(problem, (number, all_later, run.stderr))
    for problem, (number, all_later, stderr) in found.items():
        print(f"FAIL {name}: request {number}{' and all later' * all_later}: {problem}\n{stderr}")
    if not found:
        print(f"ok {name}: {whole.asked} requests")
    return len(found)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        failed = sum(test(name, pathlib.Path(scratch)) > 0 for name in CASES)
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
