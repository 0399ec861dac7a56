# SPDX-License-Identifier: MIT
"""Random recordings of JITs, and what a reader has to find in them.

    story = Story(seed=1)
    story.write("folder")                 perf.data and the dumps
    for sample in story.samples: ...      sample.names: what may be the name of its function

Processes load code, over older code too, move it, map memory and files over it, and fork. What is
where at what time is kept in the most simple way there is: a list of all that ever came, of which
the last one counts.
"""

import collections
import os
import random

import targets
from jitbuild import JitDump
from perfbuild import (ARCH, CALLCHAIN, CPU, DEFAULT_FLAGS, FLAG_MMAP2, HOSTNAME, ID, IDENTIFIER, IP,
                       KERNEL, MMAP_DATA, PERIOD, PROT_READ, SAMPLE_ID_ALL, TID, TIME, USER, Attr,
                       PerfData)

UNKNOWN = "[unknown]"
PAGE = 0x1000

# How it is recorded. `target`: of tests/lib/targets.py. `id`: IDENTIFIER, ID or 0 (one event).
# `sample_id_all`: whether events have times. `mmap2`: whether mappings are MMAP2. `rounds`: whether
# FINISHED_ROUND tells when they end. `pipe`, `compressed`, `attrs_last`: forms of the file.
Style = collections.namedtuple(
    "Style", "target attr_size id events cpus sample_id_all mmap2 rounds pipe compressed attrs_last",
    defaults=["x86_64", 128, IDENTIFIER, 2, 3, True, True, True, False, False, False])

# Something that came to be at [start, end): a function of that name, or one of these.
Change = collections.namedtuple("Change", "time start end what")
FILE, MEMORY = object(), object()
Load = collections.namedtuple("Load", "addr code name index")
Sample = collections.namedtuple("Sample", "time pid ip names")


class Process:
    def __init__(self, pid, inner, parent=None, time=0):
        self.pid, self.inner, self.parent = pid, inner, parent
        self.forked = time
        self.history = list(parent.history) if parent else []
        self.loads = []  # its own
        self.dump = None
        self.regions = parent.regions if parent else []

    def at(self, ip):
        return [change for change in self.history if change.start <= ip < change.end]

    def names(self, ip, time):
        """What may be the name of what is at `ip` at that time."""
        what = None
        for change in self.at(ip):
            # Memory is often mapped over code that lives on, but never over a file that does.
            if change.time <= time and (change.what is not MEMORY or what is FILE):
                what = change.what
        if isinstance(what, str):
            return {what}
        return {UNKNOWN} if what is FILE else {UNKNOWN} | self.early_names(ip, time)

    def early_names(self, ip, time):
        """Runtimes log code a little after it may run, so that it may have its name before. And
        what a process loads may have its name in a child of before, where nothing else is."""
        names = self.parent.early_names(ip, self.forked) if self.parent else set()
        coming = [change.what for change in self.at(ip)
                  if change.time > time and change.what is not MEMORY]
        return names | {what for what in coming[:1] if what is not FILE}


def region_of(process, addr):
    return next((start, size) for start, size in process.regions if start <= addr < start + size)


def random_style(rng):
    """Some way to record that readers understand."""
    style = Style(target=rng.choice(targets.TARGETS).name,
                  attr_size=rng.choice([64, 72, 80, 96, 104, 112, 120, 128]),
                  id=rng.choice([IDENTIFIER, ID, 0]), cpus=rng.randint(1, 4),
                  sample_id_all=rng.random() < 0.85, mmap2=rng.random() < 0.8,
                  rounds=rng.random() < 0.85, pipe=rng.random() < 0.2,
                  compressed=rng.random() < 0.2, attrs_last=rng.random() < 0.2)
    return sound(style._replace(events=rng.randint(1, 3) if style.id else 1))


def sound(style):
    """The style without what does not go together."""
    if style.attr_size < 96:
        style = style._replace(attr_size=96)  # no room for the clock, which has to be known
    if style.pipe:
        # perf reads the events of a pipe too late to see that they have no times.
        style = style._replace(attrs_last=False, sample_id_all=True)
    if not style.sample_id_all:
        # Readers take the records as they come, so these have to come in order.
        style = style._replace(cpus=1, id=style.id and ID)
    return style


