#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records runtimes that Debian has packages of, and checks names, lines and stacks of two functions
with equal shares.

    test_other_runtimes.py NAME
"""

import collections
import glob
import os
import re
import shutil
import sys
import tempfile

import profiles
import recording

JSC_HOT = r"JSC-(?:FTL|DFG|Baseline): (hot\w+)#"
WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads")


def shares(outcome, pattern):
    """Two functions have an equal share of the samples whose leaf matches `pattern`."""
    found = collections.Counter()
    for symbol, count in outcome.leaves().items():
        if match := re.match(pattern, symbol):
            found[match.group(1)] += count
    total = sum(found.values())
    outcome.expect(total > 100 and len(found) == 2, f"only {total} samples: {found}")
    for name, count in found.items():
        outcome.expect(abs(count / total - 0.5) <= recording.allowed(0.5, total),
                       f"{name}: {count} of {total} samples, two share them")


def callers(outcome, pattern, caller):
    """Most stacks from functions that match `pattern` lead through `caller`; by frame pointers, so
    not those from a prologue."""
    stacks = [sample.frames for sample in outcome.samples
              if sample.frames and re.match(pattern, sample.frames[0].symbol)]
    led = sum(any(re.match(caller, frame.symbol) for frame in frames) for frames in stacks)
    outcome.expect(led > 0.7 * len(stacks), f"{led} of {len(stacks)} stacks lead to {caller}")


def lines(outcome, *wanted):
    """Most of the samples in JIT code are in these lines, and each has its part of them."""
    command = [*outcome.perf.command, "report", "-f", "-i", outcome.output, "--stdio", "-g", "none",
               "--no-children", "-s", "srcline", "--dsos", ",".join(outcome.images)]
    text = profiles.run(command, env=profiles.home(outcome.home)).stdout.decode(errors="replace")
    found = {line: float(percent) for percent, line in re.findall(r"([\d.]+)%\s+(\S+:\d+)", text)}
    total = sum(found.values())
    outcome.expect(sum(found.get(line, 0) for line in wanted) > 0.8 * total > 0 and
                   all(found.get(line, 0) > 0.1 * total for line in wanted),
                   f"expected lines {wanted}, found {sorted(found.items(), key=lambda x: -x[1])[:8]}")


def erlang(folder):
    program = recording.need("erl")
    profiles.run([recording.need("erlc"), os.path.join(WORKLOADS, "hot.erl")], cwd=folder)
    return [program, "+JPperf", "true", "-noshell", "-s", "hot", "main"], {}


def of_erlang(outcome):
    shares(outcome, r"hot:(one|two)/2")
    lines(outcome, "hot.erl:7", "hot.erl:11")
    release = profiles.run(["erl", "-noshell", "-eval",
                            "io:put_chars(erlang:system_info(otp_release)), halt(0)."]).stdout
    if int(release) >= 25:  # the first one with frame pointers
        callers(outcome, r"hot:(one|two)/2", r"hot:burn/3$")


def javascriptcore(folder):
    shells = glob.glob("/usr/lib/*/webkit2gtk-4.*/jsc") + [shutil.which("jsc")]
    if not shells[0]:
        recording.skip("the shell of JavaScriptCore is not installed")
    settings = {"JSC_useJITDump": "1", "JSC_jitDumpDirectory": folder}
    return [shells[0], os.path.join(WORKLOADS, "shell.js")], settings


def of_javascriptcore(outcome):
    shares(outcome, JSC_HOT)
    callers(outcome, JSC_HOT, r"JSC-\w+: (burn|<global>)#")


def llvm(folder):
    """LLVM's listener for its older JIT, as PostgreSQL has it."""
    programs = [shutil.which("lli"), *sorted(glob.glob("/usr/bin/lli-*"))]
    if not any(programs):
        recording.skip("lli is not installed")
    return ([next(filter(None, programs)), "--jit-kind=mcjit", os.path.join(WORKLOADS, "hot.ll")],
            {"JITDUMPDIR": folder})


def of_llvm(outcome):
    shares(outcome, r"(hot_one|hot_two)$")
    lines(outcome, "hot.ll:9", "hot.ll:24")
    callers(outcome, r"hot_", r"main$")


# How to run it in a folder: words and environment; and what perf is to see.
Runtime = collections.namedtuple("Runtime", "command truths")

RUNTIMES = {
    "erlang": Runtime(erlang, of_erlang),
    "javascriptcore": Runtime(javascriptcore, of_javascriptcore),
    "llvm": Runtime(llvm, of_llvm),
}


def main(name):
    runtime = RUNTIMES[name]
    with tempfile.TemporaryDirectory(prefix="runtime-") as folder:
        command, environment = runtime.command(folder)
        made = recording.record(folder, command, env=environment)

        def truths(outcome):
            outcome.expect(not outcome.said, f"jitinject has something to say: {outcome.said}")
            runtime.truths(outcome)

        return 0 if recording.judge(made, truths) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
