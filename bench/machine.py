# SPDX-License-Identifier: MIT
"""The machine that a measurement was made on, and the directory that it was made in."""

import contextlib
import os
import platform
import shutil
import signal
import sys
import tempfile

# What a function takes on a file system with perf inject, which makes five inodes of it, and what
# stays free for others.
BYTES_A_FUNCTION = 20000
INODES_A_FUNCTION = 6
SHARE_OF_MEMORY = 0.5


def free_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def spare_memory():
    return int(free_memory() * SHARE_OF_MEMORY)


def fits_memory(functions):
    try:
        shm = os.statvfs("/dev/shm")
    except OSError:
        return False
    need = functions * BYTES_A_FUNCTION
    return (need < shm.f_bavail * shm.f_frsize and functions * INODES_A_FUNCTION < shm.f_favail
            and need < spare_memory())


@contextlib.contextmanager
def scratch(parent, functions):
    """A new directory, gone at the end, in `parent` or where it is best."""
    if parent is None:
        parent = "/dev/shm" if fits_memory(functions) else tempfile.gettempdir()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that it goes then, too
    path = tempfile.mkdtemp(prefix="jitinject-bench-", dir=os.path.abspath(parent))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def file_system(path):
    """The type of the mounted file system with the longest name that `path` begins with."""
    best = ("", "unknown")
    with open("/proc/mounts", encoding="utf-8") as file:
        for line in file:
            _, mounted, kind = line.split()[:3]
            if os.path.commonpath([mounted, path]) == mounted and len(mounted) >= len(best[0]):
                best = (mounted, kind)
    return best[1]


def describe(scratch_path):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory": memory,
        "kernel": platform.release(),
        "load": os.getloadavg()[0],
        "scratch": scratch_path,
        "file_system": file_system(scratch_path),
    }