class Story:
    def __init__(self, seed, style=None, steps=400):
        self.random = random.Random(seed)
        self.style = random_style(self.random) if style is None else sound(style)
        self.target = targets.BY_NAME[self.style.target]
        self.time = 1_000_000
        self.next_pid = 100
        self.next_name = 0
        self.processes = []
        self.ended = []
        self.records = []  # (time, cpu, function that adds it to a PerfData)
        self.asked = []    # (time, process, ip)
        self.folder = None
        for _ in range(self.random.randint(1, 3)):
            self.begin()
        for _ in range(steps):
            self.step()

    @property
    def samples(self):
        return [Sample(time, process.pid, ip, process.names(ip, time))
                for time, process, ip in self.asked]

    # ---- What happens ----

    def tick(self):
        self.time += self.random.choice([3, 10, 100, 5000])
        return self.time

    def record(self, add, time=None):
        """`add` takes a PerfData and the keywords time, cpu and attr."""
        self.records.append((self.tick() if time is None else time,
                             self.random.randrange(self.style.cpus), add))

    def begin(self):
        pid = self.new_pid()
        inner = pid if self.random.random() < 0.8 else pid - 95
        process = Process(pid, inner)
        self.processes.append(process)
        base = self.target.heap + self.random.randrange(16) * PAGE
        apart = [0, 0x20000, 0x400000] + [0x300000000] * (self.target.bits == 64)
        process.regions = [(base + offset, self.random.choice([4, 16, 64]) * PAGE)
                           for offset in apart if not offset or self.random.random() < 0.6]
        self.record(lambda perf, **ids: perf.comm("app", pid=pid, **ids))
        self.map_file(process, "/usr/bin/app", 0x10000, 16 * PAGE)
        steps = [lambda: self.announce(process),
                 lambda: [self.map_memory(process, *region) for region in process.regions]]
        self.random.shuffle(steps)
        for step in steps:
            step()

    def new_pid(self):
        self.next_pid += self.random.randint(1, 3)
        return self.next_pid

    def announce(self, process):
        """The process makes a dump and maps it."""
        process.dump = JitDump(process.inner, mach=self.target.machine, order=self.target.order)
        process.dump.owners = {process.inner}
        self.map(process, lambda: f"{self.folder}/jit-{process.inner}.dump", 0x5000, PAGE)

    def map(self, process, name, addr, size, **fields):
        """A mapping event; `name` is a function if it is known only later."""
        def add(perf, **ids):
            text = name() if callable(name) else name
            if self.style.mmap2:
                perf.mmap2(text, addr, size, pid=process.pid, **fields, **ids)
            else:
                perf.mmap(text, addr, size, pid=process.pid, misc=fields.get("misc", USER), **ids)
        self.record(add)

    def map_memory(self, process, addr, size):
        self.map(process, self.random.choice(["//anon", "//anon", "/memfd:jit (deleted)",
                                              "[anon:js]", "/dev/zero (deleted)"]), addr, size)
        process.history.append(Change(self.time, addr, addr + size, MEMORY))

    def map_file(self, process, name, addr, size):
        data = self.random.random() < 0.2
        self.map(process, name, addr, size, prot=PROT_READ if data else 5,
                 misc=USER | (MMAP_DATA if data else 0))
        process.history.append(Change(self.time, addr, addr + size, FILE))

    def place(self, process):
        """Where code may go: often where some is already."""
        start, size = self.random.choice(process.regions)
        length = self.random.choice([1, 16, 100, 600, 3000])
        addr = self.aligned(start + self.random.randrange(size - length))
        taken = [change for change in process.history if isinstance(change.what, str)]
        if taken and self.random.random() < 0.5:
            addr = self.random.choice(taken).start
            start, size = region_of(process, addr)
            addr += self.random.choice([0, 0, 1, -40, 64])
            addr = self.aligned(min(max(addr, start), start + size - length))
        return addr, length

    def aligned(self, addr):
        return addr // self.target.align * self.target.align

    def load(self, process):
        if not process.dump:
            return
        addr, length = self.place(process)
        if process.loads and self.random.random() < 0.1:
            old = self.random.choice(process.loads)  # the same once more
            self.log_load(process, old.addr, old.code, old.name)
            return
        self.next_name += 1
        self.log_load(process, addr, self.random.randbytes(length), f"f{self.next_name}_{process.pid}")

    def log_load(self, process, addr, code, name):
        index = process.dump.load(addr, code, name, time=self.tick(), pid=process.inner)
        process.loads.append(Load(addr, code, name, index))
        process.history.append(Change(self.time, addr, addr + len(code), name))

    def move(self, process):
        if not process.loads or process.inner not in process.dump.owners:
            return
        load = self.random.choice(process.loads)
        addr, _ = self.place(process)
        start, size = region_of(process, addr)
        addr = self.aligned(min(addr, start + size - len(load.code)))
        process.dump.move(load.addr, addr, len(load.code), load.index, time=self.tick(),
                          pid=process.inner)
        process.history.append(Change(self.time, addr, addr + len(load.code), load.name))

    def remap(self, process):
        """As mprotect does: memory over memory, code in it or not."""
        start, size = self.random.choice(process.regions)
        first = self.random.randrange(size // PAGE)
        pages = self.random.randint(1, size // PAGE - first)
        self.map_memory(process, start + first * PAGE, pages * PAGE)

    def overlay(self, process):
        """A file where code is, or may come."""
        if not self.style.sample_id_all:
            return  # whether before or after the last load nobody could tell
        start, size = self.random.choice(process.regions)
        addr = start + self.random.randrange(size // PAGE) * PAGE
        self.map_file(process, f"/lib/{self.random.choice('abc')}.so", addr, PAGE)

    def fork(self, parent):
        if len(self.processes) > 5:
            return
        pid = self.new_pid()
        own_dump = self.random.random() < 0.5 or parent.inner != parent.pid
        self.record(lambda perf, **ids: perf.fork(pid, parent.pid, **ids))
        inner = pid if parent.inner == parent.pid else pid - 95
        child = Process(pid, inner, parent, self.time)
        self.processes.append(child)
        if own_dump:
            self.announce(child)
        elif parent.dump:
            child.dump = parent.dump  # which has the child's pid in its records then
            child.dump.owners.add(child.inner)

    def sample(self, process):
        near = [change for change in process.history if change.start > 0x20000]
        if near and self.random.random() < 0.8:
            change = self.random.choice(near)
            ip = change.start + self.random.randrange(-2, change.end - change.start + 2)
        else:
            start, size = self.random.choice(process.regions)
            ip = start + self.random.randrange(size)
        event = self.random.randrange(self.style.events)
        kernel = self.random.random() < 0.02

        def add(perf, **ids):
            perf.sample(ip, pid=process.pid, misc=KERNEL if kernel else USER, **{**ids, "attr": event})
        self.record(add)
        if not kernel:
            self.asked.append((self.time, process, ip))

    def step(self):
        actions = [(self.sample, 60), (self.load, 20), (self.remap, 4), (self.move, 3),
                   (self.overlay, 1), (self.fork, 1)]
        action, = self.random.choices([action for action, _ in actions],
                                      [weight for _, weight in actions])
        action(self.random.choice(self.processes))

    # ---- How it is recorded ----

    def attrs(self):
        bits = IP | TID | TIME | self.style.id | self.random.choice([0, PERIOD])
        bits |= self.random.choice([0, CPU])
        flags = DEFAULT_FLAGS
        if not self.style.sample_id_all:
            flags &= ~SAMPLE_ID_ALL
        if not self.style.mmap2:
            flags &= ~FLAG_MMAP2
        return [Attr(bits, config=number, flags=flags, size=self.style.attr_size,
                     ids=[10 * number + 1, 10 * number + 2] if self.style.id else [])
                for number in range(self.style.events)]

    def in_rounds(self):
        """Lists of records as perf reads them out: one buffer after another, each up to its now."""
        buffers = [collections.deque() for _ in range(self.style.cpus)]
        for record in self.records:
            buffers[record[1]].append(record)
        now = self.records[0][0]
        while any(buffers):
            now += self.random.choice([100, 10_000, 200_000])
            batch = []
            for buffer in buffers:
                now += self.random.randrange(50)
                while buffer and buffer[0][0] <= now:
                    batch.append(buffer.popleft())
            yield batch

    def add_records(self, perf):
        for batch in self.in_rounds():
            for time, cpu, add in batch:
                add(perf, time=time, cpu=cpu, attr=0)
            if self.style.rounds:
                perf.finished_round()

    def build(self, folder):
        """The PerfData, whose markers name dumps in `folder`."""
        self.folder = folder
        perf = PerfData(self.attrs(), self.target.order, long_bits=self.target.bits)
        if self.style.compressed:
            with perf.compressed(chunk=4000):
                self.add_records(perf)
        else:
            self.add_records(perf)
        perf.feature_string(HOSTNAME, "a-host")
        perf.feature_string(ARCH, self.target.arch)
        return perf

    def write(self, folder):
        options = {} if self.style.pipe else {"attrs_last": self.style.attrs_last}
        self.build(folder).write(os.path.join(folder, "perf.data"), pipe=self.style.pipe, **options)
        for process in self.processes:
            if process.dump and process.dump.pid == process.inner:
                process.dump.write(os.path.join(folder, f"jit-{process.inner}.dump"))
