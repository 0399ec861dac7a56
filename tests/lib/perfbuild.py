# SPDX-License-Identifier: MIT
"""Builds perf.data files, byte by byte, for tests and measurements.

    perf = PerfData([Attr(IP | TID | TIME)])
    perf.comm("node", pid=100, time=1)
    perf.mmap2("/tmp/jit-100.dump", 0x7000, 0x1000, pid=100, time=2)
    perf.sample(0x7010, pid=100, time=3)
    perf.finished_round()
    perf.feature_string(ARCH, "x86_64")
    perf.write("perf.data")

Nothing is checked: whatever the caller asks for is written, right or wrong. Every record is built
from the sample_type of its attr, so the sample ids at its end are always complete. Format:
tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h of Linux.
"""

import contextlib
import struct

# Record types.
(MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ, SAMPLE, MMAP2, AUX, ITRACE_START,
 LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP, TEXT_POKE,
 AUX_OUTPUT_HW_ID) = range(1, 22)
(HEADER_ATTR, HEADER_EVENT_TYPE, TRACING_DATA, HEADER_BUILD_ID, FINISHED_ROUND, ID_INDEX,
 AUXTRACE_INFO, AUXTRACE, AUXTRACE_ERROR, THREAD_MAP, CPU_MAP, STAT_CONFIG, STAT, STAT_ROUND,
 EVENT_UPDATE, TIME_CONV, HEADER_FEATURE, COMPRESSED, FINISHED_INIT, COMPRESSED2) = range(64, 84)

# Bits of sample_type, in the order of perf_event.h.
(IP, TID, TIME, ADDR, SAMPLE_READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK,
 REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER) = (1 << bit for bit in range(17))

# Bits of the flags of an attr.
INHERIT = 1 << 1
FLAG_MMAP = 1 << 8
FLAG_COMM = 1 << 9
TASK = 1 << 13
SAMPLE_ID_ALL = 1 << 18
FLAG_MMAP2 = 1 << 23
COMM_EXEC = 1 << 24
USE_CLOCKID = 1 << 25
DEFAULT_FLAGS = INHERIT | FLAG_MMAP | FLAG_COMM | TASK | SAMPLE_ID_ALL | FLAG_MMAP2 | COMM_EXEC

CLOCK_MONOTONIC = 1

# header.misc.
KERNEL, USER = 1, 2
MMAP_DATA = 1 << 13
MMAP_BUILD_ID = 1 << 14

# Features (bits of the header).
(TRACING, BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CMDLINE,
 EVENT_DESC) = range(1, 13)
AUXTRACE_INDEX, SAMPLE_TIME, CLOCKID, DIR_FORMAT, FEATURE_COMPRESSED, CLOCK_DATA = (
    18, 21, 23, 24, 27, 29)

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_SHARED, MAP_PRIVATE = 1, 2

_HEADER_SIZE = 104


def padded(data, unit=8):
    return data + bytes(-len(data) % unit)


def cstring(text):
    return (text if isinstance(text, bytes) else text.encode()) + b"\0"


class Attr:
    """A perf_event_attr and the ids of its events. clockid None: the default clock of perf."""

    def __init__(self, sample_type=IP | TID | TIME | PERIOD, *, type=1, config=0, period=1000000,
                 flags=DEFAULT_FLAGS, clockid=CLOCK_MONOTONIC, ids=(), size=128, regs_user=0,
                 stack_user=0, read_format=0, branches=0):
        self.sample_type = sample_type
        self.type, self.config, self.period = type, config, period
        self.flags = flags | (USE_CLOCKID if clockid is not None else 0)
        self.clockid = clockid or 0
        self.ids, self.size = list(ids), size
        self.regs_user, self.stack_user = regs_user, stack_user
        self.read_format = read_format
        self.branches = branches  # branch_sample_type

    def pack(self, order="<"):
        # The flags are a bit field, which a big-endian compiler fills from the top bit of the
        # first byte on: not the same as a u64 in the other byte order.
        flags = self.flags.to_bytes(8, "little")
        if order == ">":
            flags = bytes(int(f"{byte:08b}"[::-1], 2) for byte in flags)
        fields = struct.pack(order + "IIQQQQ", self.type, self.size, self.config, self.period,
                             self.sample_type, self.read_format)
        fields += flags
        fields += struct.pack(order + "IIQQQQIiQ", 0, 0, 0, 0, self.branches, self.regs_user, self.stack_user,
                              self.clockid, 0)
        return fields.ljust(self.size, b"\0")[:self.size]


