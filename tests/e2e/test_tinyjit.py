#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a scenario of tinyjit and checks the shares of its functions, which are known."""

import collections
import os
import re
import sys
import tempfile

import profiles
import recording

DWARF = ("--call-graph", "dwarf,1024")


def equal(prefix, count):
    return {f"{prefix}{number}": 1 for number in range(count)}


def simple(weights, images=1, mappings=1, unknown=0.002):
    """A truth of one process: shares, the number of .so files and of mapping events. Where the clock is
    that of the dump and all files are there, every sample has a name."""
    def check(outcome):
        outcome.expect_shares(weights, unknown=unknown if outcome.recorded_here else 0.02)
        outcome.expect_files(images, mappings)
    return check


def of_fork(outcome):
    pids = collections.Counter(sample.pid for sample in outcome.samples)
    outcome.expect(len(pids) == 2, f"expected two processes: {pids}")
    parent, child = pids  # in order of their first samples, for pids may begin anew
    outcome.expect_shares({"inherited": 1, "of_parent": 1}, parent)
    outcome.expect_shares({"inherited": 1, "of_child": 1}, child)
    outcome.expect_none(["of_child"], parent)
    outcome.expect_none(["of_parent"], child)


def of_prefork(outcome):
    """What one process puts into the memory that they share, all of them run."""
    pids = collections.Counter(sample.pid for sample in outcome.samples)
    outcome.expect(len(pids) == 3, f"expected three processes: {pids}")
    parent, *workers = pids
    outcome.expect_shares({"of_master": 1, "second": 1}, parent)
    for worker in workers:
        outcome.expect_shares({"first": 1, "second": 1, "third": 1}, worker)
    outcome.expect_files(2, 10)  # the code of three processes, two rests each, and the first mapping


def of_stacks(chains, images=1, callers=recording.CALLERS):
    """The recording tells of all memory, also of files that were where code is now, so that code may
    have to be mapped piece by piece."""
    def check(outcome):
        known = callers if outcome.recorded_here else ()
        for fault in recording.broken_stacks(outcome.samples, chains, known):
            outcome.expect(False, fault)
        outcome.expect(len(outcome.images) == images, f"{outcome.images}: expected {images}")
    return check


GENERATIONS = [recording.chain_of(name) for name in ("first", "second", "third")]


def of_generations(outcome):
    """libdw, perf 7's unwinder, takes the tables of the file that it saw first for all that comes
    after it: so stacks are to be whole whichever that is."""
    outcome.expect_shares({"first4": 1, "second4": 1, "third4": 1})
    of_stacks(GENERATIONS, 3)(outcome)
    tables = {outcome.tables(image) for image in outcome.images}
    outcome.expect(len(tables) == 1, "the files have different unwind tables")


def of_calls(outcome):
    """There are samples at all instructions, also where a function has only a part of its frame."""
    of_stacks(INNER, callers=CALLS)(outcome)
    found = outcome.leaves()
    outcome.expect(min(found[name] for name in INNER[0]) > 10, f"few samples in a function: {found}")


def of_lines(outcome):
    """Lines 11, 12 and 13 of a function take 1, 2 and 3 sixths of its time, and so on by tens."""
    outcome.expect_shares(equal("lines", 5))
    text = outcome.perf.script(outcome.output, outcome.home, "ip,sym,srcline")
    found = collections.Counter(map(int, re.findall(r"tiny\.script:(\d+)", text)))
    total = sum(found.values())
    outcome.expect(total > 100, f"only {total} samples with a line: {found}")
    for line in (10 * function + place for function in range(1, 6) for place in (1, 2, 3)):
        share, wanted = found[line] / max(total, 1), line % 10 / 30
        outcome.expect(abs(share - wanted) <= recording.allowed(wanted, total),
                       f"line {line}: {share:.1%} of the samples, expected {wanted:.1%}")


def child_in_parent(perf, difference):
    """perf 7 gives all code of a dump to the process that mapped it, so a child's functions turn up
    in its parent."""
    return (perf.major >= 7 and difference.theirs.symbol == "of_child"
            and difference.ours.symbol == "of_parent")


def before_a_sibling_replaced_it(perf, difference):
    """perf gives code to the process that logged it, so another one keeps what it had there."""
    return difference.theirs.symbol == "first" and difference.ours.symbol == "third"


Scenario = collections.namedtuple("Scenario", "truths options exceptions", defaults=[("-g",), ()])

def stacks(truths, chains, callers=recording.CALLERS):
    return Scenario(truths, DWARF, [recording.skips_the_caller(chains, callers)])


INNER = [recording.chain_of("inner")]
CALLS = ("jit_burn_by_calls", "main")
MANY = [recording.chain_of("f", first) for first in range(0, 1000, 5)]

SCENARIOS = {
    "plain": Scenario(simple(equal("plain", 20))),
    "far": Scenario(simple({f"far{area}_{n}": 1 for area in range(3) for n in range(2)}, 3, 3)),
    "unlogged": Scenario(simple({"before": 1, "after": 1, profiles.UNKNOWN: 2})),
    "late": Scenario(simple(equal("late", 20))),
    "reuse": Scenario(simple(equal("gen", 5), 5, 6)),
    "churn": Scenario(simple(equal("gen", 80), 65, 81)),
    "outoforder": Scenario(simple(equal("gen", 5), 5, 6)),
    "overlap": Scenario(simple({"old": 900, "new": 600}, 2, 4)),
    "same": Scenario(lambda outcome: (outcome.expect(outcome.leaves()["same"] > 100, "too few"),
                                      outcome.expect_files(1, 1))),
    "move": Scenario(simple({"high": 3, "low": 3, "next": 2}, 2, 4)),
    "mprotect": Scenario(simple(equal("mprotect", 20))),
    "memfd": Scenario(simple({"memfd0": 11, **{f"memfd{n}": 1 for n in range(1, 10)}})),
    # More files than layers: in one, a library beside or between the pieces would lie within it.
    "filemap": Scenario(simple({"under": 1, "beside": 1, "overlay_burn": 1, "over": 1}, 3, 4)),
    "neighbour": Scenario(simple({"first": 300, "second": 300, "overlay_burn": 5 * 126}, 2, 2)),
    "fork": Scenario(of_fork, exceptions=[child_in_parent]),
    "fork-own": Scenario(of_fork),
    "prefork": Scenario(of_prefork, exceptions=[before_a_sibling_replaced_it]),
    "threads": Scenario(simple({f"thread{t}_{n}": 1 for t in range(4) for n in range(3)})),
    "nofp": stacks(of_stacks(INNER), INNER),
    "nofp-calls": stacks(of_calls, INNER, CALLS),
    "nofp-mapped": stacks(of_stacks(INNER), INNER),
    "nofp-reuse": stacks(of_generations, GENERATIONS),
    "nofp-many": stacks(of_stacks(MANY), MANY),
    "debug": Scenario(of_lines, ()),
    "debug-biased": Scenario(of_lines, ()),
}


def main(name):
    scenario = SCENARIOS[name]
    if "TINYJIT" not in os.environ:
        recording.skip("tinyjit makes code of x86-64 only")
    with tempfile.TemporaryDirectory(prefix="tinyjit-") as folder:
        command = [os.environ["TINYJIT"], name, folder, os.environ["OVERLAY"]]
        made = recording.record(folder, command, scenario.options)
        return 0 if recording.judge(made, scenario.truths, scenario.exceptions) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
