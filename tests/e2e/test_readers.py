#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hotspot and samply read what jitinject makes of recordings in tests/fixtures, and name its functions.

    test_readers.py hotspot|samply [NAME...]

Neither needs a screen: hotspot's parser is a program of its own, whose output the window shows; samply
symbolicates for whoever asks its server. Both come by $DEBIAN_TOOL, from Debian's unstable suite.
"""

import collections
import glob
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.request

import profiles
import recording

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jitbuild import JitDump  # noqa: E402
from perfbuild import ARCH, IP, PERIOD, TID, TIME, Attr, PerfData  # noqa: E402

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
# How many samples ended in which function, as perf script counts them by perf inject's result, and by the
# perf map on the machine that was recorded.
HOT = {
    "node-app": {"JS:*countPrimes /recorded/node-app/app.js:10:21": 721,
                 "JS:*mandelbrot /recorded/node-app/app.js:29:20": 303,
                 "JS:*makeText /recorded/node-app/app.js:47:18": 24},
    "tiny-plain": {f"plain{k}": 10 if k == 9 else 11 if k in (0, 1, 7, 10, 12, 16, 18) else 12
                   for k in range(20)},
    "maps/node": {"JS:*hotOne /recorded/node/hot.js:4:16": 143,
                  "JS:*hotTwo /recorded/node/hot.js:11:16": 137},
    "maps/erlang": {"$hot:one/2": 108, "$hot:two/2": 110},
}
# The same where code was replaced by other code: hotspot has one name for an address.
REPLACED = {
    "node-churn": {"JS:* :1:20": 286, "JS:^ :1:20": 39},
    "tiny-overlap": {"old": 169, "new": 116},
    "tiny-reuse": {"gen0": 37, "gen1": 39, "gen2": 38, "gen3": 40},
}


def hotspot(data, folder):
    """Names at the leaves, by hotspot's parser. Its stream (perfparser, app/perfunwind.h): a magic and a
    version in 16 bytes, then messages: size, kind, and the members by Qt's QDataStream."""
    output = os.path.join(folder, "hotspot")
    profiles.run([os.environ["DEBIAN_TOOL"], "sid", "hotspot", "hotspot-perfparser",
                  "--input", data, "--output", output])
    with open(output, "rb") as file:
        stream = file.read()
    location, symbol, string, sample = 3, 4, 5, 13
    callers, symbols, strings, leaves = {}, {}, {}, collections.Counter()
    messages = []
    at = 16
    while at < len(stream):
        size, kind = struct.unpack_from("<IB", stream, at)
        messages.append((kind, stream[at + 5:at + 4 + size]))
        at += 4 + size
    for kind, body in messages:
        if kind == location:
            callers[struct.unpack_from(">i", body)[0]] = struct.unpack_from(">i", body, 28)[0]
        elif kind == symbol:
            number, name = struct.unpack_from(">ii", body)
            symbols[number] = name
        elif kind == string:
            strings[struct.unpack_from(">i", body)[0]] = body[8:].decode()
    for kind, body in messages:
        frames = struct.unpack_from(">I", body, 20)[0] if kind == sample else 0
        leaf = struct.unpack_from(">i", body, 24)[0] if frames else -1
        # A location within a function leads to that of the function, which has the symbol.
        while leaf in callers and leaf not in symbols:
            leaf = callers[leaf]
        leaves[strings.get(symbols.get(leaf, -1), profiles.UNKNOWN)] += kind == sample
    return leaves


def ask(url, question=None):
    with urllib.request.urlopen(url, data=question, timeout=60) as answer:
        content = answer.read()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def leaf_frames(profile):
    """(library, address in it) of the leaf of each sample that is in a library."""
    for thread in profile["threads"]:
        frames, functions = thread["frameTable"], thread["funcTable"]
        for stack in thread["samples"]["stack"]:
            if stack is None:
                continue
            frame = thread["stackTable"]["frame"][stack]
            resource = functions["resource"][frames["func"][frame]]
            library = thread["resourceTable"]["lib"][resource] if resource >= 0 else None
            if library is not None:
                yield library, frames["address"][frame]


