#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares jitinject with perf inject on the recordings in tests/fixtures; needs no recording.

    test_fixtures.py [NAME...]
"""

import os
import sys

import profiles
import recording
import test_other_runtimes
import test_processes
import test_tinyjit

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
TINY = "tiny-"
# What is known of them depends on a shared object that is not kept.
WITHOUT_OBJECT = ("filemap", "neighbour")
# perf inject passes over the dump of this one, so it has nothing to say about it.
RUNTIMES = {"jsc254": lambda outcome: test_other_runtimes.shares(outcome,
                                                                 test_other_runtimes.JSC_HOT),
            "php82-fpm": test_processes.of_fpm}


def judge(name):
    made = profiles.Recording(os.path.join(FIXTURES, name), is_fixture=True)
    scenario = test_tinyjit.SCENARIOS.get(name[len(TINY):]) if name.startswith(TINY) else None
    if scenario is None or name[len(TINY):] in WITHOUT_OBJECT:
        return recording.judge(made, RUNTIMES.get(name))
    return recording.judge(made, scenario.truths, scenario.exceptions)


def main(names):
    recording.need("perf")
    names = names or sorted(name for name in os.listdir(FIXTURES)
                            if os.path.exists(os.path.join(FIXTURES, name, "perf.data")))
    failed = []
    for name in names:
        try:
            well = judge(name)
        except profiles.ToolFailed as failure:
            print(failure)
            well = False
        if not well:
            print(f"FAIL: {name}")
            failed.append(name)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
