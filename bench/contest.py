# SPDX-License-Identifier: MIT
"""Runs each tool several times on one recording.

The tools take turns within a round, so that whatever else the machine does hits all of them alike,
and each run starts without the files of the one before.
"""

import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import machine

TOOLS = ["perf-inject", "other-perf-inject", "samply", "jitinject", "cat"]
FROM_DEBIAN = {"other-perf-inject", "samply"}  # of sid, by DEBIAN_TOOL
# What bench/targets compares with besides. "input" is no tool: the recording as it is.
MORE_TOOLS = ["cp", "input"]
SLOW = 10  # seconds
MEMORY = 64 << 20  # of a tool, beside what it writes; bytes
# So much more is touched than a run takes: some of it is lent again before the run comes to it.
TOUCH = 3
OTHER_PERF_UP_TO = 20000  # functions: half a minute

KILLED = "137"  # the exit status of timeout then

# The files outside generated code that bench-generate's samples hit: nobody can name these.
RUNTIME_FILES = {"app", "libruntime.so"}
# What jitinject -vv says of its steps.
STEP_ROW = re.compile(r"(\w+): ([\d.]+) ms, ([\d.]+) ms on a processor")
REPORT_ROW = re.compile(r"\s+[\d.]+%\s+[\d.]+%\s+(\d+)  \S+ +(\S+) +\[.\] (.*)")

# `command` takes the recording's paths and the output's; `perf` is the one to read the output with:
# an older perf reads none of a newer one. It is measured up to `limit` functions.
Tool = collections.namedtuple("Tool", "key name version command perf limit")


def version(command, expression):
    try:
        found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.search(expression, found)
    return match.group(1) if match else None


def name_with(program, number):
    """The version is part of the name where it makes a difference: two numbers of it."""
    return "%s %s" % (program, ".".join(number.split(".")[:2]))


def perf_inject(key, perf, limit=None):
    number = version(perf + ["version"], r"perf version (\S+)")
    if number is None:
        return None
    return Tool(key, name_with("perf inject", number), number,
                lambda data, dumps, out: perf + ["inject", "--jit", "-i", data, "-o", out],
                perf, limit)


def samply_import(key, samply):
    """It reads the dumps itself, and what it writes is for its own viewer, not for perf."""
    number = version(samply + ["--version"], r"samply (\S+)")
    if number is None:
        return None
    return Tool(key, name_with("samply import", number), number,
                lambda data, dumps, out: samply + ["import", "--save-only", "-o",
                                                   out + ".json.gz", data],
                None, None)


def debian_program(package, name):
    """The command for a program of Debian sid; None where no DEBIAN_TOOL runs it."""
    if "DEBIAN_TOOL" not in os.environ:
        return None
    # It looks for its files below HOME, which is another one for what is measured.
    os.environ.setdefault("DEBIAN_TOOL_DIR", os.path.expanduser("~/.cache/debian-tool"))
    return [os.environ["DEBIAN_TOOL"], "sid", package, name]


def tools(args):
    """Those that were asked for, all of which have to be there, but Debian's without DEBIAN_TOOL."""
    found = []
    for key in args.tools:
        if key in FROM_DEBIAN and "DEBIAN_TOOL" not in os.environ:
            continue
        if key == "perf-inject":
            tool = perf_inject(key, ["perf"])
        elif key == "other-perf-inject":
            tool = perf_inject(key, debian_program("linux-perf", "perf"), args.other_perf_up_to)
        elif key == "samply":
            tool = samply_import(key, debian_program("samply", "samply"))
        elif key == "jitinject":
            path = program(args, "jitinject")
            more = shlex.split(args.options)
            tool = Tool(key, key, version([path, "--version"], r"(\d\S*)") or "unknown",
                        lambda data, dumps, out: [path, "-i", data, "-o", out, "-vv"] + more,
                        ["perf"], None)
        elif key == "cat":
            tool = Tool(key, key, version(["cat", "--version"], r"(\d\S*)") or "unknown",
                        lambda data, dumps, out: ["cat", data] + dumps, None, None)
        elif key == "cp":
            tool = Tool(key, key, version(["cp", "--version"], r"(\d\S*)") or "unknown",
                        lambda data, dumps, out: ["cp", data, out], None, None)
        else:
            tool = Tool(key, key, "-", lambda data, dumps, out: ["true"], ["perf"], None)
        if tool is None:
            sys.exit("%s: no version to be had" % key)
        found.append(tool)
    return found


def program(args, name):
    path = os.path.abspath(os.path.join(args.build, name))
    for candidate in (path, os.path.join(os.path.dirname(path), "bench", name)):
        if os.access(candidate, os.X_OK):
            return candidate
    sys.exit("%s: not there; build it or give --build" % path)


def new_directory(path):
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


def remove_all_but(directory, keep):
    for entry in os.scandir(directory):
        if entry.path not in keep:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def count_written(directories, but):
    """Inodes and the bytes of disk that they take: a hard link counts once."""
    sizes = {}
    waiting = list(directories)
    while waiting:
        for entry in os.scandir(waiting.pop()):
            if entry.path in but:
                continue
            status = entry.stat(follow_symlinks=False)
            sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return len(sizes), sum(sizes.values())


