#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records node with a function whose hot line is known, and asks perf for the lines of its samples.

V8 adds 0x40 to each address of its line tables, for perfs of before 5.8."""

import collections
import os
import re
import sys
import tempfile

import profiles
import recording

WORKLOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads", "hotline.js")
HOT = "spin"


def hot_line():
    """The number of the line with all the square roots."""
    with open(WORKLOAD) as file:
        return next(number for number, line in enumerate(file, 1) if "Math.sqrt" in line)


def lines_of(perf, data, home):
    """How many samples in the optimised function have which FILE:LINE."""
    symbols = {sample.frames[0].symbol for sample in perf.samples(data, home)}
    symbols = [symbol for symbol in symbols if symbol.startswith(f"JS:*{HOT} ")]
    if not symbols:
        return collections.Counter()
    # Lines of other functions are no matter here, and those of node itself take perf minutes.
    command = perf.command + ["script", "-f", "-i", data, "-S", ",".join(symbols),
                              "-F", "ip,sym,srcline"]
    text = profiles.run(command, env=profiles.home(home)).stdout.decode(errors="replace")
    return collections.Counter(re.findall(r"^\s*[0-9a-f]+ JS:\*.*\n\s*(.*:\d+)$", text, re.M))


def share_of(found, place):
    total = sum(found.values())
    return sum(count for line, count in found.items()
               if os.path.basename(line) == place) / max(total, 1)


def faults(perf, workshop, place):
    found = lines_of(perf, workshop.output, workshop.cache())
    theirs = lines_of(perf, *workshop.perf_inject(perf))
    ours_right, theirs_right = share_of(found, place), share_of(theirs, place)
    print(f"{perf}: {place} has {ours_right:.1%} of the samples, after perf inject "
          f"{theirs_right:.1%}: {theirs.most_common(2)}")
    if sum(found.values()) < 300:
        yield f"only {sum(found.values())} samples with a line: {found}"
    if ours_right < 0.8:
        yield f"expected more than 80 % at {place}: {found}"
    if ours_right < theirs_right - 0.02:
        yield f"perf inject has more at {place}: {theirs}"


def main():
    node = recording.need("node")
    place = f"{os.path.basename(WORKLOAD)}:{hot_line()}"
    well = True
    with tempfile.TemporaryDirectory(prefix="lines-") as folder:
        made = recording.record(folder, [node, "--perf-prof", WORKLOAD], ())
        with profiles.Workshop(made, os.environ["JITINJECT"]) as workshop:
            for perf in profiles.perfs():
                for fault in faults(perf, workshop, place):
                    print(f"{perf}: {fault}")
                    well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
