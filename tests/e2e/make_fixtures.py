#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records the fixtures whose names begin with "tiny-", those of small runtimes and the maps anew.

    make_fixtures.py BUILD_DIR [NAME...]

As root, since the recordings are made in /recorded/NAME, which is gone afterwards: so their paths
are the same whoever makes them. Then they are copied to tests/fixtures/NAME.
"""

import os
import shutil
import sys

import profiles
import recording
import test_maps
import test_processes
import test_runtimes
import test_tinyjit

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
SLOW = ("-F", "199")  # few samples, small files


def tinyjit(build, folder, scenario):
    programs = []
    for name in ("tinyjit", "liboverlay.so"):
        programs.append(shutil.copy(os.path.join(build, "tests", "e2e", name), folder))
    options = [*test_tinyjit.SCENARIOS[scenario].options, *SLOW]
    return recording.record(folder, [programs[0], scenario, folder, programs[1]], options)


def moved(folder, command):
    """A command of a workload, whose file is copied so that its path is the same for everybody."""
    return [shutil.copy(word, folder) if word.startswith(test_runtimes.workload("")) else word
            for word in command]


def runtime(folder, command):
    return recording.record(folder, moved(folder, command), SLOW)


def node_wasm():
    """Small: most of the dump are the builtins of V8 all the same."""
    return test_runtimes.node([test_runtimes.workload("manyfuncs.js"), "300", "2000000"],
                              "--no-wasm-lazy-compilation")()


RUNTIMES = {
    "php82": test_runtimes.php,
    "node-wasm": node_wasm,
    "node-family": test_runtimes.node([test_runtimes.workload("family.js")]),
}


def php_fpm(folder):
    test_processes.record_fpm(folder, shutil.copy(test_runtimes.workload("worker.php"), folder),
                              SLOW)
    return profiles.Recording(folder)


MAPS = {
    "node": lambda folder: (test_maps.node("--perf-basic-prof"), ("-g",)),
    "php": lambda folder: (test_maps.php(), ()),
    "erlang": lambda folder: (test_maps.erlang(folder), ("-g",)),
}


def make_map(kind):
    folder, target = os.path.join("/recorded", kind), os.path.join(FIXTURES, "maps", kind)
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(folder)
    os.makedirs(target)
    try:
        command, options = MAPS[kind](folder)
        made = recording.record(folder, moved(folder, command), [*options, *SLOW], keep_maps=True)
        test_maps.keep(made, target)
        shutil.copyfile(made.data, os.path.join(target, "perf.data"))
    finally:
        shutil.rmtree(folder)


def make(build, name):
    folder = os.path.join("/recorded", name)
    os.makedirs(folder)
    try:
        if name == "php82-fpm":
            made = php_fpm(folder)
        elif name in RUNTIMES:
            made = runtime(folder, RUNTIMES[name]())
        else:
            made = tinyjit(build, folder, name[len("tiny-"):])
        profiles.redirect_markers(made.data, folder)  # where dumps lay in /tmp
        target = os.path.join(FIXTURES, name)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        for path in [made.data, *made.dumps()]:
            shutil.copyfile(path, os.path.join(target, os.path.basename(path)))
    finally:
        shutil.rmtree(folder)


def main(build, names):
    names = names or ([f"tiny-{name}" for name in test_tinyjit.SCENARIOS] + list(RUNTIMES) + ["php82-fpm"] +
                      [f"maps/{kind}" for kind in MAPS])
    for name in names:
        print(name)
        if name.startswith("maps/"):
            make_map(name[len("maps/"):])
        else:
            make(build, name)
    os.rmdir("/recorded")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
