# SPDX-License-Identifier: MIT
"""Recordings, what the two tools make of them, and what perf reads in the result."""

import collections
import functools
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile

UNKNOWN = "[unknown]"
MMAP, MMAP2 = 1, 10
USER_DSOS = ("[heap]", "[stack]", UNKNOWN)


class Frame(collections.namedtuple("Frame", "symbol dso")):
    __slots__ = ()

    @property
    def of_kernel(self):
        """Kernel, its modules and vdso: their names depend on what the reader has in its cache."""
        return self.dso.startswith("[") and self.dso not in USER_DSOS

    @property
    def named(self):
        return self.symbol != UNKNOWN and not self.of_kernel


# `frames` from the leaf outwards; one frame for a sample without a call chain.
Sample = collections.namedtuple("Sample", "event pid tid time frames")


class ToolFailed(Exception):
    pass


def run(command, cwd=None, env=None, check=True):
    """Runs a command without a terminal, with no output but the returned."""
    done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if check and done.returncode != 0:
        said = done.stderr.decode(errors="replace")[-2000:]
        raise ToolFailed(f"{shlex.join(command)}: status {done.returncode}\n{said}")
    return done


def home(directory):
    """An environment whose build-id cache lies in `directory`, so no run sees another's."""
    os.makedirs(directory, exist_ok=True)
    tools = os.environ.get("DEBIAN_TOOL_DIR", os.path.expanduser("~/.cache/debian-tool"))
    return dict(os.environ, HOME=directory, XDG_CONFIG_HOME=directory, DEBIAN_TOOL_DIR=tools)


class Perf:
    """A perf to inject and to read with."""

    def __init__(self, command):
        self.command = command
        words = run(command + ["--version"]).stdout.decode().split()
        self.version = words[-1]
        self.major = int(self.version.split(".")[0])

    def __str__(self):
        return f"perf {self.version}"

    def inject(self, data, output, home_dir):
        run(self.command + ["inject", "--jit", "-f", "-i", data, "-o", output], env=home(home_dir))

    def script(self, data, home_dir, fields):
        command = self.command + ["script", "-f", "--ns", "-i", data, "-F", fields]
        return run(command, env=home(home_dir)).stdout.decode(errors="surrogateescape")

    def samples(self, data, home_dir, options=()):
        # Inlined frames come from line tables: they are no matter of names here, and slow.
        command = self.command + ["script", "-f", "--ns", "--no-inline", "-i", data,
                                  "-F", "pid,tid,time,event,ip,sym,dso", *options]
        text = run(command, env=home(home_dir)).stdout.decode(errors="surrogateescape")
        return parse_samples(text)


def perfs():
    """The perfs to compare with: the machine's own and, with $DEBIAN_TOOL, Debian's later ones."""
    found = []
    if shutil.which("perf"):
        found.append(Perf(["perf"]))
    tool = os.environ.get("DEBIAN_TOOL")
    if tool:
        found += [Perf([tool, suite, "linux-perf", "perf"]) for suite in ("trixie", "sid")]
    return found


HEAD = re.compile(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d+):\s+(\S+):\s*(.*)$")
FRAME = re.compile(r"\s*([0-9a-f]+) (.*)$")


def parse_frame(text):
    """SYMBOL (DSO): both may hold blanks and parentheses, a DSO only as in "x (deleted)"."""
    text = text.rstrip()
    if not text.endswith(")"):
        return Frame(text, "")
    start = text.rfind(" (")
    if text.endswith(" (deleted))"):
        start = text.rfind(" (", 0, start)
    return Frame(text[:start].strip() or UNKNOWN, text[start + 2:-1])


def parse_samples(text):
    samples = []
    for line in text.split("\n"):
        head = HEAD.match(line)
        if head:
            pid, tid, seconds, fraction, event, rest = head.groups()
            time = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
            samples.append(Sample(event, int(pid), int(tid), time, []))
            line = rest
        frame = FRAME.match(line)
        if frame and samples:
            samples[-1].frames.append(parse_frame(frame.group(2)))
    return samples


