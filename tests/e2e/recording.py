# SPDX-License-Identifier: MIT
"""Records programs with perf, and judges what jitinject makes of the recordings."""

import collections
import contextlib
import functools
import os
import re
import shutil
import sys
import tempfile

import compare
import profiles

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import perfread  # noqa: E402

SKIPPED = 77


def skip(reason):
    print(f"skip: {reason}")
    sys.exit(SKIPPED)


def need(program):
    """The path of a program, without which there is no test."""
    path = shutil.which(program)
    if not path:
        skip(f"{program} is not installed")
    return path


@functools.cache
def need_recorder():
    """The perf of the machine, if it can record here."""
    perf = need("perf")
    with tempfile.TemporaryDirectory() as folder:
        done = profiles.run([perf, "record", "-q", "-k", "mono", "-g", "-o", f"{folder}/perf.data",
                             "true"], check=False)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        skip(f"perf cannot record here: {reason[0]}")
    return perf


def remove_map(dump):
    """Takes away the perf map that the writer of a dump may have left, too, or another process with its
    pid: names are to come from the dump alone."""
    pid = re.search(r"(\d+)\.dump$", dump).group(1)
    with contextlib.suppress(FileNotFoundError):
        os.remove(f"/tmp/perf-{pid}.map")


def record(folder, command, options=("-g",), env=None, clock="mono",
           keep_maps=False):
    """Records `command`, run in `folder`; dumps that it leaves elsewhere are moved there. Without
    `clock` it is perf's own."""
    perf = need_recorder()
    options = ["-N", "-q", "-e", "cpu-clock", "-F", "999", *options]
    if clock:
        options += ["-k", clock]
    profiles.run([perf, "record", *options, "-o", "perf.data", "--", *command], cwd=folder,
                 env=dict(os.environ, **(env or {})))
    for path in profiles.markers(os.path.join(folder, "perf.data")):
        if os.path.dirname(path) != os.path.realpath(folder) and os.path.exists(path):
            shutil.move(path, folder)
        if not keep_maps:
            remove_map(path)
    return profiles.Recording(folder)


def allowed(share, total, tolerance=0.3):
    """How far a share of `total` samples may be off: a busy machine shifts it, and chance does, by three
    standard deviations."""
    return tolerance * share + 3 * (share * (1 - share) / max(total, 1)) ** 0.5


class Outcome:
    """What a perf reads in our output, for the truths that a test knows of its recording."""

    def __init__(self, perf, workshop):
        self.perf = perf
        self.recorded_here = not workshop.recording.is_fixture
        self.home = workshop.cache()
        self.output = workshop.output
        self.said = workshop.said.strip()
        self.samples = perf.samples(self.output, self.home)
        self.images = workshop.images()
        self.mappings = our_mappings(self.output)
        self.faults = []

    def expect(self, is_so, fault):
        if not is_so:
            self.faults.append(fault)

    def tables(self, image):
        """The unwind tables of an image, as text."""
        path = os.path.join(os.path.dirname(self.output), image)
        return profiles.run([need("readelf"), "--debug-dump=frames", path]).stdout

    def leaves(self, pid=None):
        """How many samples ended in which symbol of user space."""
        return collections.Counter(
            sample.frames[0].symbol for sample in self.samples
            if sample.frames and not sample.frames[0].of_kernel and pid in (None, sample.pid))

    def expect_shares(self, weights, pid=None, tolerance=0.3, unknown=0.02):
        """The symbols have shares as their weights, and few other samples are without a name."""
        found = self.leaves(pid)
        total = sum(found[name] for name in weights)
        self.expect(total > 50, f"only {total} samples in {list(weights)}")
        for name, weight in weights.items():
            share, wanted = found[name] / max(total, 1), weight / sum(weights.values())
            self.expect(abs(share - wanted) <= allowed(wanted, total, tolerance),
                        f"{name}: {share:.1%} of the samples, expected {wanted:.1%}")
        if profiles.UNKNOWN not in weights:
            self.expect(found[profiles.UNKNOWN] <= unknown * total,
                        f"{found[profiles.UNKNOWN]} samples without a name, {total} with one")

    def expect_none(self, names, pid=None):
        found = self.leaves(pid)
        wrong = {name: found[name] for name in names if found[name]}
        self.expect(not wrong, f"samples of pid {pid} that cannot be: {wrong}")

    def expect_files(self, images, mappings):
        """So many .so files, and at most so many mapping events that name code in them."""
        self.expect(len(self.images) == images, f"{self.images}: expected {images}")
        self.expect(len(self.mappings) <= mappings,
                    f"{len(self.mappings)} mapping events, expected at most {mappings}:\n    "
                    + "\n    ".join(map(str, self.mappings[:5])))


def chain_of(prefix, first=0, depth=5):
    """The symbols of a stack of tinyjit's functions, the innermost first."""
    return [f"{prefix}{number}" for number in reversed(range(first, first + depth))]


# Of such a stack: the first one calls the outermost function, the other is farther out.
CALLERS = ("jit_burn", "main")


def symbols_of(sample):
    """Of user space, the innermost first; an interrupt may have put frames of the kernel before them."""
    return [frame.symbol for frame in sample.frames if not frame.of_kernel]


def broken_stacks(samples, chains, callers=CALLERS):
    """What is wrong if not almost every sample in a function of a chain of symbols has all that called
    it, the rest of the chain and `callers`; none may have another one in between."""
    outward = {symbol: [*chain[place:], *callers[:1]]
               for chain in chains for place, symbol in enumerate(chain)}
    inside = [symbols for symbols in map(symbols_of, samples) if symbols and symbols[0] in outward]
    if len(inside) <= 40:
        yield f"only {len(inside)} samples in {[chain[0] for chain in chains[:5]]}"
    whole = 0
    for symbols in inside:
        wanted = outward[symbols[0]]
        if wrong := [pair for pair in zip(symbols, wanted) if pair[0] != pair[1]]:
            yield f"{wrong[0][0]} where {wrong[0][1]} was: {symbols[:8]}"
            return
        whole += len(symbols) >= len(wanted) and set(callers) <= set(symbols)
    if whole < 0.95 * len(inside):
        yield f"{whole} of {len(inside)} stacks lead through all functions"


def skips_the_caller(chains, callers=CALLERS):
    """An exception: perf does not find the tables in perf inject's files, and goes by the frame
    pointer. Before the outermost function of a chain has cleared that, and when it has it back, it is
    still its caller's, and leads to the caller's caller."""
    outermost = {chain[-1] for chain in chains}

    def covers(_, difference):
        theirs, ours = map(symbols_of, (difference.their_sample, difference.our_sample))
        return (len(ours) > 1 and ours[0] in outermost and ours[1] == callers[0]
                and set(callers) <= set(ours) and theirs == ours[:1] + ours[2:])
    return covers


def our_mappings(output):
    """The mapping events of our .so files, but for those of their first pages, without code."""
    with open(output, "rb") as file:
        records = perfread.PerfFile(file.read()).of_type("MMAP", "MMAP2")
    return [record for record in records
            if "jitted-" in os.path.basename(record.filename) and record.pgoff != 0]


def judge(recording, truths=None, exceptions=()):
    """Compares with perf inject, and asks `truths` of each perf's Outcome. Whether all is well."""
    with profiles.Workshop(recording, os.environ["JITINJECT"]) as workshop:
        well = compare.compare_recording(workshop, profiles.perfs(), exceptions)
        for perf in profiles.perfs() if truths else []:
            outcome = Outcome(perf, workshop)
            truths(outcome)
            for fault in outcome.faults:
                print(f"{perf}: {fault}")
                well = False
    return well
