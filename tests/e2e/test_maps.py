#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Perf maps: what perf names by one, on the machine that was recorded, it names so without it by what
--perf-map makes of it; and the map of a dump names what the dump does.

    test_maps.py node|node-mixed|php|erlang|of-dump|fixtures
"""

import bisect
import collections
import gzip
import os
import re
import shutil
import sys
import tempfile

import profiles
import recording
from test_runtimes import workload

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "maps")

MAP = re.compile(r"/tmp/perf-\d+\.map$")
UNKNOWN = "[unknown]"


def node(*options):
    return [recording.need("node"), *options, "--interpreted-frames-native-stack",
            workload("hot.js")]


def php():
    settings = {"opcache.enable_cli": "1", "opcache.jit_buffer_size": "32M",
                "opcache.jit": "function", "opcache.jit_debug": "0x10",
                "opcache.file_update_protection": "0"}
    return [recording.need("php"), *[f"-d{key}={value}" for key, value in settings.items()],
            workload("hot.php")]


def erlang(folder):
    profiles.run([recording.need("erlc"), workload("hot.erl")], cwd=folder)
    return [recording.need("erl"), "+JPperf", "map", "-noshell", "-s", "hot", "main"]


class Entries:
    """The entries of a map, to tell where several claim an address: perf takes any of them."""

    def __init__(self, path):
        with open(path, errors="surrogateescape") as file:
            fields = [line.rstrip("\n").split(" ", 2) for line in file]
        self.ranges = sorted((int(start, 16), int(start, 16) + int(size, 16), name)
                             for start, size, name in fields)
        self.starts = [start for start, _, _ in self.ranges]
        self.longest = max(end - start for start, end, _ in self.ranges)

    def names(self, address):
        last = bisect.bisect_right(self.starts, address)
        first = bisect.bisect_left(self.starts, address - self.longest)
        return {name for start, end, name in self.ranges[first:last] if start <= address < end}


def maps_of(samples):
    """The maps that perf has read."""
    return {frame.dso for sample in samples for frame in sample.frames
            if MAP.match(frame.dso) and os.path.exists(frame.dso)}


def compare(before, after, ambiguous, maps_only):
    """(samples with frames named by a map, what is wrong)

    A dump names more than a map does: V8's builtins, which lie in node's own file. Where there is one,
    other frames are no matter.
    """
    wrong, named = [], 0
    if len(before) != len(after):
        return 0, [f"{len(before)} samples became {len(after)}"]
    for old, new in zip(before, after):
        if len(old.frames) != len(new.frames):
            wrong.append(f"{old}: {len(old.frames)} frames became {len(new.frames)}")
            continue
        of_map = False
        for old_frame, new_frame in zip(old.frames, new.frames):
            by_map = bool(MAP.match(old_frame.dso)) and old_frame.symbol != UNKNOWN
            of_map |= by_map
            if old_frame.symbol == new_frame.symbol or (by_map and
                                                        old_frame.symbol in ambiguous):
                continue
            if by_map or (maps_only and not MAP.match(old_frame.dso)):
                wrong.append(f"{old_frame} became {new_frame}")
            if MAP.match(new_frame.dso):
                wrong.append(f"{new_frame} is still named by a map")
        named += of_map
    return named, wrong


def ambiguous_names(paths):
    """Names that share an address with another one."""
    names = set()
    for path in paths:
        entries = Entries(path)
        end, holder = 0, None
        for start, stop, name in entries.ranges:
            if start < end:
                names |= {name, holder}
            if stop > end:
                end, holder = stop, name
    return names


def named_by_maps(samples, ambiguous):
    """How many frames have which name of a map; those that perf may take for another are not counted."""
    return collections.Counter(
        frame.symbol for sample in samples for frame in sample.frames
        if (MAP.match(frame.dso) or "jitted-" in frame.dso)
        and frame.symbol != UNKNOWN and frame.symbol not in ambiguous)


def inject(data, output, *options):
    command = [os.environ["JITINJECT"], "--perf-map", *options, "-i", data, "-o", output]
    print(profiles.run(command).stdout.decode(), end="")


def judge(made, pattern, least):
    """Injects the maps of a recording, takes them away, and compares."""
    well = True
    with tempfile.TemporaryDirectory(prefix="maps-") as folder:
        readers = [(perf, os.path.join(folder, f"home-{perf.version}"))
                   for perf in profiles.perfs()]
        before = [perf.samples(made.data, home) for perf, home in readers]
        maps = sorted(set().union(*map(maps_of, before)))
        ambiguous = ambiguous_names(maps)
        output = os.path.join(folder, "perf.jit.data")
        inject(made.data, output)
        for path in maps:
            shutil.move(path, folder + "/taken-away")
        for (perf, home), old in zip(readers, before):
            named, wrong = compare(old, perf.samples(output, home + "-after"), ambiguous,
                                   maps_only=not made.dumps())
            hot = collections.Counter(
                match.group(1) for sample in old for frame in sample.frames
                if (match := re.match(pattern, frame.symbol)))
            print(f"{perf}: {named} samples named by {len(maps)} maps, {dict(hot)}, "
                  f"{len(ambiguous)} names of shared addresses, {len(wrong)} wrong")
            print("\n".join(wrong[:10]))
            well = well and not wrong and named >= least and len(hot) == 2
    return well


def keep(made, target):
    """Makes a fixture of a recording: its maps, and what perf names by them, while they are there."""
    perf = profiles.perfs()[0]
    with tempfile.TemporaryDirectory(prefix="maps-") as home:
        samples = perf.samples(made.data, home)
    maps = sorted(maps_of(samples))
    names = named_by_maps(samples, ambiguous_names(maps))
    for path in maps:
        with open(path, "rb") as plain, \
             gzip.open(os.path.join(target, os.path.basename(path) + ".gz"), "wb") as packed:
            shutil.copyfileobj(plain, packed)
    with open(os.path.join(target, "names.txt"), "w") as file:
        file.writelines(f"{count} {name}\n" for name, count in sorted(names.items()))


def judge_fixture(folder):
    """On another machine, perf shows the names that it showed on the recorded one."""
    with open(os.path.join(folder, "names.txt")) as file:
        rows = [line.rstrip("\n").split(" ", 1) for line in file]
    wanted = {name: int(count) for count, name in rows}
    well = True
    with tempfile.TemporaryDirectory(prefix="maps-") as scratch:
        for name in os.listdir(folder):
            shutil.copy(os.path.join(folder, name), scratch)
        output = os.path.join(scratch, "perf.jit.data")
        inject(os.path.join(scratch, "perf.data"), output)
        for perf in profiles.perfs():
            found = named_by_maps(perf.samples(output, os.path.join(scratch, "home")), ())
            wrong = [f"{name}: {found[name]} frames, not {count}"
                     for name, count in wanted.items() if found[name] != count]
            print(f"{perf}, {os.path.basename(folder)}: {sum(wanted.values())} frames of "
                  f"{len(wanted)} names, {len(wrong)} names wrong")
            print("\n".join(wrong[:10]))
            well = well and not wrong and sum(wanted.values()) > 50
    return well


def cut_dump(made):
    """Leaves half of what the runtime has logged."""
    dump, = made.dumps()
    os.truncate(dump, os.path.getsize(dump) // 2)


def of_dump(folder):
    """A map made of a dump gives perf the names that the dump gives jitinject's output."""
    made = recording.record(folder, node("--perf-prof"), ("-g",))
    dump, = made.dumps()
    pid = re.search(r"jit-(\d+)\.dump", dump).group(1)
    path = f"/tmp/perf-{pid}.map"
    output = os.path.join(folder, "perf.jit.data")
    jitinject = os.environ["JITINJECT"]
    profiles.run([jitinject, "-i", made.data, "-o", output])
    try:
        with open(path, "wb") as file:
            file.write(profiles.run([jitinject, "map", dump]).stdout)
        well = True
        for perf in profiles.perfs():
            by_map = perf.samples(made.data, os.path.join(folder, "home1"))
            by_dump = perf.samples(output, os.path.join(folder, "home2"))
            named, wrong = compare(by_map, by_dump, set(), maps_only=False)
            print(f"{perf}: {named} samples named by the map, {len(wrong)} wrong")
            print("\n".join(wrong[:10]))
            well = well and not wrong and named > 500
    finally:
        os.unlink(path)
    return well


def main(name):
    if name not in ("node", "node-mixed", "php", "erlang", "of-dump", "fixtures"):
        sys.exit(__doc__)
    if name == "fixtures":
        recording.need("perf")
        return 0 if all([judge_fixture(os.path.join(FIXTURES, kind))
                         for kind in sorted(os.listdir(FIXTURES))]) else 1
    with tempfile.TemporaryDirectory(prefix="maps-") as folder:
        if name == "of-dump":
            return 0 if of_dump(folder) else 1
        if name == "php":
            made = recording.record(folder, php(), ())
            return 0 if judge(made, r"JIT\$(hot_\w+)", 500) else 1
        if name == "erlang":
            made = recording.record(folder, erlang(folder), ("-g",))
            return 0 if judge(made, r"\$hot:(one|two)/2", 500) else 1
        options = ["--perf-basic-prof"] + ["--perf-prof"] * (name == "node-mixed")
        made = recording.record(folder, node(*options), ("-g",), keep_maps=True)
        if name == "node-mixed":
            cut_dump(made)
        return 0 if judge(made, r"JS:.(hot\w+) ", 500) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