MARKER = re.compile(rb"/[^\0]*/(?=jit-[^/\0]*\.dump\0)")


def markers(data):
    """The paths of the dumps that a perf.data names."""
    with open(data, "rb") as file:
        content = file.read()
    return sorted({content[m.start():content.index(b"\0", m.end())].decode()
                   for m in MARKER.finditer(content)})


def redirect_markers(data, directory):
    """Makes the markers of a perf.data (little-endian, not compressed) name `directory`."""
    with open(data, "rb") as file:
        content = file.read()
    start, size = struct.unpack_from("<QQ", content, 40)
    end = start + size
    records = bytearray()
    at = start
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", content, at)
        record = content[at:at + size]
        marker = MARKER.search(record) if kind in (MMAP, MMAP2) else None
        if marker:
            record = renamed(record, marker, os.fsencode(directory) + b"/")
        records += record
        at += size
    grown = len(records) - (end - start)
    head, tail = bytearray(content[:start]), bytearray(content[end:])
    struct.pack_into("<Q", head, 48, len(records))
    features = sum(word.bit_count() for word in struct.unpack_from("<4Q", content, 72))
    for row in range(features):
        offset, = struct.unpack_from("<Q", tail, 16 * row)
        struct.pack_into("<Q", tail, 16 * row, offset + grown)
    with open(data, "wb") as file:
        file.write(head + records + tail)


def renamed(record, marker, directory):
    """The mapping record with another directory in its path, which is padded to 8 bytes."""
    name_end = record.index(b"\0", marker.end())
    padded_end = marker.start() + (name_end - marker.start()) // 8 * 8 + 8
    name = directory + record[marker.end():name_end]
    name = name.ljust(len(name) // 8 * 8 + 8, b"\0")
    record = bytearray(record[:marker.start()] + name + record[padded_end:])
    struct.pack_into("<H", record, 6, len(record))
    return bytes(record)


class Recording:
    """A perf.data and the dumps beside it, or where its markers say.

    Of a fixture, the programs and libraries that were recorded are not to be had.
    """

    def __init__(self, path, is_fixture=False):
        self.is_fixture = is_fixture
        self.data = os.path.join(path, "perf.data") if os.path.isdir(path) else path
        self.folder = os.path.dirname(os.path.abspath(self.data))

    def dumps(self):
        found = {name: os.path.join(self.folder, name) for name in os.listdir(self.folder)
                 if re.fullmatch(r"jit-.*\.dump", name)}
        for path in markers(self.data):
            if os.path.exists(path):
                found.setdefault(os.path.basename(path), path)
        return list(found.values())

    def copy(self, directory):
        os.makedirs(directory, exist_ok=True)
        for path in self.dumps():
            shutil.copy(path, directory)
        return shutil.copy(self.data, os.path.join(directory, "perf.data"))


class Workshop:
    """A scratch directory where both tools work on copies of one recording."""

    def __init__(self, recording, jitinject):
        self.recording = recording
        self.jitinject = jitinject
        # perf inject makes a file for each function: on a disk that takes minutes.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="e2e-", dir=memory)
        self.caches = 0
        self.said = ""  # what jitinject found odd

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def cache(self):
        self.caches += 1
        return self.path(f"home{self.caches}")

    def perf_inject(self, perf):
        """perf's output and the home to read it with."""
        data = self.recording.copy(self.directory)
        redirect_markers(data, self.directory)
        output, cache = self.path(f"perf-{perf.version}.data"), self.cache()
        perf.inject(data, output, cache)
        return output, cache

    @functools.cached_property
    def output(self):
        """What jitinject makes of the recording as it is."""
        folder = self.path("ours")
        data = self.recording.copy(folder)
        output = os.path.join(folder, "perf.jit.data")
        done = run([self.jitinject, "-i", data, "-o", output])
        self.said = done.stderr.decode(errors="replace")
        print(self.said + done.stdout.decode(), end="")
        return output

    def images(self):
        """Names of the .so files that jitinject made."""
        folder = os.path.dirname(self.output)
        return sorted(name for name in os.listdir(folder) if name.endswith(".so"))
