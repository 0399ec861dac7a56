#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks through code without frame pointers, of which the second and third versions replaced the
first: wherever the .so files are, and whichever of them a reader sees first."""

import os
import subprocess
import sys
import tempfile

import profiles
import recording

GENERATIONS = ["first", "second", "third"]


def directories(stack):
    """perf inject's own files unwind in perf 7 in /tmp itself only."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    deep = os.path.join(stack.path("a directory"), *[f"{'deep' * 10}{n}" for n in range(20)])
    os.makedirs(deep)
    with tempfile.TemporaryDirectory(prefix="stacks-", dir=memory) as other:
        for directory in ("/tmp", deep, other):
            yield directory


class Stacks:
    def __init__(self, made, folder):
        self.made = made
        self.folder = folder
        self.well = True

    def path(self, name):
        return os.path.join(self.folder, name)

    def inject(self, directory):
        """Returns the .so files."""
        subprocess.run([os.environ["JITINJECT"], "-q", "-i", self.made.data, "-o",
                        self.path("jit.data"), "--so-dir", directory], check=True)
        return {mapping.filename for mapping in recording.our_mappings(self.path("jit.data"))}

    def judge(self, perf, what, names, options=()):
        samples = perf.samples(self.path("jit.data"), self.path(f"home-{perf.version}"), options)
        chains = [recording.chain_of(name) for name in names]
        faults = list(recording.broken_stacks(samples, chains))
        print(f"{perf}, {what}: {len(samples)} samples", *faults, sep="\n  ")
        self.well &= not faults
        return samples


def main():
    if "TINYJIT" not in os.environ:
        recording.skip("tinyjit makes code of x86-64 only")
    with tempfile.TemporaryDirectory(prefix="stacks-") as folder:
        command = [os.environ["TINYJIT"], "nofp-reuse", folder, os.environ["OVERLAY"]]
        made = recording.record(folder, command, ("--call-graph", "dwarf,1024"))
        stacks = Stacks(made, folder)
        for directory in directories(stacks):
            images = stacks.inject(directory)
            try:
                for perf in profiles.perfs():
                    samples = stacks.judge(perf, directory, GENERATIONS)
                    for number, name in enumerate(GENERATIONS[1:], 1):
                        begin = min(sample.time for sample in samples
                                    if sample.frames and sample.frames[0].symbol == f"{name}4")
                        since = f"{begin // 10**9}.{begin % 10**9:09},"
                        stacks.judge(perf, f"from {name}4 on", GENERATIONS[number:],
                                     ("--time", since))
            finally:
                for image in images:
                    os.remove(image)
        return 0 if stacks.well else 1


if __name__ == "__main__":
    sys.exit(main())
