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

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
# How many samples ended in which function, as perf script counts them by perf inject's result, and by the
# perf map on the machine that was recorded.
# hotspot 1.6 passes over the last symbol of every file, which is plain19 here.
HOT = {
    "node-app": {"JS:*countPrimes /recorded/node-app/app.js:10:21": 721,
                 "JS:*mandelbrot /recorded/node-app/app.js:29:20": 303,
                 "JS:*makeText /recorded/node-app/app.js:47:18": 24},
    "tiny-plain": {f"plain{k}": 10 if k == 9 else 11 if k in (0, 1, 7, 10, 12, 16, 18) else 12
                   for k in range(19)},
    "maps/node": {"JS:*hotOne /recorded/node/hot.js:4:16": 143,
                  "JS:*hotTwo /recorded/node/hot.js:11:16": 137},
    "maps/erlang": {"$hot:one/2": 108, "$hot:two/2": 110},
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


def judge(reader, name):
    made = profiles.Recording(os.path.join(FIXTURES, name), is_fixture=True)
    # Not in /dev/shm: hotspot takes no file below /dev for a program.
    with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
        output = os.path.join(folder, "perf.jit.data")
        for path in glob.glob(os.path.join(FIXTURES, name, "perf-*.map.gz")):
            shutil.copy(path, folder)
        done = profiles.run([os.environ["JITINJECT"], *["--perf-map"] * name.startswith("maps/"),
                             "-i", made.copy(folder), "-o", output])
        print(done.stderr.decode(errors="replace") + done.stdout.decode(), end="")
        leaves = READERS[reader](output, folder)
    well = True
    for function, samples in HOT[name].items():
        if leaves[function] != samples:
            print(f"{reader}, {name}: {leaves[function]} samples in {function}, expected {samples}")
            well = False
    print(f"{reader}, {name}: {sum(leaves.values())} samples, "
          f"{sum(leaves[function] for function in HOT[name])} in the hot functions")
    return well


def main(reader, *names):
    if not os.environ.get("DEBIAN_TOOL"):
        recording.skip(f"{reader} comes by $DEBIAN_TOOL, which is not set")
    return 0 if all([judge(reader, name) for name in names or HOT]) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