def last_line(file):
    file.seek(0)
    lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def measure(args, command, stdout, home, limit=None, touch=0):
    """What the command took; `error` is None when it went well. `limited`: it was ended after so
    many seconds. `touch`: bytes of memory that are touched before."""
    environment = dict(os.environ, HOME=home, LC_ALL="C")
    result = os.path.join(home, os.pardir, "measured")
    if limit:
        command = ["timeout", "--signal=KILL", str(limit)] + command
    with open(stdout, "wb") as out, tempfile.TemporaryFile() as errors:
        # Python ignores SIGPIPE, and here that is left so: perf would die of the pipe to an addr2line
        # that ends at once because the runtime's own files are not there.
        subprocess.run([program(args, "bench-measure"), result, str(touch)] + command, check=True,
                       stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment,
                       restore_signals=False)
        with open(result, encoding="ascii") as file:
            status, wall, user, system, peak = file.read().split()
        limited = limit is not None and status == KILLED
        error = None if status == "0" or limited else "exit %s: %s" % (status, last_line(errors))
    os.unlink(result)
    return {"wall": float(wall), "cpu": float(user) + float(system), "peak": int(peak) * 1024,
            "limited": limited, "error": error}


def read_steps(log):
    """What each step of jitinject took, in seconds: time that passed, and on a processor."""
    with open(log, encoding="utf-8", errors="replace") as file:
        rows = map(STEP_ROW.fullmatch, file.read().splitlines())
        return {row[1]: [float(row[2]) / 1000, float(row[3]) / 1000] for row in rows if row}


def count_named(report):
    """The samples in generated code by perf report, and those of them that have a name."""
    samples = named = 0
    with open(report, encoding="utf-8", errors="replace") as file:
        for line in file:
            row = REPORT_ROW.fullmatch(line.rstrip())
            if row and row[2] not in RUNTIME_FILES:
                samples += int(row[1])
                named += 0 if row[3].startswith("0x") else int(row[1])
    return samples, named


class Recording:
    def __init__(self, args, functions, scratch):
        self.directory = os.path.join(scratch, "recording")
        self.work = os.path.join(scratch, "work")
        self.command = [program(args, "bench-generate"), "--functions", str(functions),
                        "--out", self.directory] + shlex.split(args.generate)
        if args.samples:
            self.command += ["--samples", str(args.samples)]
        subprocess.run(self.command, check=True)
        os.sync()  # a disk that is busy with it would be part of the first runs
        self.data = os.path.join(self.directory, "perf.data")
        self.dumps = sorted(entry.path for entry in os.scandir(self.directory)
                            if entry.name.startswith("jit-"))
        self.files = {self.data, *self.dumps}
        size = sum(map(os.path.getsize, self.files)) + MEMORY
        self.touch = min(TOUCH * size, machine.spare_memory())

    def read(self):
        """So that each run finds the files in memory."""
        for path in self.files:
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass

    def run(self, args, tool, report=True):
        """One run of the tool, and of what reads its result if that is wanted."""
        remove_all_but(self.directory, self.files)
        new_directory(self.work)
        home = new_directory(os.path.join(self.work, "home"))
        out = os.path.join(new_directory(os.path.join(self.work, "out")), "perf.jit.data")
        log = os.path.join(self.work, "stdout")
        self.read()
        command = tool.command(self.data, self.dumps, out)
        run = measure(args, command, out if tool.key == "cat" else log, home, touch=self.touch)
        run["command"] = command
        run["files"], run["written"] = count_written(
            [self.directory, os.path.dirname(out), home], self.files)
        if tool.key == "jitinject":
            run["steps"] = read_steps(log)
        run["outputs"] = {entry.name: entry.stat().st_size for entry in
                          os.scandir(os.path.dirname(out)) if entry.is_file()}
        if tool.key == "input":
            out = self.data
        if not run["error"] and tool.perf and report:
            command = tool.perf + ["report", "--stdio", "-n", "-i", out]
            run["report"] = measure(args, command, log, home)
            run["report"]["command"] = command
            run["error"] = run["report"]["error"]
            run["report"]["samples"], run["report"]["named"] = count_named(log)
        for name, perf, options in args.more_reports if tool.perf and report else []:
            command = perf + ["report", "--stdio", "-n", "-i", out] + options
            more = run.setdefault("more_reports", {})
            more[name] = measure(args, command, log, home, args.report_limit)
            more[name]["command"] = command
            run["error"] = run["error"] or more[name]["error"]
        if not run["error"] and tool.perf and args.srcline:
            command = tool.perf + ["report", "--stdio", "-s", "srcline", "-i", out]
            run["srcline"] = measure(args, command, log, home, args.srcline)
            run["srcline"]["command"] = command
            run["error"] = run["srcline"]["error"]
        return run


class Contest:
    """Runs of all tools on one recording, a turn of each at a time."""

    def __init__(self, args, functions, contestants, scratch):
        self.args = args
        self.functions = functions
        self.recording = Recording(args, functions, scratch)
        self.tools = [tool for tool in contestants if not tool.limit or functions <= tool.limit]
        self.runs = {tool.key: [] for tool in self.tools}

    def turn(self, number):
        first = number % len(self.tools)
        for tool in self.tools[first:] + self.tools[:first]:
            done = self.runs[tool.key]
            slow = done and done[0]["wall"] > SLOW
            if len(done) < (self.args.slow_runs if slow else self.args.runs):
                done.append(self.recording.run(self.args, tool, len(done) < self.args.reports))

    def end(self, look=None):
        """What came of it; `look` is given the recording before it goes."""
        recording = self.recording
        size = {
            "functions": self.functions,
            "perf_data": os.path.getsize(recording.data),
            "dumps": sum(os.path.getsize(path) for path in recording.dumps),
            "generate": recording.command,
            "tools": [{"key": tool.key, "name": tool.name, "runs": self.runs[tool.key]}
                      for tool in self.tools],
        }
        if look:
            size["look"] = look(recording)
        shutil.rmtree(recording.directory)
        shutil.rmtree(recording.work)
        return size


def measure_size(args, functions, contestants, scratch):
    contest = Contest(args, functions, contestants, scratch)
    for number in range(args.runs):
        contest.turn(number)
    return contest.end()
