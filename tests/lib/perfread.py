# SPDX-License-Identifier: MIT
"""Reads perf.data files (uncompressed, either form and byte order), to check what was written.

Strict: PerfFileError where sections overlap or leave the file, a record has no possible size, or
the AUXTRACE index points to something else. As a program it lists the records, one a line:

    python3 perfread.py [--no-time] FILE [TYPE...]
"""

import bisect
import struct
import sys

TYPES = {
    1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK",
    8: "READ", 9: "SAMPLE", 10: "MMAP2", 11: "AUX", 12: "ITRACE_START", 13: "LOST_SAMPLES",
    14: "SWITCH", 15: "SWITCH_CPU_WIDE", 16: "NAMESPACES", 17: "KSYMBOL", 18: "BPF_EVENT",
    19: "CGROUP", 20: "TEXT_POKE", 21: "AUX_OUTPUT_HW_ID", 64: "HEADER_ATTR",
    65: "HEADER_EVENT_TYPE", 66: "TRACING_DATA", 67: "BUILD_ID", 68: "FINISHED_ROUND",
    69: "ID_INDEX", 70: "AUXTRACE_INFO", 71: "AUXTRACE", 72: "AUXTRACE_ERROR", 73: "THREAD_MAP",
    74: "CPU_MAP", 75: "STAT_CONFIG", 76: "STAT", 77: "STAT_ROUND", 78: "EVENT_UPDATE",
    79: "TIME_CONV", 80: "HEADER_FEATURE", 81: "COMPRESSED", 82: "FINISHED_INIT",
    83: "COMPRESSED2",
}
BUILD_ID_FEATURE, HOSTNAME_FEATURE, AUXTRACE_FEATURE = 2, 3, 18
SAMPLE_ID_ALL, MMAP_BUILD_ID, BUILD_ID_SIZE = 1 << 18, 1 << 14, 1 << 15

# sample_type bits of the words at the beginning of a sample and at the end of other records.
IDENTIFIER, TID, TIME, ID, STREAM_ID, CPU = 1 << 16, 1 << 1, 1 << 2, 1 << 6, 1 << 9, 1 << 7
SAMPLE_WORDS = [("id", IDENTIFIER), ("ip", 1), ("tid", TID), ("time", TIME), ("addr", 8),
                ("id", ID), ("stream_id", STREAM_ID), ("cpu", CPU), ("period", 1 << 8)]
TRAILER_WORDS = [("tid", TID), ("time", TIME), ("id", ID), ("stream_id", STREAM_ID), ("cpu", CPU),
                 ("id", IDENTIFIER)]
READ, CALLCHAIN = 1 << 4, 1 << 5


class PerfFileError(Exception):
    pass


class Attr:
    def __init__(self, order, data, ids):
        self.type, self.size, self.config, self.period, self.sample_type, self.read_format = (
            struct.unpack_from(order + "IIQQQQ", data))
        flags = data[40:48]
        if order == ">":
            flags = bytes(int(f"{byte:08b}"[::-1], 2) for byte in flags)
        self.flags = int.from_bytes(flags, "little")
        self.clockid, = struct.unpack_from(order + "i", data.ljust(96, b"\0"), 92)
        self.ids, self.bytes = ids, data


class Record:
    """A record: its header, its bytes, and the fields its type has, as attributes."""

    def __init__(self, type, misc, offset, data):
        self.type, self.misc, self.offset, self.bytes = type, misc, offset, data
        self.payload = b""  # what follows outside of its size
        self.pid = self.tid = self.time = self.id = self.cpu = self.stream_id = None

    @property
    def name(self):
        return TYPES.get(self.type, str(self.type))

    def __str__(self):
        return self.describe()

    def describe(self, with_time=True):
        text = self.name
        if self.pid is not None:
            text += f" {self.pid}/{self.tid}"
        if with_time and self.time is not None:
            text += f" {self.time}"
        if self.type in (1, 10):
            text += f" {self.addr:#x}+{self.len:#x} @{self.pgoff:#x} {self.filename}"
        elif self.type == 3:
            text += f" {self.comm}"
        elif self.type in (4, 7):
            text += f" from {self.ppid}/{self.ptid}"
        elif self.type == 9:
            text += f" {self.ip:#x}" if hasattr(self, "ip") else ""
        return text


