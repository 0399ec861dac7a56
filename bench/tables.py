# SPDX-License-Identifier: MIT
"""Prints what was measured: medians and ratios."""

import shlex
from statistics import median

MIB = 1 << 20
COLUMNS = "  %-18s %4s %9s %19s %9s %9s %9s %10s %9s %11s %7s"


def middle(runs, key):
    return median(run[key] for run in runs)


def good_runs(size, key):
    for tool in size["tools"]:
        if tool["key"] == key:
            return [run for run in tool["runs"] if not run["error"]]
    return []


def ratio(size, over, under):
    """The quotient of two tools' median wall times, or None."""
    over, under = good_runs(size, over), good_runs(size, under)
    return middle(over, "wall") / middle(under, "wall") if over and under else None


def show_machine(where):
    print("%s, %d cores, %.0f GiB, Linux %s; load %.1f at the start" % (
        where["cpu"], where["cores"], where["memory"] / (1 << 30), where["kernel"],
        where["load"]))
    print("working in %s (%s)" % (where["scratch"], where["file_system"]))
    print("versions: " + ", ".join("%s %s" % pair for pair in where["versions"].items()))


def show_tool(tool):
    runs = [run for run in tool["runs"] if not run["error"]]
    for run in tool["runs"]:
        if run["error"]:
            print("  %-18s failed: %s" % (tool["name"], run["error"]))
    if not runs:
        return
    walls = [run["wall"] for run in runs]
    reports = [run["report"] for run in runs if "report" in run]
    report = ("-", "-", "-")
    if reports:
        samples = middle(reports, "samples")
        report = ("%.2f" % middle(reports, "wall"), "%.1f" % (middle(reports, "peak") / MIB),
                  "%.1f%%" % (100 * middle(reports, "named") / samples if samples else 0))
    print(COLUMNS % ((
        tool["name"], len(runs), "%.3f" % median(walls),
        "%.3f .. %.3f" % (min(walls), max(walls)), "%.3f" % middle(runs, "cpu"),
        "%.1f" % (middle(runs, "peak") / MIB), "%d" % middle(runs, "files"),
        "%.1f" % (middle(runs, "written") / MIB)) + report))


def show_steps(size):
    """Where jitinject's time goes: medians, in ms."""
    runs = good_runs(size, "jitinject")
    if not runs or not runs[0]["steps"]:
        return
    steps = ("%s %.1f (%.1f)" % (step,
                                 1000 * median(run["steps"][step][0] for run in runs),
                                 1000 * median(run["steps"][step][1] for run in runs))
             for step in runs[0]["steps"])
    print("  jitinject, ms (of these on a processor): " + ", ".join(steps))


def show_srclines(size):
    """`perf report -s srcline` of each result, and how much longer than of jitinject's it takes."""
    reports = {tool["name"]: [run["srcline"] for run in tool["runs"]
                              if not run["error"] and "srcline" in run] for tool in size["tools"]}
    reports = {name: found for name, found in reports.items() if found}
    for name, found in reports.items():
        wall = middle(found, "wall")
        mark = ">= " if any(report["limited"] for report in found) else ""
        line = "  perf report -s srcline of %s: %s%.2f s" % (name, mark, wall)
        if name != "jitinject" and "jitinject" in reports:
            line += ", %s%.1f times" % (mark, wall / middle(reports["jitinject"], "wall"))
        print(line)


def show_size(size):
    print("\n%d functions: perf.data %.1f MiB, dumps %.1f MiB" % (
        size["functions"], size["perf_data"] / MIB, size["dumps"] / MIB))
    print(COLUMNS % ("", "runs", "wall s", "least .. most", "CPU s", "peak MiB", "files",
                     "MiB", "report s", "report MiB", "named"))
    for tool in size["tools"]:
        show_tool(tool)
    for over, under in (("perf-inject", "jitinject"), ("other-perf-inject", "jitinject"),
                        ("jitinject", "cat")):
        value = ratio(size, over, under)
        if value is not None:
            print("  %s / %s: %.1f" % (over, under, value))
    show_steps(size)
    show_srclines(size)
    print("  commands:")
    print("    " + shlex.join(size["generate"]))
    for tool in size["tools"]:
        for run in tool["runs"][:1]:
            print("    " + shlex.join(run["command"]))
            for report in ("report", "srcline"):
                if report in run:
                    print("    " + shlex.join(run[report]["command"]))