def samply(data, folder):
    """Names at the leaves, as samply's server tells them to the window in the browser."""
    command = [os.environ["DEBIAN_TOOL"], "sid", "samply", "samply", "import", "-n", "-P", "3900+",
               "-o", os.path.join(folder, "profile.json.gz"), data]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        try:
            said = ""
            for line in server.stdout:
                said += line
                base = re.search(r"symbolServer=(\S+)", line)
                if base:
                    break
            else:
                raise profiles.ToolFailed(f"samply import ended:\n{said}")
            base = urllib.request.unquote(base.group(1))
            profile = ask(f"{base}/profile.json")
            frames = list(leaf_frames(profile))
            libraries = [[lib["debugName"], lib["breakpadId"]] for lib in profile["libs"]]
            job = {"memoryMap": libraries, "stacks": [[list(frame)] for frame in frames]}
            answer = ask(f"{base}/symbolicate/v5", json.dumps({"jobs": [job]}).encode())
        finally:
            server.kill()
    return collections.Counter(stack[0].get("function", profiles.UNKNOWN)
                               for stack in answer["results"][0]["stacks"])


READERS = {"hotspot": hotspot, "samply": samply}


def build(folder, functions):
    """A recording with three samples in each function: its first byte, its last, and one between."""
    pid, heap, distance, size = 100, 0x7F0000000000, 64, 48
    dump = os.path.join(folder, f"jit-{pid}.dump")
    jit = JitDump(pid, timestamp=1000)
    perf = PerfData([Attr(IP | TID | TIME | PERIOD)])
    perf.comm("app", pid=pid, time=1000)
    perf.mmap2("//anon", heap, 1 << 16, pid=pid, time=1001)
    perf.mmap2(dump, 0x7E0000000000, 4096, pid=pid, time=1002)
    time = 10**6
    for number in range(functions):
        at = heap + number * distance
        jit.load(at, b"\x90" * size, f"f{number}", time=2000)
        for offset in (0, 5, size - 1):
            perf.sample(at + offset, pid=pid, time=time)
            time += 10**6
    perf.finished_round()
    perf.feature_string(ARCH, "x86_64")
    perf.write(os.path.join(folder, "perf.data"))
    jit.write(dump)
    return {f"f{number}": 3 for number in range(functions)}


def judge(reader, name, expected, folder, *options):
    """`expected`: samples by function, of the recording in `folder`."""
    output = os.path.join(folder, "perf.jit.data")
    data = os.path.join(folder, "perf.data")
    done = profiles.run([os.environ["JITINJECT"], *options, "-i", data, "-o", output])
    print(done.stderr.decode(errors="replace") + done.stdout.decode(), end="")
    leaves = READERS[reader](output, folder)
    well = True
    for function, samples in expected.items():
        if leaves[function] != samples:
            print(f"{reader}, {name}: {leaves[function]} samples in {function}, expected {samples}")
            well = False
    print(f"{reader}, {name}: {sum(leaves.values())} samples, "
          f"{sum(leaves[function] for function in expected)} in the functions that are known")
    return well


# Not in /dev/shm: hotspot takes no file below /dev for a program.
def judge_fixture(reader, name):
    with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
        profiles.Recording(os.path.join(FIXTURES, name), is_fixture=True).copy(folder)
        maps = glob.glob(os.path.join(FIXTURES, name, "perf-*.map.gz"))
        for path in maps:
            shutil.copy(path, folder)
        return judge(reader, name, {**HOT, **REPLACED}[name], folder, *["--perf-map"] * len(maps))


def judge_built(reader, functions):
    with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
        return judge(reader, f"{functions} functions", build(folder, functions), folder)


def main(reader, *names):
    if not os.environ.get("DEBIAN_TOOL"):
        recording.skip(f"{reader} comes by $DEBIAN_TOOL, which is not set")
    well = [judge_fixture(reader, name)
            for name in names or [*HOT, *(REPLACED if reader == "samply" else ())]]
    if not names:
        # Depending on the number of symbols, hotspot 1.6 does not find the last one or the last two.
        well += [judge_built(reader, functions) for functions in (1, 3, 4, 20, 25)]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