class PerfData:
    def __init__(self, attrs=None, order="<", long_bits=64):
        """`long_bits`: of the recorder's unsigned long, of which the map of features is made."""
        self.attrs = list(attrs) if attrs is not None else [Attr()]
        self.order, self.long_bits = order, long_bits
        self.data = bytearray()  # the records
        self.features = {}       # bit -> payload
        self._auxtrace = []      # (offset in data, size) of the AUXTRACE records
        self._zstd_begun = False
        self._header = struct.Struct(order + "IHH")
        self._words = {}

    # ---- Records ----

    def record(self, type, body=b"", misc=0, size=None):
        """Any record. `size` overrides header.size."""
        self.data += self._header.pack(type, misc, 8 + len(body) if size is None else size)
        self.data += body

    def raw(self, data):
        """Bytes as they are."""
        self.data += data

    def event(self, type, body, *, pid=0, tid=None, time=0, id=None, cpu=0, stream_id=0, misc=0,
              attr=0):
        """A record of the kernel: the body, padded, and the sample ids that its attr asks for."""
        body = padded(body)
        attr = self.attrs[attr]
        if attr.flags & SAMPLE_ID_ALL:
            body += self._sample_id(attr, pid, pid if tid is None else tid, time,
                                    self._id(attr, id), stream_id, cpu)
        self.record(type, body, misc)

    def mmap(self, filename, addr, length, pgoff=0, *, pid, tid=None, misc=USER, **ids):
        tid = pid if tid is None else tid
        body = struct.pack(self.order + "IIQQQ", pid, tid, addr, length, pgoff) + cstring(filename)
        self.event(MMAP, body, pid=pid, tid=tid, misc=misc, **ids)

    def mmap2(self, filename, addr, length, pgoff=0, *, pid, tid=None, major=8, minor=1, inode=0,
              generation=0, build_id=None, prot=PROT_READ | PROT_EXEC, flags=MAP_PRIVATE,
              misc=USER, **ids):
        tid = pid if tid is None else tid
        body = struct.pack(self.order + "IIQQQ", pid, tid, addr, length, pgoff)
        if build_id is None:
            body += struct.pack(self.order + "IIQQ", major, minor, inode, generation)
        else:
            body += struct.pack("BxH20s", len(build_id), 0, build_id)
            misc |= MMAP_BUILD_ID
        body += struct.pack(self.order + "II", prot, flags) + cstring(filename)
        self.event(MMAP2, body, pid=pid, tid=tid, misc=misc, **ids)

    def comm(self, name, *, pid, tid=None, misc=0, **ids):
        tid = pid if tid is None else tid
        body = struct.pack(self.order + "II", pid, tid) + cstring(name)
        self.event(COMM, body, pid=pid, tid=tid, misc=misc, **ids)

    def fork(self, pid, ppid, *, tid=None, ptid=None, time=0, **ids):
        self._task(FORK, pid, ppid, tid, ptid, time, ids)

    def exit(self, pid, ppid=0, *, tid=None, ptid=None, time=0, **ids):
        self._task(EXIT, pid, ppid, tid, ptid, time, ids)

    def sample(self, ip, *, pid, tid=None, time=0, addr=0, id=None, stream_id=0, cpu=0, period=1,
               read=b"", callchain=(), raw=b"", regs_user=(), stack_user=b"", tail=b"", misc=USER,
               attr=0):
        """A sample. `tail` is what follows for the bits of sample_type that are not known here."""
        attr = self.attrs[attr]
        bits, order = attr.sample_type, self.order
        tid = pid if tid is None else tid
        id = self._id(attr, id)
        words = []
        if bits & IDENTIFIER:
            words.append(id)
        if bits & IP:
            words.append(ip)
        if bits & TID:
            words.append(self._pair(pid, tid))
        if bits & TIME:
            words.append(time)
        if bits & ADDR:
            words.append(addr)
        if bits & ID:
            words.append(id)
        if bits & STREAM_ID:
            words.append(stream_id)
        if bits & CPU:
            words.append(self._pair(cpu, 0))
        if bits & PERIOD:
            words.append(period)
        body = self._pack_words(words)
        if bits & SAMPLE_READ:
            body += read
        if bits & CALLCHAIN:
            body += self._pack_words([len(callchain), *callchain])
        if bits & RAW:
            body += padded(struct.pack(order + "I", -(-(len(raw) + 4) // 8) * 8 - 4) + raw)
        if bits & REGS_USER:
            abi = 2 if regs_user else 0  # 64 bit, or none recorded
            body += self._pack_words([abi, *regs_user])
        if bits & STACK_USER:
            stack = padded(stack_user)
            body += self._pack_words([len(stack)]) + stack
            if stack:
                body += self._pack_words([len(stack_user)])
        self.record(SAMPLE, body + tail, misc)

    def finished_round(self):
        self.record(FINISHED_ROUND)

    def time_conv(self, shift, mult, zero, cycles=None, mask=0, cap_zero=True, cap_short=True):
        """TIME_CONV; without `cycles` in the short form that older perf writes."""
        body = self._pack_words([shift, mult, zero])
        if cycles is not None:
            body += self._pack_words([cycles, mask]) + struct.pack("BB6x", cap_zero, cap_short)
        self.record(TIME_CONV, body)

    def auxtrace(self, payload, *, offset=0, reference=0, idx=0, tid=0, cpu=0):
        """AUXTRACE: the payload follows the record, outside of its size."""
        self._auxtrace.append((len(self.data), 48))
        self.record(AUXTRACE, struct.pack(self.order + "QQQIIII", len(payload), offset, reference,
                                          idx, tid, cpu, 0))
        self.data += payload

    @contextlib.contextmanager
    def compressed(self, chunk=60000, type=COMPRESSED):
        """What is added inside goes into COMPRESSED records, `chunk` bytes of content each.

        The zstd stream is one over the whole file, as perf writes it, and holds stored blocks only.
        """
        outside, self.data = self.data, bytearray()
        try:
            yield self
        finally:
            inside, self.data = bytes(self.data), outside
            for at in range(0, len(inside), chunk):
                stream = self._zstd_blocks(inside[at:at + chunk])
                if type == COMPRESSED2:
                    stream = self._pack_words([len(stream)]) + padded(stream)
                self.record(type, stream)
            self.features.setdefault(
                FEATURE_COMPRESSED, struct.pack(self.order + "IIIII", 1, 1, 1, 1, 1 << 19))

    # ---- Features ----

    def feature(self, bit, payload):
        self.features[bit] = payload

    def feature_string(self, bit, text):
        """HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID."""
        data = padded(cstring(text), 64)
        self.features[bit] = struct.pack(self.order + "I", len(data)) + data

    def feature_clock(self, resolution=1, clockid=CLOCK_MONOTONIC, wall=0, clock=0):
        self.features[CLOCKID] = self._pack_words([resolution])
        self.features[CLOCK_DATA] = struct.pack(self.order + "IIQQ", 1, clockid, wall, clock)

    def feature_build_ids(self, rows):
        """Rows of (build-id, filename, pid)."""
        payload = b""
        for build_id, filename, pid in rows:
            name = padded(cstring(filename))
            payload += self._header.pack(0, USER | 1 << 15, 36 + len(name))
            payload += struct.pack(self.order + "i20sBxH", pid, build_id, len(build_id), 0) + name
        self.features[BUILD_ID] = payload

    # ---- Files ----

    def build(self, attrs_last=False, data_size=None, event_types=b""):
        """The file form. `data_size` overrides what the header says, as 0 in an unclosed file;
        `event_types` is a section that perf wrote before the data up to 3.x."""
        attrs_size = sum(attr.size + 16 for attr in self.attrs)
        ids_size = sum(len(attr.ids) * 8 for attr in self.attrs)
        attrs_at, data_at = _HEADER_SIZE + ids_size, _HEADER_SIZE + ids_size + attrs_size
        if attrs_last:
            data_at = _HEADER_SIZE
        types_at = data_at if event_types else 0
        data_at += len(event_types)
        features = self._feature_payloads(data_at)
        table_at = data_at + len(self.data)
        payload_at = table_at + 16 * len(features)
        table, payloads = b"", b""
        for _, payload in features:
            table += self._pack_words([payload_at + len(payloads), len(payload)])
            payloads += payload
        ids_at = payload_at + len(payloads) if attrs_last else _HEADER_SIZE
        if attrs_last:
            attrs_at = ids_at + ids_size

        bitmap = [0] * (256 // self.long_bits)
        for bit, _ in features:
            bitmap[bit // self.long_bits] |= 1 << bit % self.long_bits
        attr_size = self.attrs[0].size + 16 if self.attrs else 144
        header = self._magic() + self._pack_words([
            _HEADER_SIZE, attr_size, attrs_at, attrs_size, data_at,
            len(self.data) if data_size is None else data_size, types_at, len(event_types)])
        header += struct.pack(f"{self.order}{len(bitmap)}{'Q' if self.long_bits == 64 else 'I'}",
                              *bitmap)

        ids, attrs = b"", b""
        for attr in self.attrs:
            attrs += attr.pack(self.order)
            attrs += self._pack_words([ids_at + len(ids), 8 * len(attr.ids)])
            ids += self._pack_words(attr.ids)
        if attrs_last:
            return b"".join([header, event_types, self.data, table, payloads, ids, attrs])
        return b"".join([header, ids, attrs, event_types, self.data, table, payloads])

    def build_pipe(self):
        """The pipe form: all that the header and its sections hold comes as records."""
        pipe = PerfData(self.attrs, self.order)
        for attr in self.attrs:
            pipe.record(HEADER_ATTR, attr.pack(self.order) + self._pack_words(attr.ids))
        for bit, payload in sorted(self.features.items()):
            pipe.record(HEADER_FEATURE, self._pack_words([bit]) + payload)
        return b"".join([self._magic(), self._pack_words([16]), pipe.data, self.data])

    def write(self, path, pipe=False, **options):
        with open(path, "wb") as file:
            file.write(self.build_pipe() if pipe else self.build(**options))

    # ---- Inside ----

    def _magic(self):
        return b"PERFILE2" if self.order == "<" else b"2ELIFREP"

    def _pack_words(self, words):
        words = list(words)
        packer = self._words.get(len(words))
        if packer is None:
            packer = self._words[len(words)] = struct.Struct(f"{self.order}{len(words)}Q")
        return packer.pack(*words)

    def _pair(self, first, second):
        """Two u32 as the u64 that has the same bytes."""
        return first | second << 32 if self.order == "<" else first << 32 | second

    @staticmethod
    def _id(attr, id):
        if id is None:
            return attr.ids[0] if attr.ids else 0
        return id

    def _sample_id(self, attr, pid, tid, time, id, stream_id, cpu):
        bits = attr.sample_type
        words = []
        if bits & TID:
            words.append(self._pair(pid, tid))
        if bits & TIME:
            words.append(time)
        if bits & ID:
            words.append(id)
        if bits & STREAM_ID:
            words.append(stream_id)
        if bits & CPU:
            words.append(self._pair(cpu, 0))
        if bits & IDENTIFIER:
            words.append(id)
        return self._pack_words(words)

    def _task(self, type, pid, ppid, tid, ptid, time, ids):
        tid = pid if tid is None else tid
        ptid = ppid if ptid is None else ptid
        body = struct.pack(self.order + "IIIIQ", pid, ppid, tid, ptid, time)
        self.event(type, body, pid=pid, tid=tid, time=time, **ids)

    def _feature_payloads(self, data_at):
        features = dict(self.features)
        if self._auxtrace:
            index = [value for at, size in self._auxtrace for value in (data_at + at, size)]
            features.setdefault(AUXTRACE_INDEX,
                                self._pack_words([len(self._auxtrace)]) + self._pack_words(index))
        return sorted(features.items())

    def _zstd_blocks(self, content):
        """`content` as stored blocks (RFC 8878, 3.1.1.2.2), none of them the last of its frame."""
        stream = b""
        if not self._zstd_begun:
            self._zstd_begun = True
            stream += struct.pack("<IBB", 0xFD2FB528, 0, 0x58)  # magic, no sizes, window of 2 MiB
        for at in range(0, len(content), 1 << 16):
            block = content[at:at + (1 << 16)]
            stream += (len(block) << 3).to_bytes(3, "little") + block
        return stream
