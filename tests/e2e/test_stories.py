#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects into random recordings, and asks perf for the name of every sample, which is known.

    test_stories.py [--first SEED] [--count N] [--steps N]

A fault names its seed; --first SEED --count 1 shows it again.
"""

import argparse
import os
import sys
import tempfile

import profiles
import recording

import perfdiff
import targets
from story import UNKNOWN, Story


def faults(story, samples):
    """What is wrong in the samples that perf read."""
    found = {sample.time: sample for sample in samples}
    for expected in story.samples:
        sample = found.get(expected.time)
        if sample is None or sample.pid != expected.pid:
            yield f"no sample of {expected.pid} at {expected.time}"
            continue
        frame = sample.frames[0]
        name = frame.symbol if "jitted-" in os.path.basename(frame.dso) else UNKNOWN
        if name not in expected.names:
            yield (f"pid {expected.pid} at {expected.time}, {expected.ip:#x}: {name} in {frame.dso},"
                   f" expected {' or '.join(sorted(expected.names))}")


def reads(perf, style):
    """perf 6 does not swap the ids of events in the pipe form."""
    return not (perf.major < 7 and style.pipe and style.id
                and targets.BY_NAME[style.target].order == ">")


def judge(seed, steps, perfs):
    """The faults of one story."""
    with tempfile.TemporaryDirectory(prefix="story-") as folder:
        story = Story(seed, steps=steps)
        story.write(folder)
        data, output = os.path.join(folder, "perf.data"), os.path.join(folder, "out.data")
        profiles.run([os.environ["JITINJECT"], "-q", "-i", data, "-o", output])
        found = []
        if not story.style.compressed:
            changes = perfdiff.compare(data, output)
            found += [f"removed: {record}" for record in changes.removed
                      if record.name not in ("MMAP", "MMAP2")]
        for number, perf in enumerate(perf for perf in perfs if reads(perf, story.style)):
            samples = perf.samples(output, os.path.join(folder, f"home{number}"))
            found += [f"{perf}: {fault}" for fault in faults(story, samples)]
        return [f"{story.style}", *found] if found else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    recording.need("perf")
    perfs = profiles.perfs()
    failed = 0
    for seed in range(options.first, options.first + options.count):
        try:
            found = judge(seed, options.steps, perfs)
        except (AssertionError, profiles.ToolFailed) as failure:
            found = [str(failure)]
        if found:
            failed += 1
            print(f"FAIL: seed {seed}")
            print("\n".join(found[:12]))
    print(f"{options.count - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
