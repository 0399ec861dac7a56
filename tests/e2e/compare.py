#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what perf reads in the output of jitinject with its reading of perf inject's output.

No frame that `perf inject --jit` names may be without a name or have another one with jitinject,
but for exceptions that the caller gives with their reasons.
"""

import argparse
import collections
import os
import sys

import profiles

# A frame that differs, at a level of both samples: `theirs` or `ours` is None where the chain has no
# such frame.
Difference = collections.namedtuple("Difference", "their_sample our_sample level theirs ours")


class Comparison:
    def __init__(self, perf):
        self.perf = perf
        self.same = 0
        self.unnamed = 0
        self.only_ours = []
        self.only_theirs = []
        self.other_name = []
        self.missing_samples = []
        self.extra_samples = []

    def violations(self, exceptions):
        """Differences that no exception covers; an exception takes (perf, difference)."""
        return [difference for difference in self.only_theirs + self.other_name
                if not any(covers(self.perf, difference) for covers in exceptions)]


def by_key(samples):
    found = collections.defaultdict(list)
    for sample in samples:
        found[sample.event, sample.pid, sample.tid, sample.time].append(sample)
    return found


def compare_chains(result, theirs, ours):
    for level in range(max(len(theirs.frames), len(ours.frames))):
        a = theirs.frames[level] if level < len(theirs.frames) else None
        b = ours.frames[level] if level < len(ours.frames) else None
        a_named = a is not None and a.named
        b_named = b is not None and b.named
        difference = Difference(theirs, ours, level, a, b)
        if a_named and b_named:
            if a.symbol == b.symbol:
                result.same += 1
            else:
                result.other_name.append(difference)
        elif a_named:
            result.only_theirs.append(difference)
        elif b_named:
            result.only_ours.append(difference)
        else:
            result.unnamed += 1


def compare(perf, their_samples, our_samples):
    result = Comparison(perf)
    theirs, ours = by_key(their_samples), by_key(our_samples)
    for key in theirs.keys() | ours.keys():
        result.missing_samples += theirs[key][len(ours[key]):]
        result.extra_samples += ours[key][len(theirs[key]):]
        for a, b in zip(theirs[key], ours[key]):
            compare_chains(result, a, b)
    return result


def show_frame(frame):
    return "(no frame)" if frame is None else f"{frame.symbol} ({os.path.basename(frame.dso)})"


def show(title, differences, examples):
    print(f"  {title:22} {len(differences)}")
    kinds = collections.Counter((show_frame(d.theirs), show_frame(d.ours)) for d in differences)
    for (theirs, ours), count in kinds.most_common(examples):
        first = next(d for d in differences
                     if (show_frame(d.theirs), show_frame(d.ours)) == (theirs, ours))
        print(f"    {count:6} x  perf: {theirs}  ours: {ours}  e.g. pid {first.our_sample.pid}"
              f" time {first.our_sample.time} level {first.level}")


def report(name, result, bad, examples):
    print(name)
    print(f"  {'named the same':22} {result.same}")
    print(f"  {'without a name in both':22} {result.unnamed}")
    show("named only by us", result.only_ours, examples)
    show("named only by perf", result.only_theirs, examples)
    show("named differently", result.other_name, examples)
    if result.missing_samples or result.extra_samples:
        print(f"  samples lost: {len(result.missing_samples)}, new: {len(result.extra_samples)}")
    print(f"  {'violations':22} {len(bad)}")
    sys.stdout.flush()


def compare_recording(workshop, perfs, exceptions=(), examples=5):
    """Compares in each perf; returns whether all is well. perf may fail to inject: that is its own
    fault, and there is nothing to compare with then."""
    well = True
    for perf in perfs:
        name = f"{workshop.recording.folder}, {perf}"
        try:
            theirs = perf.samples(*workshop.perf_inject(perf))
        except profiles.ToolFailed as failure:
            print(f"{name}: perf inject fails: {failure}")
            theirs = None
        ours = perf.samples(workshop.output, workshop.cache())
        if theirs is None:
            if not ours:
                print(f"{name}: no samples in our output")
                well = False
            continue
        result = compare(perf, theirs, ours)
        bad = result.violations(exceptions)
        report(name, result, bad, examples)
        if bad or result.missing_samples or result.extra_samples:
            well = False
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", nargs="+", help="a perf.data, or the folder of one with dumps")
    parser.add_argument("--jitinject", default=os.environ.get("JITINJECT", "jitinject"))
    parser.add_argument("--perf", action="append", default=[], metavar="COMMAND",
                        help="a perf to compare with; default: the machine's, and those of Debian "
                             "trixie and sid if DEBIAN_TOOL is set")
    parser.add_argument("--examples", type=int, default=5)
    arguments = parser.parse_args()
    perfs = [profiles.Perf(command.split()) for command in arguments.perf] or profiles.perfs()
    well = True
    for path in arguments.recording:
        with profiles.Workshop(profiles.Recording(path), arguments.jitinject) as workshop:
            well &= compare_recording(workshop, perfs, examples=arguments.examples)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
