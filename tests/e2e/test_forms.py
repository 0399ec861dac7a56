#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program whose shares are known in one form of perf.data, and has perf read what jitinject
makes of it.

    test_forms.py FORM
"""

import collections
import os
import shlex
import sys
import tempfile

import profiles
import recording
from recording import perfread

PROGRAM = "plain"
NAMES = [f"plain{number}" for number in range(20)]


class Form:
    """One form, recorded and read by one perf, in a folder of its own."""

    def __init__(self, perf, folder):
        self.perf, self.folder = perf, folder
        self.faults = []

    def shell(self, script, recorder=None):
        """What a script prints in which these are defined: record OPTION... [COMMAND...] runs the program,
        or a command that has it as its last arguments, inject OPTION... is jitinject, and script
        OPTION... prints the samples."""
        perf = shlex.join(self.perf.command)
        program = shlex.join([os.environ["TINYJIT"], PROGRAM, self.folder])
        text = f"""
            set -e -o pipefail
            record() {{ {recorder or perf} record -N -q -k mono -e cpu-clock -F 999 -g "$@" {program}; }}
            inject() {{ {shlex.quote(os.environ["JITINJECT"])} "$@"; }}
            script() {{ {perf} script -f --ns --no-inline -F pid,tid,time,event,ip,sym,dso "$@"; }}
            {script}"""
        done = profiles.run(["bash", "-c", text], cwd=self.folder,
                            env=profiles.home(os.path.join(self.folder, "home")))
        return done.stdout.decode(errors="surrogateescape")

    def expect(self, is_so, fault):
        if not is_so:
            self.faults.append(f"{self.perf}: {fault}")

    def expect_records(self, name, *types, misc=0):
        """The recording is of the form that it is to be of: it has records of such a type, with
        these bits in misc."""
        records = perfread.read(os.path.join(self.folder, name)).of_type(*types)
        self.expect([record for record in records if record.misc & misc == misc],
                    f"{name} has no record of {types} with {misc:#x}")

    def expect_names(self, text, losses=0):
        """Few of the samples that perf printed have no name, and every function has its share; or,
        where perf loses samples, all functions but so many have some."""
        samples = [sample for sample in profiles.parse_samples(text) if sample.frames]
        leaves = collections.Counter(sample.frames[0].symbol for sample in samples
                                     if not sample.frames[0].of_kernel)
        total = sum(leaves[name] for name in NAMES)
        self.expect(total > 100, f"only {total} samples of {len(samples)} in JIT code: {leaves}")
        self.expect(leaves[profiles.UNKNOWN] <= 0.02 * total,
                    f"{leaves[profiles.UNKNOWN]} samples without a name")
        share = 1 / len(NAMES)
        if losses:
            missing = [name for name in NAMES if not leaves[name]]
            self.expect(len(missing) <= losses, f"no sample in {missing}")
            return
        for name in NAMES:
            self.expect(leaves[name] and abs(leaves[name] / max(total, 1) - share)
                        <= recording.allowed(share, total),
                        f"{name}: {leaves[name]} of {total} samples")


def pipe(form):
    form.expect_names(form.shell("record -o - | tee perf.data | inject -i - -o - | script -i -"))
    # Without names of files, as perf inject.
    form.expect_names(form.shell("cat perf.data | inject | script -i -"))
    form.shell("cat perf.data | inject -o stdin.data")
    form.expect_names(form.shell("script -i stdin.data"))
    form.shell("inject -i perf.data -o named.data")
    form.expect_names(form.shell("cat named.data | script -i -"))


def file_to_pipe(form):
    form.shell("record -o perf.data")
    form.expect_names(form.shell("inject -i perf.data -o - | script -i -"))
    form.shell("cat perf.data | inject -o perf.jit.data")
    form.expect_names(form.shell("script -i perf.jit.data"))


def compressed_pipe(form):
    form.expect_names(form.shell("record -z -o - | tee perf.data | inject | script -i -"))
    form.expect_records("perf.data", "COMPRESSED", "COMPRESSED2")


def threads(form):
    """A directory with a file for each processor, plain and compressed."""
    for options in ("", "-z"):
        form.shell(f"rm -rf dir.data; record --threads {options} -o dir.data", recorder="perf")
        form.expect(os.path.exists(os.path.join(form.folder, "dir.data/data.0")), "no data.0")
        form.shell("rm -rf out.data; inject -i dir.data -o out.data; diff <(ls dir.data) <(ls out.data)")
        form.expect_names(form.shell("script -i out.data"))
    form.expect_names(form.shell("inject -i dir.data | script -i -"))


def kernel_names(text):
    return {frame.symbol for sample in profiles.parse_samples(text) for frame in sample.frames
            if frame.of_kernel and frame.symbol[0].islower()}


def kcore(form):
    """A directory as of --kcore, which not every machine can record: perf takes the symbols of the
    kernel, which have other names here, from what lies beside the records."""
    form.shell("record -o perf.data; mkdir -p dir.data/kcore_dir; cp perf.data dir.data/data")
    form.shell("cd dir.data/kcore_dir; : >modules; sed 's/ \\([tT]\\) \\([a-z]\\)/ \\1 of_dir_\\2/' "
               "/proc/kallsyms >kallsyms")
    form.shell("inject -i dir.data -o out.data; diff -r dir.data/kcore_dir out.data/kcore_dir")
    text = form.shell("script -i out.data")
    form.expect_names(text)
    own = kernel_names(form.shell("script -i perf.data"))
    form.expect(not own or any(name.startswith("of_dir_") for name in kernel_names(text)),
                "the symbols of the kernel are not those of the recording")


def switch_output(form):
    """Slices. Later ones have the mappings as perf found them when it began the slice; but of the
    children of the program that it records it looks for none, and the user has to say whose the dump is."""
    for command, option in ("", ""), ("/bin/sh -c '\"$@\"; true' sh", '--dump "$pid"=jit-$pid.dump'):
        form.shell(f"""rm -rf slice* jit-*; record -m 4 --switch-output=40K -o slice {command} 2>said
            pid=$(basename jit-*.dump .dump); pid=${{pid#jit-}}
            for slice in slice.*; do inject -i $slice -o named.$slice {option}; done""")
        slices = [name for name in os.listdir(form.folder) if name.startswith("slice.")]
        form.expect(len(slices) > 2, f"{slices}, but three are needed")
        # perf loses what comes while it begins a slice, and each function runs once, for 50 ms.
        form.expect_names(form.shell("for slice in slice.*; do script -i named.$slice; done"),
                          losses=5)


def namespaces(form):
    form.shell("record --namespaces -o perf.data; inject -i perf.data -o perf.jit.data")
    form.expect_records("perf.data", "NAMESPACES")
    form.expect_records("perf.jit.data", "NAMESPACES")
    form.expect_names(form.shell("script -i perf.jit.data"))


def buildid_mmap(form):
    """Mapping events have a build-id, where others tell of the inode: of the dump's, too."""
    form.shell("record --buildid-mmap -o perf.data; inject -i perf.data -o perf.jit.data")
    form.expect_records("perf.jit.data", "MMAP2", misc=perfread.MMAP_BUILD_ID)
    form.expect_names(form.shell("script -i perf.jit.data"))


FORMS = {
    "switch-output": switch_output,
    "namespaces": namespaces,
    "buildid-mmap": buildid_mmap,
    "kcore": kcore,
    "threads": threads,
    "pipe": pipe,
    "file-to-pipe": file_to_pipe,
    "compressed-pipe": compressed_pipe,
}


def main(name):
    if "TINYJIT" not in os.environ:
        recording.skip("tinyjit makes code of x86-64 only")
    recording.need_recorder()
    faults = []
    for perf in profiles.perfs():
        with tempfile.TemporaryDirectory(prefix="form-") as folder:
            form = Form(perf, folder)
            FORMS[name](form)
            faults += form.faults
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
