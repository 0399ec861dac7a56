#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what bench/run measured: time and memory against the number of functions, log-log.

    bench/run --json runs.json --plot plot.svg plot.png
    bench/plot.py runs.json plot.svg plot.png    # again, without measuring

Needs gnuplot. The form of a picture is that of its name.
"""

import argparse
import collections
import json
import math
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources may be read-only

import tables

# Without markup: the name of a processor may hold what gnuplot takes for some. A point of the same
# size is twice as large in one as in the other.
TERMINALS = {"svg": "svg noenhanced size 1000,440 font 'Sans,11' background 'white'; "
                    "set pointsize 0.7",
             "png": "pngcairo noenhanced size 1500,660 font 'Sans,16'; set pointsize 1.5"}
PANELS = [("wall", 1, "wall time", "seconds"),
          ("peak", tables.MIB, "peak resident memory", "MiB")]
# Colour and gnuplot's type of point: told apart by those who see no colours, too.
STYLES = {"perf-inject": ("#d55e00", 5), "other-perf-inject": ("#e69f00", 13),
          "samply": ("#aa4499", 9), "jitinject": ("#0072b2", 7), "cat": ("#555555", 11)}
LABEL_HEIGHT = 0.06  # of the height of a panel

Line = collections.namedtuple("Line", "key name points")


def picture(name):
    """The type of an argument."""
    if name.rpartition(".")[-1] not in TERMINALS:
        raise argparse.ArgumentTypeError("%s: not a name of an .svg or a .png" % name)
    return name


def need_gnuplot():
    if not shutil.which("gnuplot"):
        sys.exit("gnuplot, which draws, is not on PATH: install it (Debian, Ubuntu: gnuplot-nox)")


def quoted(text):
    return "'%s'" % text.replace("'", "''")


def lines_of(sizes, key, unit):
    """The line of each tool, through medians."""
    points = {}
    for size in sizes:
        for tool in size["tools"]:
            runs = tables.good_runs(size, tool["key"])
            if runs:
                points.setdefault((tool["key"], tool["name"]), []).append(
                    (size["functions"], tables.middle(runs, key) / unit))
    return [Line(*names, sorted(found)) for names, found in points.items()]


def decades(values):
    """The powers of ten below and above all values."""
    low = math.floor(math.log10(min(values)))
    return low, max(low + 1, math.ceil(math.log10(max(values))))


def label_heights(wanted):
    """Heights in a panel, 0 to 1, near to those that are wanted, but with room for each."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    heights = list(wanted)
    for below, above in zip(order, order[1:]):
        heights[above] = max(heights[above], heights[below] + LABEL_HEIGHT)
    limit = 1.0
    for index in reversed(order):
        heights[index] = min(heights[index], limit)
        limit = heights[index] - LABEL_HEIGHT
    return heights


def panel(lines, title, unit):
    """One panel. The names stand at the right, as high as the lines end."""
    low, high = decades([value for line in lines for _, value in line.points])
    sizes = sorted({functions for line in lines for functions, _ in line.points})
    tics = ", ".join("'{0:,}' {0}".format(functions) for functions in sizes)
    script = ["set title " + quoted(title), "set ylabel " + quoted(unit),
              "set xrange [%g:%g]" % (sizes[0] / 1.4, sizes[-1] * 1.4),
              "set yrange [1e%d:1e%d]" % (low, high), "set xtics (%s)" % tics, "unset label"]
    heights = label_heights([(math.log10(line.points[-1][1]) - low) / (high - low)
                             for line in lines])
    plots = []
    for number, (line, height) in enumerate(zip(lines, heights)):
        colour, point = STYLES[line.key]
        script += ["$line%d << EOD" % number, *("%d %g" % pair for pair in line.points), "EOD"]
        script.append("set label %s at graph 1.03, graph %.3f textcolor rgb '%s' "
                      "point linecolor rgb '%s' pointtype %d pointsize default "
                      "offset character 1.2, 0"
                      % (quoted(line.name), height, colour, colour, point))
        plots.append("$line%d with linespoints linewidth 2 linecolor rgb '%s' pointtype %d"
                     % (number, colour, point))
    return script + ["plot " + ", ".join(plots)]


def gnuplot_script(measured, name):
    where = measured["machine"]
    script = ["set terminal " + TERMINALS[name.rpartition(".")[-1]], "set output " + quoted(name),
              "set logscale xy", "set grid", "set border 3", "set tics nomirror", "unset key",
              "set format y '%g'", "set xlabel 'functions'", "set rmargin 19",
              "set multiplot layout 1,2 title " + quoted("%s, %d cores, Linux %s, %s" % (
                  where["cpu"], where["cores"], where["kernel"], where["file_system"]))]
    for key, unit, title, unit_name in PANELS:
        script += panel(lines_of(measured["sizes"], key, unit), title, unit_name)
    return "\n".join(script + ["unset multiplot", ""])


def draw(measured, pictures):
    """`measured` is what bench/run writes as JSON."""
    if not any(tables.good_runs(size, tool["key"]) for size in measured["sizes"]
               for tool in size["tools"]):
        sys.exit("nothing to draw: no run went well")
    for name in pictures:
        # What it draws goes to its standard output where it can't open the file.
        done = subprocess.run(["gnuplot"], input=gnuplot_script(measured, name), text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit("%s: not drawn, gnuplot says: %s" % (name, done.stderr.strip()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", help="what bench/run --json wrote")
    parser.add_argument("pictures", nargs="+", type=picture, metavar="picture",
                        help="NAME.svg or NAME.png")
    args = parser.parse_args()
    need_gnuplot()
    with open(args.runs, encoding="utf-8") as file:
        draw(json.load(file), args.pictures)


if __name__ == "__main__":
    main()
