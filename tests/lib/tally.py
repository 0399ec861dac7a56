# SPDX-License-Identifier: MIT
"""Counts the single cases in Meson's testlog.json: prints "PASSED FAILED SKIPPED".

A test that ends with the line "N passed, N failed, N skipped", and a cmocka program, stand for
their cases; any other test is one case. Reasons of skips and names of failures go to stderr.
"""

import json
import re
import sys

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
CMOCKA = [re.compile(pattern, re.MULTILINE) for pattern in (
    r"^\[  PASSED  \] (\d+) test\(s\)\.$",
    r"^\[  FAILED  \] .*?(\d+) test\(s\), listed below:$",
    r"^\[  SKIPPED \] .*?(\d+) test\(s\), listed below:$")]
REASON = re.compile(r"^skip\b.*", re.MULTILINE | re.IGNORECASE)
# What a cmocka test says before it skips.
CMOCKA_REASON = re.compile(r"^\[ RUN      \] (\S+)\n([^\[]*)\n\[  SKIPPED \] \1$", re.MULTILINE)


def output_of(test):
    return test.get("stdout", "") + "\n" + test.get("stderr", "")


def reasons(test):
    """Why cases of a test were skipped."""
    output = output_of(test)
    return REASON.findall(output) + [reason for _, reason in CMOCKA_REASON.findall(output)]


def cases(test):
    """(passed, failed, skipped) of one test."""
    output = output_of(test)
    if summaries := SUMMARY.findall(output):
        counts = [int(number) for number in summaries[-1]]
    else:
        counts = [sum(map(int, pattern.findall(output))) for pattern in CMOCKA]
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return counts if any(counts) else [1, 0, 0]
    if test["result"] == "SKIP":
        return counts if counts[2] else [counts[0], counts[1], 1]
    return counts if counts[1] else [counts[0], 1, counts[2]]  # also one that was killed


def main(path):
    sums = [0, 0, 0]
    with open(path) as log:
        for line in log:
            test = json.loads(line)
            counts = cases(test)
            sums = [total + number for total, number in zip(sums, counts)]
            if counts[1]:
                print(f"FAIL: {test['name']} ({test['result']})", file=sys.stderr)
            if counts[2]:
                for reason in reasons(test) or ["no reason given"]:
                    print(f"SKIP: {test['name']}: {reason}", file=sys.stderr)
    print(*sums)


if __name__ == "__main__":
    main(sys.argv[1])
