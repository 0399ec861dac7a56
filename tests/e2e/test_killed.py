#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that a signal ends leaves nothing, also where the file system has no files without names.

    test_killed.py

$NO_UNNAMED is a library that has it so, and sends the signal $SIGNAL while outputs are being written.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

FIXTURE = pathlib.Path(__file__).resolve().parent.parent / "fixtures/tiny-plain"


def run(out, number, handler):
    """The status, and the names of what is there."""
    environment = {**os.environ, "LD_PRELOAD": os.environ["NO_UNNAMED"], "ASAN_OPTIONS": "verify_asan_link_order=0"}
    if number:
        environment["SIGNAL"] = str(int(number))
    process = subprocess.run([os.environ["JITINJECT"], "-q", "-i", FIXTURE / "perf.data", "-o", f"{out}/perf.jit.data"],
                             env=environment,
                             preexec_fn=lambda: number and signal.signal(number, handler))
    return process.returncode, sorted(os.listdir(out))


def main():
    whole = 0, ["jit-31691-jitted-0.so", "perf.jit.data"]
    cases = [(None, None, whole)]
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        cases += [(number, signal.SIG_DFL, (-number, [])), (number, signal.SIG_IGN, whole)]
    failed = 0
    for number, handler, expected in cases:
        with tempfile.TemporaryDirectory() as out:
            found = run(out, number, handler)
        verdict = "ok" if found == expected else f"FAIL: {found}, not {expected}:"
        print(verdict, *(number.name, handler.name) if number else ["no signal"])
        failed += found != expected
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
