#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records tinyjit, whose dumps are of CLOCK_MONOTONIC, on another clock, and checks the shares.

    test_clocks.py own|raw|boottime|realtime|tai

own: perf's own clock, without -k. 20 functions have an address each, then 5 follow one another at
one ("mixed"), 200 ms each: a shift that is wrong by 120 ms is seen, unless the machine is busy.
Where all have one of their own ("plain"), times are not needed, whatever the clock.
"""

import os
import sys
import tempfile

import recording
from test_tinyjit import equal, simple


def judge(scenario, clock, truths):
    with tempfile.TemporaryDirectory(prefix="clocks-") as folder:
        made = recording.record(folder, [os.environ["TINYJIT"], scenario, folder], clock=clock)
        return recording.judge(made, truths)


def main(clock):
    if "TINYJIT" not in os.environ:
        recording.skip("tinyjit makes code of x86-64 only")
    mixed = {**{f"plain{n}": 20 for n in range(20)}, **{f"gen{n}": 200 for n in range(5)}}
    well = judge("mixed", None if clock == "own" else clock, simple(mixed, 5, 7, unknown=0.02))
    if clock == "own":
        well &= judge("plain", None, simple(equal("plain", 20), 1, 2))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
