#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program of a real runtime and checks what is known of it before."""

import collections
import os
import re
import struct
import sys
import tempfile

import profiles
import recording

HERE = os.path.dirname(os.path.abspath(__file__))
DWARF = ("--call-graph", "dwarf,16384")
WASM_FUNCTIONS = 20000
WASM_NAME = b"JS:wasm-function["


def workload(name):
    return os.path.join(HERE, "workloads", name)


def loads(made):
    """How many LOAD records the dumps of a recording hold, and how many of them wasm functions."""
    total = wasm = 0
    for path in made.dumps():
        with open(path, "rb") as file:
            dump = file.read()
        at = struct.unpack_from("<I", dump, 8)[0]
        while at + 16 <= len(dump):
            kind, size = struct.unpack_from("<II", dump, at)
            if kind == 0:
                total += 1
                wasm += dump.startswith(WASM_NAME, at + 56)
            at += max(size, 16)
    return total, wasm


def shares_of(outcome, pattern, names):
    """Each of the names has an equal share of the samples whose leaf matches `pattern`."""
    found = collections.Counter()
    for symbol, count in outcome.leaves().items():
        if match := re.match(pattern, symbol):
            found[match.group(1)] += count
    total = sum(found.values())
    outcome.expect(total > 500, f"only {total} samples: {found}")
    for name in names:
        outcome.expect(abs(found[name] * len(names) - total) <= 0.3 * total,
                       f"{name}: {found[name]} of {total} samples, {len(names)} share them")


def of_node(made, outcome):
    shares_of(outcome, r"JS:.(hot\w+) ", ["hotOne", "hotTwo"])


def leads_through(sample, *prefixes):
    """Whether the sample has a frame of each, in whatever order."""
    return all(any(frame.symbol.startswith(prefix) for frame in sample.frames)
               for prefix in prefixes)


def of_unwinding_info(made, outcome):
    """Stacks lead out of JavaScript, by V8's tables and by its frame pointers."""
    of_node(made, outcome)
    inside = [sample for sample in outcome.samples
              if sample.frames and sample.frames[0].symbol.startswith("JS:")]
    whole = sum(leads_through(sample, "Builtin:JSEntry", "node::Start") for sample in inside)
    outcome.expect(whole > 200 and whole >= 0.99 * len(inside),
                   f"{whole} of {len(inside)} stacks lead to the start of node")


def of_wasm(made, outcome):
    _, wasm = loads(made)
    outcome.expect(wasm >= WASM_FUNCTIONS, f"only {wasm} functions in the dump")
    leaves = outcome.leaves()
    functions = {symbol for symbol in leaves if symbol.startswith(WASM_NAME.decode())}
    samples = sum(leaves[symbol] for symbol in functions)
    outcome.expect(len(functions) > 200 and len(functions) > 0.8 * samples,
                   f"{samples} samples in {len(functions)} functions, of which each runs once")
    outcome.expect(len(outcome.images) <= 9, f"{len(outcome.images)} .so files")
    # V8's builtins lie in the text of node and have a mapping each; all else is on the heap.
    heap = [mapping for mapping in outcome.mappings if mapping.addr >= 1 << 32]
    outcome.expect(len(heap) < 100, f"{len(heap)} mapping events for the heap")


def of_family(made, outcome):
    shares_of(outcome, r"JS:.hot_(\w+) ", ["main", "worker1", "worker2", "child", "childworker"])
    pids = {int(re.match(r"jit-(\d+)-", name).group(1)) for name in outcome.images}
    outcome.expect(len(pids) == 2, f"expected .so files of two processes: {outcome.images}")


def of_php(made, outcome):
    shares_of(outcome, r"JIT\$(hot_\w+)", ["hot_one", "hot_two"])


def of_python(made, outcome):
    """The trampolines are never leaves: they stand for their functions in the call chains."""
    found = collections.Counter()
    for sample in outcome.samples:
        for frame in sample.frames:
            if match := re.match(r"py::(hot_\w+):", frame.symbol):
                found[match.group(1)] += 1
                break
    total = len(outcome.samples)
    whole = sum(leads_through(sample, "py::hot_", "py::<module>", "Py_BytesMain")
                for sample in outcome.samples)
    outcome.expect(whole >= 0.95 * sum(found.values()),
                   f"{whole} of {sum(found.values())} stacks lead to the start of python")
    outcome.expect(found["hot_one"] > 0.3 * total and found["hot_two"] > 0.3 * total,
                   f"of {total} samples in {dict(found)}")


def node(made_of, *options):
    def command():
        return [recording.need("node"), "--perf-prof", "--interpreted-frames-native-stack",
                *options, *made_of]
    return command


def php():
    settings = {"opcache.enable_cli": "1", "opcache.jit_buffer_size": "32M",
                "opcache.jit": "function", "opcache.jit_debug": "0x20",
                "opcache.file_update_protection": "0"}
    return [recording.need("php"), *[f"-d{key}={value}" for key, value in settings.items()],
            workload("hot.php")]


def python(suite, version):
    """Debian's CPython of another suite; the machine's own is too old for perf_jit."""
    def command():
        tool = os.environ.get("DEBIAN_TOOL")
        if not tool:
            recording.skip(f"CPython {version} is run by the program that DEBIAN_TOOL names")
        root = os.environ.get("DEBIAN_TOOL_DIR", os.path.expanduser("~/.cache/debian-tool"))
        run = ["env", f"PYTHONHOME={root}/{suite}/usr", tool, suite, "python3", "python3"]
        profiles.run([*run, "--version"])  # what the tool installs first is no part of the profile
        return [*run, "-X", "perf_jit", workload("hot.py")]
    return command


Runtime = collections.namedtuple("Runtime", "command truths options", defaults=[("-g",)])

RUNTIMES = {
    "node": Runtime(node([workload("hot.js")]), of_node),
    "node-wasm": Runtime(node([workload("manyfuncs.js"), str(WASM_FUNCTIONS), "20000"],
                              "--no-wasm-lazy-compilation"), of_wasm),
    "node-unwinding-info": Runtime(node([workload("hot.js")], "--perf-prof-unwinding-info"),
                                   of_unwinding_info, (*DWARF, "-F", "499")),
    "node-family": Runtime(node([workload("family.js")]), of_family),
    # Its code uses the frame pointer for something else, and perf drops the stacks it finds there.
    "php": Runtime(php, of_php, ()),
    "python3.13": Runtime(python("trixie", "3.13"), of_python, (*DWARF, "-F", "199")),
    "python3.14": Runtime(python("sid", "3.14"), of_python, (*DWARF, "-F", "199")),
}


def main(name):
    runtime = RUNTIMES[name]
    with tempfile.TemporaryDirectory(prefix="runtime-") as folder:
        made = recording.record(folder, runtime.command(), runtime.options)

        def truths(outcome):
            outcome.expect(not outcome.said, f"jitinject has something to say: {outcome.said}")
            runtime.truths(made, outcome)

        return 0 if recording.judge(made, truths) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
