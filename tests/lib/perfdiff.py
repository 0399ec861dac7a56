# SPDX-License-Identifier: MIT
"""What an injection has done to the records of a perf.data, for tests.

    changes = perfdiff.compare("perf.data", "perf.jit.data")
    changes.added      the mapping events and build-ids of our images
    changes.removed    records of the input that are not in the output

All other records have to be the same bytes in the same order: PerfFileError says which is not.
"""

import collections
import os

import perfread

Changes = collections.namedtuple("Changes", "before after added removed")


def is_ours(record):
    """A mapping event or a build-id of an image that jitinject makes."""
    if record.name == "BUILD_ID":
        return b"-jitted-" in record.bytes
    return record.name == "MMAP2" and "-jitted-" in os.path.basename(record.filename)


def compare(before_path, after_path):
    before, after = perfread.read(before_path), perfread.read(after_path)
    if (before.order, before.pipe) != (after.order, after.pipe):
        raise perfread.PerfFileError("another form or byte order")
    if [(attr.bytes, attr.ids) for attr in before.attrs] != [
            (attr.bytes, attr.ids) for attr in after.attrs]:
        raise perfread.PerfFileError("the events are not those of the input")
    added, removed, rest = [], [], collections.deque(before.records)
    for record in after.records:
        if is_ours(record):
            added.append(record)
            continue
        while rest and (rest[0].bytes, rest[0].payload) != (record.bytes, record.payload):
            removed.append(rest.popleft())
        if not rest:
            raise perfread.PerfFileError(f"not in the input, or not in this order: {record}")
        rest.popleft()
    removed += rest
    return Changes(before, after, added, removed)
