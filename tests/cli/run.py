#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the cases of the command line: what is printed, what is written, the exit status.

    tests/cli/run.py [--update] [--jobs N] [--jitinject FILE] [CASE...]

A case is a file NAME.case below this folder: why it is there (# lines), a sh script, and what is
expected of it:

    # The input has to be named.
    jitinject
    --- stderr
    jitinject: no input given: use -i FILE
    --- status 2

The script runs in an empty folder, with jitinject and what is in bin/ on PATH, and the program in
$JITINJECT. $FIXTURES is tests/fixtures, $BUILDER a script that makes a small profile
(miniprofile.py), and Python finds the modules of tests/lib. The name of the folder becomes $PWD in
the output.

A section "--- stdout", "--- stderr" (left out: empty) holds the exact output; with "glob" behind
the name, a * in a line stands for any run of characters. "--- status N" (left out: 0).
--update writes what came out into the case; lines that match their pattern stay as they are.

The last line is "N passed, N failed, N skipped". A script that exits with 77 is skipped; what it
printed is the reason.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 180  # seconds, of one case; most of it is for busy machines
SKIPPED = 77
SECTION = re.compile(r"^--- (?:(stdout|stderr)( glob)?|status (\d+))$")


class Stream:
    """What is expected on stdout or stderr."""

    def __init__(self, lines=(), glob=False):
        self.lines, self.glob = list(lines), glob

    def accepts(self, wanted, line):
        if not self.glob:
            return wanted == line
        pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
        return re.fullmatch(pattern, line) is not None

    def differences(self, lines):
        if len(lines) == len(self.lines) and all(map(self.accepts, self.lines, lines)):
            return []
        return list(difflib.unified_diff(self.lines, lines, "expected", "found", lineterm=""))

    def updated(self, lines):
        """The stream that accepts `lines`, with every old line that does its part."""
        kept = [next((old for old in self.lines if self.accepts(old, line)), line)
                for line in lines]
        return Stream(kept, self.glob)


class Case:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(HERE).with_suffix(""))
        self.streams = {"stdout": Stream(), "stderr": Stream()}
        self.status = 0
        script, into = [], None
        for line in path.read_text().splitlines():
            if match := SECTION.match(line):
                stream, glob, status = match.groups()
                if stream:
                    self.streams[stream] = Stream(glob=bool(glob))
                    into = self.streams[stream].lines
                else:
                    self.status, into = int(status), []
            else:
                (script if into is None else into).append(line)
        self.script = "\n".join(script) + "\n"

    def write(self):
        text = self.script
        for name, stream in self.streams.items():
            if stream.lines:
                text += "\n".join([f"--- {name}{' glob' * stream.glob}", *stream.lines, ""])
        if self.status:
            text += f"--- status {self.status}\n"
        self.path.write_text(text)


class Result:
    """How a case went: `verdict` is ok, FAIL, skip or updated."""

    def __init__(self, case, verdict, details=()):
        self.case, self.verdict, self.details = case, verdict, list(details)


def run_script(script, environment):
    """(status, stdout lines, stderr lines); the status is None if it took too long."""
    scratch = tempfile.mkdtemp(prefix="jitinject-cli-")
    try:
        process = subprocess.Popen(
            ["sh", "-c", script], cwd=scratch, env={**environment, "HOME": scratch},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        try:
            outputs = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, [], []
        texts = [output.decode(errors="replace").replace(scratch, "$PWD") for output in outputs]
        return process.returncode, texts[0].splitlines(), texts[1].splitlines()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run_case(case, environment, update):
    status, *found = run_script(case.script, environment)
    if status is None:
        return Result(case, "FAIL", [f"still running after {TIMEOUT} s"])
    if status == SKIPPED and case.status != SKIPPED:
        return Result(case, "skip", found[0] + found[1])
    details = []
    if status != case.status:
        details.append(f"status {status}, expected {case.status}")
    for (name, stream), lines in zip(case.streams.items(), found):
        if differences := stream.differences(lines):
            details += [name + ":", *differences]
    if not details:
        return Result(case, "ok")
    if not update:
        return Result(case, "FAIL", details)
    case.status = status
    case.streams = {name: stream.updated(lines)
                    for (name, stream), lines in zip(case.streams.items(), found)}
    case.write()
    return Result(case, "updated", details)


def find_cases(names):
    cases = [Case(path) for path in sorted(HERE.rglob("*.case"))]
    if not names:
        return cases
    found = [case for case in cases if any(case.name.startswith(name) for name in names)]
    if not found:
        sys.exit(f"no such case: {' '.join(names)}")
    return found


def environment_for(jitinject):
    tests = HERE.parent
    return {
        **os.environ,
        "JITINJECT": str(jitinject),
        "FIXTURES": str(tests / "fixtures"),
        "BUILDER": str(tests / "lib" / "miniprofile.py"),
        "PYTHONPATH": str(tests / "lib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.pathsep.join([str(jitinject.parent), str(HERE / "bin"),
                                 os.path.dirname(sys.executable),
                                 os.environ["PATH"]]),
        "LC_ALL": "C.UTF-8",
    }


def main():
    parser = argparse.ArgumentParser(description="Runs the cases of the command line.")
    parser.add_argument("--update", action="store_true", help="write what came out into the cases")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time (2)")
    parser.add_argument("--jitinject", type=pathlib.Path, help="the program (build/jitinject)",
                        default=HERE.parent.parent / "build" / "jitinject")
    parser.add_argument("cases", nargs="*", help="names, or beginnings of names (all)")
    options = parser.parse_args()
    jitinject = options.jitinject.resolve()
    if not os.access(jitinject, os.X_OK):
        sys.exit(f"no program at {jitinject}: build it, or name it with --jitinject")

    environment = environment_for(jitinject)
    counts = {"ok": 0, "updated": 0, "FAIL": 0, "skip": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda case: run_case(case, environment, options.update),
                               find_cases(options.cases)):
            counts[result.verdict] += 1
            reason = ": " + " ".join(result.details) if result.verdict == "skip" else ""
            print(f"{result.verdict:7} {result.case.name}{reason}", flush=True)
            if result.verdict in ("FAIL", "updated"):
                print("\n".join("        " + line for line in result.details))
    print(f"{counts['ok'] + counts['updated']} passed, {counts['FAIL']} failed, "
          f"{counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
