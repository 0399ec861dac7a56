# SPDX-License-Identifier: MIT
"""Changes perf.data files that others have made, so that there is something to inject.

    data = perfedit.with_clock(data)              as if recorded with -k mono
    data = perfedit.with_record(data, 7, record)  one more record, before number 7
"""

import struct

import perfread

USE_CLOCKID, CLOCK_MONOTONIC = 25, 1
HEADER_DATA_SIZE, HEADER_ATTRS, HEADER_SIZE = 48, 24, 104


def with_clock(data):
    """The file with CLOCK_MONOTONIC as the clock of all its events."""
    file = perfread.PerfFile(data)
    for attr in file.attrs:
        changed = bytearray(attr.bytes)
        bit = 1 << USE_CLOCKID % 8 if file.order == "<" else 0x80 >> USE_CLOCKID % 8
        changed[40 + USE_CLOCKID // 8] |= bit
        struct.pack_into(file.order + "i", changed, 92, CLOCK_MONOTONIC)
        data = data.replace(attr.bytes, bytes(changed))
    return data


def with_record(data, number, record):
    """The file with one more record before the one of that number; what lies behind it moves."""
    file = perfread.PerfFile(data)
    at, grown = file.records[number].offset, len(record)
    result = bytearray(data[:at] + record + data[at:])
    if file.pipe:
        return bytes(result)

    def moved(place):
        """The u64 at `place` of the old file is an offset in it: set right."""
        offset, = struct.unpack_from(file.order + "Q", data, place)
        if offset >= at:
            struct.pack_into(file.order + "Q", result, place + (grown if place >= at else 0),
                             offset + grown)

    size, = struct.unpack_from(file.order + "Q", data, HEADER_DATA_SIZE)
    struct.pack_into(file.order + "Q", result, HEADER_DATA_SIZE, size + grown)
    for place in file.references:
        moved(place)
    return bytes(result)
