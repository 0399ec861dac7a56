#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The generator's recordings are what they say they are, and bench/run measures them.

That perf inject and perf script name each sample in generated code is checked against the dumps, by
address and time, without the code of jitinject or of the generator.
"""

import argparse
import bisect
import collections
import glob
import gzip
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # the sources may be read-only

import contest
import plot

HERE = os.path.dirname(os.path.abspath(__file__))

ARGS = argparse.ArgumentParser(description=__doc__)
ARGS.add_argument("--generate", required=True)
ARGS.add_argument("--build", required=True)

CODE = range(0x2A0000000000, 0x400000000000)  # where the generated code of all processes lies

Record = collections.namedtuple("Record", "kind time body")
Sample = collections.namedtuple("Sample", "pid tid time chain")
Function = collections.namedtuple("Function", "time address size name code")


def records(path):
    with open(path, "rb") as file:
        dump = file.read()
    at = 40
    while at < len(dump):
        kind, size, time = struct.unpack_from("<IIQ", dump, at)
        yield Record(kind, time, dump[at + 16:at + size])
        at += size


def functions(path):
    for record in records(path):
        if record.kind == 0:
            _, _, _, address, size, _ = struct.unpack_from("<IIQQQQ", record.body)
            name, code = record.body[40:].split(b"\0", 1)
            assert len(code) == size, "the code ends the record"
            yield Function(record.time, address, size, name.decode(), code)


def samples(path):
    with open(path, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            _, pid, tid, time, _, depth = struct.unpack_from("<QIIQQQ", data, at + 8)
            chain = struct.unpack_from("<%dQ" % depth, data, at + 48)
            yield Sample(pid, tid, time, chain[1:])  # without the mark of user code
        at += size


def run(*command, **options):
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True, **options).stdout


class Dump:
    """What is at an address at a time."""

    def __init__(self, path):
        self.loads = sorted(functions(path))
        self.times = [function.time for function in self.loads]

    def name_at(self, address, time):
        for function in reversed(self.loads[:bisect.bisect_left(self.times, time)]):
            if function.address <= address < function.address + function.size:
                return function.name
        return None


class GenerateTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="bench-test-")
        self.addCleanup(shutil.rmtree, self.scratch)

    def generate(self, *options, name="recording"):
        out = os.path.join(self.scratch, name)
        run(ARGS.generate, "--out", out, *options)
        return out

    def dumps(self, directory):
        return {int(re.search(r"jit-(\d+)\.dump", path)[1]): path
                for path in glob.glob(os.path.join(directory, "jit-*.dump"))}

    def injected_chains(self, directory):
        """The symbols of each sample's call chain after perf inject, by thread and time."""
        out = os.path.join(self.scratch, "perf.jit.data")
        home = dict(os.environ, HOME=self.scratch)
        run("perf", "inject", "--jit", "-i", os.path.join(directory, "perf.data"), "-o", out,
            env=home)
        script = run("perf", "script", "--ns", "-F", "tid,time,ip,sym", "-i", out, env=home)
        chains = {}
        for line in script.splitlines():
            start = re.fullmatch(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s*", line)
            if start:
                chain = chains[int(start[1]), int(start[2] + start[3])] = []
            elif line:
                chain.append(line.split(None, 1)[1])
        return chains

    def check_names(self, *options):
        directory = self.generate("--functions", "200", *options)
        dumps = {pid: Dump(path) for pid, path in self.dumps(directory).items()}
        self.assertEqual(sum(len(dump.loads) for dump in dumps.values()), 200)
        injected = self.injected_chains(directory)
        recorded = list(samples(os.path.join(directory, "perf.data")))
        self.assertEqual(len(injected), len(recorded))
        seen = set()
        for sample in recorded:
            symbols = injected[sample.tid, sample.time]
            self.assertEqual(len(symbols), len(sample.chain))
            for address, symbol in zip(sample.chain, symbols):
                if address in CODE:
                    self.assertEqual(symbol, dumps[sample.pid].name_at(address, sample.time))
                    seen.add(symbol)
        self.assertGreater(len(seen), 150)
        return directory

    def test_all_named(self):
        self.check_names()

    def test_all_named_with_the_rest(self):
        self.check_names("--samples", "3000", "--lines", "5", "--unwind", "--processes", "3")

    def test_all_named_at_reused_addresses(self):
        directory = self.check_names("--samples", "3000", "--reuse", "7")
        addresses = {function.address for path in self.dumps(directory).values()
                     for function in functions(path)}
        self.assertEqual(len(addresses), 7)

    def test_all_named_in_memory_mapped_again(self):
        self.check_names("--samples", "3000", "--remaps", "50")

    @unittest.skipUnless("DEBIAN_TOOL" in os.environ, "samply comes by DEBIAN_TOOL")
    def test_all_named_by_samply(self):
        """What bench/run measures of samply reads the dumps, and names what was hit."""
        directory = self.generate("--functions", "200")
        [(pid, path)] = self.dumps(directory).items()
        [tool] = contest.tools(argparse.Namespace(tools=["samply"]))
        out = os.path.join(self.scratch, "out")
        run(*tool.command(os.path.join(directory, "perf.data"), [path], out))
        with gzip.open(out + ".json.gz", "rt", encoding="utf-8") as file:
            threads = json.load(file)["threads"]
        known = set()
        for thread in threads:
            known.update(thread["stringArray"][name] for name in thread["funcTable"]["name"])
        dump = Dump(path)
        hit = {dump.name_at(sample.chain[0], sample.time)
               for sample in samples(os.path.join(directory, "perf.data"))
               if sample.pid == pid and sample.chain[0] in CODE}
        self.assertGreater(len(hit), 150)
        self.assertEqual(hit - known, set())

    def test_side_by_side(self):
        [path] = self.dumps(self.generate("--functions", "5000")).values()
        loads = list(functions(path))
        for before, after in zip(loads, loads[1:]):
            gap = after.address - before.address - before.size
            self.assertIn(gap, range(16))
            self.assertEqual(after.address % 16, 0)
        self.assertTrue(all(40 <= len(function.name) <= 80 for function in loads))
        self.assertEqual(len({function.name for function in loads}), 5000)
        average = sum(function.size for function in loads) / 5000
        self.assertAlmostEqual(average, 300, delta=10)

    def test_code_decodes(self):
        [path] = self.dumps(self.generate("--functions", "200")).values()
        code = os.path.join(self.scratch, "code")
        with open(code, "wb") as file:
            for function in functions(path):
                file.write(function.code)
        text = run("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", code)
        self.assertNotIn("(bad)", text)
        self.assertEqual(len(re.findall(r"\sret\s*$", text, re.MULTILINE)), 200)

    def test_records_asked_for(self):
        [path] = self.dumps(self.generate("--functions", "10", "--lines", "4", "--unwind")).values()
        self.assertEqual([record.kind for record in records(path)], [2, 4, 0] * 10)
        for record in records(path):
            if record.kind == 2:
                self.assertEqual(struct.unpack_from("<Q", record.body, 8), (4,))

    def test_deterministic(self):
        def contents(*options):
            directory = self.generate("--functions", "100", "--processes", "2", *options)
            found = {}
            for path in glob.glob(os.path.join(directory, "*")):
                with open(path, "rb") as file:
                    found[path] = file.read()
            return found

        first = contents()
        self.assertEqual(first, contents())
        self.assertNotEqual(first, contents("--seed", "2"))


# Stands for the program that DEBIAN_TOOL names: both of its programs write the file asked for.
DEBIAN_TOOL = """#!/bin/sh
case "$1 $2 $3 $4" in
"sid linux-perf perf version") echo "perf version 99.8.7" ;;
"sid linux-perf perf inject") cp "$7" "$9" ;;
"sid samply samply --version") echo "samply 55.4.3" ;;
"sid samply samply import") cp "$8" "$7" ;;
*) exit 1 ;;
esac
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="bench-test-")
        self.addCleanup(shutil.rmtree, self.scratch)

    def measure_sizes(self, *options, **more):
        """What bench/run says, and the sizes; `more` is for its environment."""
        place, result = (os.path.join(self.scratch, name) for name in ("place", "result.json"))
        os.mkdir(place)
        environment = {name: value for name, value in os.environ.items() if name != "DEBIAN_TOOL"}
        text = run(os.path.join(HERE, "run"), "--build", ARGS.build, *options, "--scratch", place,
                   "--json", result, env=dict(environment, **more))
        self.assertEqual(os.listdir(place), [])
        with open(result, encoding="utf-8") as file:
            return text, json.load(file)["sizes"]

    def measure(self, *options):
        text, [size] = self.measure_sizes(*options)
        return text, size

    def test_small(self):
        text, size = self.measure("--functions", "500", "--runs", "2")
        self.assertIn("perf-inject / jitinject: ", text)
        self.assertIn("jitinject / cat: ", text)
        self.assertRegex(text, r"jitinject, ms \(of these on a processor\): scan [\d.]+ \([\d.]+\), "
                               "index .*, place .*, emit .*, rewrite ")
        self.assertEqual(size["functions"], 500)
        self.assertEqual([tool["key"] for tool in size["tools"]],
                         ["perf-inject", "jitinject", "cat"])
        for tool in size["tools"]:
            self.assertEqual(len(tool["runs"]), 2)
            for measured in tool["runs"]:
                self.assertIsNone(measured["error"])
                self.assertGreater(measured["wall"], 0)
                self.assertGreater(measured["peak"], 0)
                self.assertGreater(measured["files"], 0)
                self.assertGreater(measured["written"], 0)
                if tool["key"] != "cat":
                    self.assertGreater(measured["report"]["samples"], 1000)
                    self.assertEqual(measured["report"]["named"], measured["report"]["samples"])

    def test_programs_of_debian(self):
        stub = os.path.join(self.scratch, "debian-tool")
        with open(stub, "w", encoding="ascii") as file:
            file.write(DEBIAN_TOOL)
        os.chmod(stub, 0o755)
        text, sizes = self.measure_sizes(
            "--functions", "50", "60", "--other-perf-up-to", "50", "--runs", "2", "--reports", "0",
            "--tools", "other-perf-inject", "samply", "jitinject", DEBIAN_TOOL=stub)
        self.assertEqual([[tool["name"] for tool in size["tools"]] for size in sizes],
                         [["perf inject 99.8", "samply import 55.4", "jitinject"],
                          ["samply import 55.4", "jitinject"]])
        self.assertRegex(text, r"samply import 55\.4 +2 +[\d.]+ .* - +- +-\n")
        self.assertIn("versions: perf inject 99.8 99.8.7, samply import 55.4 55.4.3, ", text)
        for size in sizes:
            for tool in size["tools"]:
                self.assertEqual([measured["error"] for measured in tool["runs"]], [None, None])
                if tool["key"] != "jitinject":
                    name = "perf.jit.data" + (".json.gz" if tool["key"] == "samply" else "")
                    self.assertEqual(tool["runs"][0]["outputs"], {name: size["perf_data"]})

    def test_slow_ones_run_less(self):
        args = argparse.Namespace(build=ARGS.build, generate="", samples=100, srcline=None, runs=3,
                                  slow_runs=2, reports=0, tools=["cat"])
        for slow, runs in ((0, 2), (100, 3)):
            with unittest.mock.patch.object(contest, "SLOW", slow):
                size = contest.measure_size(args, 10, contest.tools(args), self.scratch)
            self.assertEqual(len(size["tools"][0]["runs"]), runs)

    def test_source_lines(self):
        text, size = self.measure("--functions", "100", "--runs", "1", "--generate", "--lines 3",
                                  "--srcline", "100", "--tools", "jitinject")
        self.assertRegex(text, r"perf report -s srcline of jitinject: [\d.]+ s")
        self.assertFalse(size["tools"][0]["runs"][0]["srcline"]["limited"])

    def test_source_lines_up_to_a_limit(self):
        text, size = self.measure("--functions", "3000", "--runs", "1", "--generate", "--lines 3",
                                  "--srcline", "1", "--tools", "perf-inject")
        self.assertIn("perf report -s srcline of perf inject", text)
        self.assertIn(": >= 1", text)
        self.assertTrue(size["tools"][0]["runs"][0]["srcline"]["limited"])


class PlotTest(unittest.TestCase):
    """Pictures of made-up runs."""

    NAMES = {"perf-inject": "perf inject 6.1", "other-perf-inject": "perf inject 7.2",
             "samply": "samply import 0.13", "jitinject": "jitinject", "cat": "cat"}

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="bench-test-")
        self.addCleanup(shutil.rmtree, self.scratch)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def measured(self, error=None):
        sizes = [{"functions": functions, "tools": [
            {"key": key, "name": name, "runs": [
                {"error": error, "wall": functions / 1e4 * factor, "peak": factor << 20}]}
            for factor, (key, name) in enumerate(self.NAMES.items(), 1)
            if key != "other-perf-inject" or functions < 20000]} for functions in (1000, 20000)]
        return {"sizes": sizes, "machine": {"cpu": "A_B's {C}", "cores": 2, "kernel": "6.1",
                                            "file_system": "tmpfs"}}

    def plot(self, measured, *pictures):
        with open(self.path("runs.json"), "w", encoding="utf-8") as file:
            json.dump(measured, file)
        return subprocess.run([sys.executable, os.path.join(HERE, "plot.py"),
                               self.path("runs.json"), *map(self.path, pictures)],
                              stderr=subprocess.PIPE, text=True, check=False)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not here")
    def test_all_is_labelled(self):
        done = self.plot(self.measured(), "it's.svg", "a.png")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("it's.svg"), encoding="utf-8") as file:
            texts = re.findall(r"<text>.*?</text>", file.read(), re.DOTALL)
        texts = [re.sub(r"<[^>]*>", "", text).strip() for text in texts]
        for name in self.NAMES.values():
            self.assertEqual(texts.count(name), 2, "once in each panel")
        for label in ("seconds", "MiB"):
            self.assertEqual(texts.count(label), 1)
        for label in ("functions", "1,000", "20,000"):
            self.assertEqual(texts.count(label), 2)
        self.assertIn("A_B's {C}, 2 cores, Linux 6.1, tmpfs",
                      [text.replace("&apos;", "'") for text in texts])
        with open(self.path("a.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not here")
    def test_drawn_by_what_measures(self):
        run(os.path.join(HERE, "run"), "--build", ARGS.build, "--functions", "50", "--runs", "1",
            "--reports", "0", "--tools", "jitinject", "cat", "--plot", self.path("a.svg"))
        self.assertGreater(os.path.getsize(self.path("a.svg")), 1000)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not here")
    def test_picture_that_cannot_be_written(self):
        done = self.plot(self.measured(), "none/a.svg")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"none/a\.svg: not drawn, gnuplot says: ")

    def test_without_gnuplot(self):
        for command in ([os.path.join(HERE, "run"), "--plot", "a.svg"],
                        [os.path.join(HERE, "plot.py"), self.path("runs.json"), "a.svg"]):
            done = subprocess.run([sys.executable, *command], stderr=subprocess.PIPE, text=True,
                                  check=False, env=dict(os.environ, PATH=self.scratch))
            self.assertEqual(done.returncode, 1)
            self.assertIn("install it (Debian, Ubuntu: gnuplot-nox)", done.stderr)

    def test_other_forms(self):
        done = self.plot(self.measured(), "a.gif")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a.gif: not a name of an .svg or a .png", done.stderr)

    def test_nothing_to_draw(self):
        with self.assertRaisesRegex(SystemExit, "nothing to draw"):
            plot.draw(self.measured("exit 1"), ["a.svg"])

    def test_labels_do_not_overlap(self):
        for wanted in ([0.5, 0.51, 0.1], [1, 0.99, 0.98, 0], [0.02] * 5):
            heights = plot.label_heights(wanted)
            order = sorted(heights)
            for below, above in zip(order, order[1:]):
                self.assertGreaterEqual(above - below, plot.LABEL_HEIGHT - 1e-9)
            self.assertLessEqual(order[-1], 1)
            self.assertGreaterEqual(order[0], 0)
            for height, want in zip(heights, wanted):
                self.assertLessEqual(abs(height - want), plot.LABEL_HEIGHT * len(wanted))


class TargetsTest(unittest.TestCase):
    def test_those_compared_take_turns(self):
        loader = importlib.machinery.SourceFileLoader("targets", os.path.join(HERE, "targets"))
        targets = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("targets", loader))
        loader.exec_module(targets)
        self.assertEqual(list(targets.groups(["reuse, half", "plain", "remaps", "reuse"])),
                         [["reuse", "reuse, half"], ["plain"], ["remaps"]])
        turns = []
        begun = [unittest.mock.Mock(**{
            "args.runs": 3, "args.samples": 1, "end.return_value": {},
            "turn": lambda number, name=name: turns.append((name, number))}) for name in "ab"]
        with unittest.mock.patch.object(targets, "begin", side_effect=begun):
            targets.measure(None, ["a", "b"], None)
        self.assertEqual(turns, [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)])

    def test_each_is_judged(self):
        with tempfile.TemporaryDirectory(prefix="bench-test-") as scratch:
            result = os.path.join(scratch, "result.json")
            run(os.path.join(HERE, "targets"),
                "--build", ARGS.build, "--scratch", scratch, "--json", result, "--scale", "0.001",
                "--runs", "1", "--only", "plain", "samples", "reuse", "reuse, half")
            with open(result, encoding="utf-8") as file:
                rows = {row["what"]: row for row in json.load(file)["targets"]}
        for what in ("plain: jitinject / cat", "samples: jitinject / cp",
                     "reuse: time, of that of half of it", "plain: peak memory"):
            self.assertEqual(rows[what]["met"], rows[what]["measured"] <= rows[what]["wanted"])
            self.assertGreater(rows[what]["measured"], 0)


if __name__ == "__main__":
    ARGS, rest = ARGS.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
