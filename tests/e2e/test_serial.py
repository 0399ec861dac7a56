#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs and what is said are the same with one thread as with several.

    test_serial.py [FIXTURE...]

$NO_THREADS is a library that keeps a program from starting threads, $GENERATE bench-generate.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
# Several dumps; foreign bytes in one of them; lines; unwind tables; many images.
NAMES = ["py313-fork", "node-family", "node-churn", "llvm19-orc-dwarf", "tiny-churn"]
# Oddities of many dumps have an order, too.
GENERATED = ["--functions", "4000", "--processes", "40", "--lines", "3", "--unwind"]


def inject(recording, scratch, serial):
    """Digests of the outputs, by name, and what was printed."""
    out = scratch / "out"
    out.mkdir()
    environment = dict(os.environ)
    refused = scratch / "refused"
    if serial:
        environment["REFUSED"] = str(refused)
        environment["LD_PRELOAD"] = os.environ["NO_THREADS"]
        environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
    run = subprocess.run([os.environ["JITINJECT"], "-v", "-i", recording / "perf.data",
                          "-o", out / "perf.jit.data"], capture_output=True, env=environment)
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
    if serial:
        refused.unlink()  # fails where no thread was refused
    found["printed"] = (run.returncode, run.stdout, run.stderr)
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    return found


def judge(name, recording, scratch):
    parallel, serial = inject(recording, scratch, False), inject(recording, scratch, True)
    different = [key for key in sorted(parallel.keys() | serial.keys())
                 if parallel.get(key) != serial.get(key)]
    if parallel["printed"][0] != 0 or "perf.jit.data" not in parallel:
        different.append("status")
    for key in different:
        print(f"FAIL: {name}: {key}: {parallel.get(key)} with threads, {serial.get(key)} without")
    return not different


def main(names):
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        recordings = {name: FIXTURES / name for name in names or NAMES}
        if not names:
            generated = recordings["generated"] = scratch / "generated"
            subprocess.run([os.environ["GENERATE"], *GENERATED, "--out", generated], check=True)
        failed = [name for name, recording in recordings.items()
                  if not judge(name, recording, scratch)]
    print(f"{len(recordings) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