class PerfFile:
    """order, pipe, attrs, records, features {bit: bytes}; in pipe form attrs and features too.

    references: offsets of the numbers that are offsets into the file, but for that of the data.
    """

    def __init__(self, data):
        self.bytes = data
        self.attrs, self.records, self.features = [], [], {}
        self.references = []
        if data[:8] not in (b"PERFILE2", b"2ELIFREP"):
            raise PerfFileError("no perf.data")
        self.order = "<" if data[:8] == b"PERFILE2" else ">"
        size, = self._words(8, 1)
        self.pipe = size == 16
        self._record_starts = []
        self._by_id = {}
        if self.pipe:
            self._read_records(16, len(data))
        else:
            self._read_file(size)
        self._decode()

    def of_type(self, *names):
        return [record for record in self.records if record.name in names]

    def build_ids(self):
        """Rows of (build-id, filename, pid) of the build-id feature or the BUILD_ID records."""
        rows = [record.bytes for record in self.of_type("BUILD_ID")]
        data = self.features.get(BUILD_ID_FEATURE, b"")
        while data:
            size, = struct.unpack_from(self.order + "H", data, 6)
            if size < 36 or size > len(data):
                raise PerfFileError("build-id feature: a row of impossible size")
            rows.append(data[:size])
            data = data[size:]
        result = []
        for row in rows:
            misc, = struct.unpack_from(self.order + "H", row, 4)
            pid, = struct.unpack_from(self.order + "i", row, 8)
            id_size = row[32] if misc & BUILD_ID_SIZE else 20
            result.append((row[12:12 + id_size], self._string(row, 36), pid))
        return result

    def arch(self):
        data = self.features.get(6)
        return self._string(data, 4) if data else None

    # ---- The file ----

    def _words(self, at, count, data=None):
        data = self.bytes if data is None else data
        if at + 8 * count > len(data):
            raise PerfFileError(f"cut at {len(data)}, wanted {count} words at {at}")
        return struct.unpack_from(f"{self.order}{count}Q", data, at)

    def _section(self, name, offset, size):
        if offset + size > len(self.bytes):
            raise PerfFileError(f"{name} at {offset}+{size} leaves the file")
        if size:
            self._sections.append((offset, size, name))
        return self.bytes[offset:offset + size]

    def _read_file(self, header_size):
        if header_size != 104:
            raise PerfFileError(f"header of {header_size} bytes")
        attr_size, attrs_at, attrs_size, data_at, data_size = self._words(16, 5)
        self._sections = []
        self._section("header", 0, header_size)
        attrs = self._section("attrs", attrs_at, attrs_size)
        self._section("data", data_at, data_size)
        if attr_size < 80 or attrs_size % attr_size:
            raise PerfFileError(f"attrs of {attrs_size} bytes, {attr_size} each")
        self.references.append(24)
        for at in range(0, attrs_size, attr_size):
            self.references.append(attrs_at + at + attr_size - 16)
            ids_at, ids_size = self._words(at + attr_size - 16, 2, attrs)
            ids = self._section("ids", ids_at, ids_size)
            self.attrs.append(Attr(self.order, attrs[at:at + attr_size - 16],
                                   list(self._words(0, ids_size // 8, ids))))

        bits = self._feature_bits("Q")
        if HOSTNAME_FEATURE not in bits and HOSTNAME_FEATURE in self._feature_bits("I"):
            bits = self._feature_bits("I")
        table_at = data_at + data_size
        table = self._section("feature table", table_at, 16 * len(bits))
        for number, bit in enumerate(bits):
            self.references.append(table_at + 16 * number)
            offset, size = self._words(16 * number, 2, table)
            self.features[bit] = self._section(f"feature {bit}", offset, size)
            if bit == AUXTRACE_FEATURE:
                self.references += range(offset + 8, offset + size, 16)

        end, before = 0, None
        for offset, size, name in sorted(self._sections):
            if offset < end:
                raise PerfFileError(f"{name} at {offset} overlaps {before}")
            end, before = offset + size, name
        self._read_records(data_at, table_at)
        self._check_auxtrace_index()

    def _feature_bits(self, word):
        """The bits that are set, for words of the size of `word`, the writer's unsigned long."""
        size = 8 * struct.calcsize(word)
        words = struct.unpack_from(f"{self.order}{256 // size}{word}", self.bytes, 72)
        return [size * number + bit for number, value in enumerate(words) for bit in range(size)
                if value >> bit & 1]

    def _read_records(self, at, end):
        while at < end:
            if at + 8 > end:
                raise PerfFileError(f"record header cut at {at}")
            type, misc, size = struct.unpack_from(self.order + "IHH", self.bytes, at)
            if size < 8 or at + size > end:
                raise PerfFileError(f"record of type {type} and size {size} at {at}")
            record = Record(type, misc, at, self.bytes[at:at + size])
            following = 0
            if record.name == "AUXTRACE":
                following, = self._words(8, 1, record.bytes)
            elif record.name == "TRACING_DATA":
                following, = struct.unpack_from(self.order + "I", record.bytes, 8)
            elif record.name == "HEADER_ATTR" and self.pipe:
                attr_size, = struct.unpack_from(self.order + "I", record.bytes, 12)
                ids = record.bytes[8 + attr_size:]
                self.attrs.append(Attr(self.order, record.bytes[8:8 + attr_size],
                                       list(self._words(0, len(ids) // 8, ids))))
            elif record.name == "HEADER_FEATURE" and self.pipe:
                self.features[self._words(8, 1, record.bytes)[0]] = record.bytes[16:]
            if at + size + following > end:
                raise PerfFileError(f"payload of the record at {at} leaves the data")
            record.payload = self.bytes[at + size:at + size + following]
            self.records.append(record)
            self._record_starts.append(at)
            at += size + following

    def _check_auxtrace_index(self):
        index = self.features.get(AUXTRACE_FEATURE)
        if index is None:
            return
        count, = self._words(0, 1, index)
        for number in range(count):
            offset, size = self._words(8 + 16 * number, 2, index)
            place = bisect.bisect_left(self._record_starts, offset)
            if (place == len(self.records) or self.records[place].offset != offset
                    or self.records[place].name != "AUXTRACE"
                    or len(self.records[place].bytes) != size):
                raise PerfFileError(f"AUXTRACE index {number}: no such record at {offset}")

    # ---- Records ----

    def _decode(self):
        for attr in self.attrs:
            for id in attr.ids:
                self._by_id[id] = attr
        for record in self.records:
            if record.name == "SAMPLE":
                self._decode_sample(record)
            elif record.type < 64:
                self._decode_event(record)

    def _string(self, data, at):
        end = data.find(b"\0", at)
        if end < 0:
            raise PerfFileError("a name without an end")
        return data[at:end].decode(errors="surrogateescape")

    def _pair(self, word):
        low, high = word & 0xFFFFFFFF, word >> 32
        return (low, high) if self.order == "<" else (high, low)

    def _set_words(self, record, layout, bits, at):
        """Sets the fields of `layout` that `bits` has, from the word at `at` on."""
        present = [name for name, bit in layout if bits & bit]
        for name, word in zip(present, self._words(at, len(present), record.bytes)):
            if name == "tid":
                record.pid, record.tid = self._pair(word)
            else:
                setattr(record, name, self._pair(word)[0] if name == "cpu" else word)
        return at + 8 * len(present)

    def _attr_of(self, record, in_sample):
        if len(self.attrs) < 2:
            return self.attrs[0] if self.attrs else None
        bits = self.attrs[0].sample_type
        layout = SAMPLE_WORDS if in_sample else TRAILER_WORDS
        present = [name for name, bit in layout if bits & bit]
        if "id" not in present:
            return self.attrs[0]
        at = 8 + 8 * present.index("id")
        if not in_sample:
            at += len(record.bytes) - 8 - 8 * len(present)
        id, = self._words(at, 1, record.bytes)
        return self._by_id.get(id, self.attrs[0])

    def _decode_sample(self, record):
        attr = self._attr_of(record, True)
        if not attr:
            return
        at = self._set_words(record, SAMPLE_WORDS, attr.sample_type, 8)
        record.callchain = []
        if attr.sample_type & CALLCHAIN and not attr.sample_type & READ:
            count, = self._words(at, 1, record.bytes)
            record.callchain = list(self._words(at + 8, count, record.bytes))

    def _decode_event(self, record):
        data, order = record.bytes, self.order
        attr = self._attr_of(record, False)
        if attr and attr.flags & SAMPLE_ID_ALL:
            trailer = 8 * sum(attr.sample_type & bit != 0 for _, bit in TRAILER_WORDS)
            self._set_words(record, TRAILER_WORDS, attr.sample_type, len(data) - trailer)
            data = data[:len(data) - trailer]
        # What the event says of its own goes before the task that its sample id names.
        if record.name in ("MMAP", "MMAP2"):
            record.pid, record.tid, record.addr, record.len, record.pgoff = struct.unpack_from(
                order + "IIQQQ", data, 8)
            record.filename = self._string(data, 40 if record.name == "MMAP" else 72)
        elif record.name == "COMM":
            record.pid, record.tid = struct.unpack_from(order + "II", data, 8)
            record.comm = self._string(data, 16)
        elif record.name in ("FORK", "EXIT"):
            record.pid, record.ppid, record.tid, record.ptid = struct.unpack_from(
                order + "IIII", data, 8)
        if record.name == "MMAP2":
            record.prot, record.flags = struct.unpack_from(order + "II", data, 64)
            record.build_id = None
            if record.misc & MMAP_BUILD_ID:
                record.build_id = data[44:44 + data[40]]
            else:
                record.major, record.minor, record.inode, record.generation = struct.unpack_from(
                    order + "IIQQ", data, 40)


def read(path):
    with open(path, "rb") as file:
        return PerfFile(file.read())


def main(arguments):
    with_time = "--no-time" not in arguments
    path, *types = [argument for argument in arguments if argument != "--no-time"]
    for record in read(path).records:
        if not types or record.name in types:
            print(record.describe(with_time))


if __name__ == "__main__":
    main(sys.argv[1:])
