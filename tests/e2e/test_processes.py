#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records several processes at once, containers, and pids that stand for several programs.

    test_processes.py NAME
"""

import collections
import glob
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

import fastcgi
import profiles
import recording
import test_runtimes

HERE = os.path.dirname(os.path.abspath(__file__))
REUSED_PID = 5000
UNKNOWN = profiles.UNKNOWN


def options():
    return [recording.need_recorder(), "record", "-N", "-q", "-k", "mono", "-e", "cpu-clock",
            "-F", "999", "-g", "-o", "perf.data"]


def record(folder, command, *more):
    profiles.run([*options(), *more, "--", *command], cwd=folder)


def start_perf(folder, *more):
    """perf, as soon as it records: it says so, since a busy machine may take its time."""
    fifos = [f"{folder}/{name}" for name in ("control", "ack")]
    for fifo in fifos:
        os.mkfifo(fifo)
    # Opened so, a fifo waits for nobody.
    control, ack = (os.open(fifo, os.O_RDWR) for fifo in fifos)
    perf = subprocess.Popen([*options(), f"--control=fifo:{','.join(fifos)}", *more], cwd=folder)
    os.write(control, b"enable\n")
    answered, *_ = select.select([ack], [], [], 60)
    os.close(control)
    os.close(ack)
    if not answered:
        perf.kill()
        raise profiles.ToolFailed("perf does not record")
    return perf


def tinyjit(*words):
    if "TINYJIT" not in os.environ:
        recording.skip("tinyjit makes code of x86-64 only")
    return [os.environ["TINYJIT"], *words]


def need_namespaces(*kinds):
    done = profiles.run(["unshare", *kinds, "true"], check=False)
    if done.returncode != 0:
        recording.skip(f"no namespaces here: {done.stderr.decode().strip()}")


def markers(folder):
    """The pids of the mapping events that name a dump, with its path."""
    found = {}
    for event in recording.perfread.PerfFile(
            open(os.path.join(folder, "perf.data"), "rb").read()).of_type("MMAP2"):
        if re.search(r"/jit-\d+\.dump$", event.filename):
            found[event.pid] = event.filename
    return found


class Result:
    """What the perfs read in our output."""

    def __init__(self, folder, *words):
        self.folder = folder
        self.faults = []
        output = os.path.join(folder, "perf.jit.data")
        done = profiles.run([os.environ["JITINJECT"], "-i", "perf.data", "-o", output, *words],
                            cwd=folder)
        self.said = done.stderr.decode()
        print(done.stdout.decode() + self.said, end="")
        self.samples = [(perf, perf.samples(output, os.path.join(folder, f"home{number}")))
                        for number, perf in enumerate(profiles.perfs())]

    def expect(self, is_so, fault):
        if not is_so:
            print(f"FAULT: {fault}")
            self.faults.append(fault)

    def leaves(self, samples, pid):
        """Leaves outside of the kernel, by symbol; of files only whether they are ours."""
        found = {}
        for sample in samples:
            if sample.pid != pid or not sample.frames or sample.frames[0].of_kernel:
                continue
            frame = sample.frames[0]
            found[frame.symbol] = found.get(frame.symbol, 0) + 1
        return found

    def expect_shares(self, pid, weights):
        """The symbols have shares of the samples of `pid` as their weights, and nearly all."""
        for perf, samples in self.samples:
            found = self.leaves(samples, pid)
            total = sum(found.values())
            self.expect(total > 50, f"{perf}: only {total} samples of process {pid}: {found}")
            for name, weight in weights.items():
                share, wanted = found.get(name, 0) / max(total, 1), weight / sum(weights.values())
                self.expect(abs(share - wanted) <= recording.allowed(wanted, total),
                            f"{perf}, process {pid}: {share:.1%} {name}, not {wanted:.1%}: {found}")


def exec_(folder):
    os.mkdir(f"{folder}/second")
    record(folder, tinyjit("exec", folder, f"{folder}/second"))
    result = Result(folder)
    pid, = markers(folder)
    result.expect_shares(pid, {"before": 1, "after": 1, UNKNOWN: 1})
    return result


def several(folder):
    """All of the machine is recorded."""
    commands = " & ".join(" ".join(tinyjit("fixed", folder, name))
                          for name in ("first", "second", "third"))
    record(folder, ["sh", "-c", f"{commands} & wait"], "-a")
    result = Result(folder)
    ours = {pid: path for pid, path in markers(folder).items() if path.startswith(folder)}
    result.expect(len(ours) == 3, f"expected three processes: {ours}")
    names = set()
    for pid in ours:
        _, samples = result.samples[0]
        found = result.leaves(samples, pid)
        name = max(found, key=found.get, default=UNKNOWN)
        names.add(name)
        result.expect_shares(pid, {name: 1})
        result.expect(os.path.exists(f"{folder}/jit-{pid}-jitted-0.so"), f"no .so of {pid}")
    result.expect(names == {"first", "second", "third"}, f"functions {names}")
    return result


def spawn_as(pid, command):
    """Runs a command as a process of that pid, in a pid namespace where it is free."""
    for _ in range(100):
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(pid - 1))
        process = subprocess.Popen(command)
        process.wait()
        if process.pid == pid:
            return
    sys.exit(f"pid {pid} is not to be had")


def use_pid_twice(folder):
    for name in ("first", "second"):
        os.mkdir(f"{folder}/{name}")
        spawn_as(REUSED_PID, tinyjit("fixed", f"{folder}/{name}", name))


def pid_reuse(folder):
    need_namespaces("--pid", "--fork", "--mount-proc")
    inside = [sys.executable, os.path.abspath(__file__), "--use-pid-twice", folder]
    profiles.run(["unshare", "--pid", "--fork", "--mount-proc", *options(), "--", *inside],
                 cwd=folder)
    result = Result(folder)
    result.expect_shares(REUSED_PID, {"first": 1, "second": 1})
    result.expect("warning" not in result.said, "warnings")
    return result


class Container:
    """A tinyjit that is process 1 of its pid namespace, with a file system of its own at
    `mount`."""

    def __init__(self, mount, name):
        script = f"mount -t tmpfs none '{mount}' && exec \"$@\""
        self.process = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc", "--mount", "sh", "-c", script, "sh",
             *tinyjit("stay", mount, name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wait(self):
        line = self.process.stdout.readline()
        if line != b"done\n":
            raise profiles.ToolFailed(f"the container said {line}")

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def containers(folder):
    """Two containers: one path of the dump, one pid in it, one address of the code."""
    need_namespaces("--pid", "--fork", "--mount-proc", "--mount")
    mount = f"{folder}/mount"
    os.mkdir(mount)
    perf = start_perf(folder, "-a")
    started = []
    try:
        for name in ("first", "second"):
            started.append(Container(mount, name))
        for container in started:
            container.wait()
        perf.send_signal(signal.SIGINT)
        perf.wait()
        pids = sorted(pid for pid, path in markers(folder).items() if path.startswith(mount))
        if len(pids) != 2:
            raise profiles.ToolFailed(f"markers of {pids}")
        return judge_containers(folder, pids, started)
    finally:
        if perf.poll() is None:
            perf.kill()
        for container in started:
            container.end()


def judge_containers(folder, pids, started):
    result = Result(folder)
    names = []
    for pid in pids:
        found = result.leaves(result.samples[0][1], pid)
        names.append(max(found, key=found.get, default=UNKNOWN))
        result.expect_shares(pid, {names[-1]: 1})
    result.expect(set(names) == {"first", "second"}, f"functions {names} while they live")

    dump = f"{folder}/mount/jit-1.dump"
    # Mounts go with their namespace; what is open of a file system stays.
    roots = [os.open(f"/proc/{pid}/root{folder}/mount", os.O_PATH) for pid in pids]
    for pid in pids:
        profiles.run(["cp", f"/proc/{pid}/root{dump}", f"{folder}/copy-{pid}"])
    for container in started:
        container.end()
    started.clear()

    words = [word for root in reversed(roots)
             for word in ("--dump-dir", f"/proc/{os.getpid()}/fd/{root}")]
    cases = {"their directories": words,
             "given copies": [word for pid in pids
                              for word in ("--dump", f"{pid}={folder}/copy-{pid}")]}
    for case, words in cases.items():
        again = Result(folder, *words)
        for pid, name in zip(pids, names):
            again.expect_shares(pid, {name: 1})
        result.faults += [f"{case}: {fault}" for fault in again.faults]

    # A single copy is nobody's, unless the other container began after its code was loaded.
    profiles.run(["cp", f"{folder}/copy-{pids[0]}", f"{folder}/jit-1.dump"])
    again = Result(folder)
    for perf, samples in again.samples:
        again.expect(names[0] not in again.leaves(samples, pids[1]), f"{perf}: the containers mix")
    again.expect(re.search(r"jit-1\.dump: .*--(dump|force)", again.said), "nothing was said of the copy")
    result.faults += again.faults
    for root in roots:
        os.close(root)
    return result


def overlay(folder):
    """A container whose files are an overlay's: stat() tells another device for them than perf was told,
    or than they have below."""
    need_namespaces("--mount")
    inside = [sys.executable, os.path.abspath(__file__), "--in-overlay", folder]
    done = profiles.run(["unshare", "--mount", *inside], check=False)
    print(done.stdout.decode(), end="")
    if done.returncode == recording.SKIPPED:
        sys.exit(recording.SKIPPED)
    outcome = types.SimpleNamespace(faults=[])
    if done.returncode != 0:
        outcome.faults.append(done.stderr.decode())
        print(done.stderr.decode())
    return outcome


def in_overlay(folder):
    need_namespaces("--pid", "--fork", "--mount-proc")
    # Not all file systems can be below an overlay; tmpfs can.
    profiles.run(["mount", "-t", "tmpfs", "none", folder])
    lower, upper, work, merged = (f"{folder}/{name}" for name in ("lower", "upper", "work", "merged"))
    for path in (lower, upper, work, merged):
        os.mkdir(path)
    done = profiles.run(["mount", "-t", "overlay", "overlay", "-o",
                         f"lowerdir={lower},upperdir={upper},workdir={work}", merged], check=False)
    if done.returncode != 0:
        recording.skip(f"no overlay here: {done.stderr.decode().strip()}")
    record(folder, ["unshare", "--pid", "--fork", "--mount-proc", *tinyjit("fixed", merged, "only")])
    (pid, path), = markers(folder).items()
    devices = {os.stat(f"{place}/{os.path.basename(path)}").st_dev for place in (upper, merged)}
    # Its pid is the inner one, so nothing but the inode tells that the file is that of the process.
    results = [Result(folder)]
    profiles.run(["umount", merged])
    results.append(Result(folder, "--dump-dir", upper))
    for result in results:
        result.expect(len(devices) == 2 and pid != 1, f"devices {devices}, process {pid}")
        result.expect_shares(pid, {"only": 1})
    return any(result.faults for result in results)


def dead_container(folder):
    """One container, gone; what it left is beside the recording."""
    need_namespaces("--pid", "--fork", "--mount-proc")
    record(folder, ["unshare", "--pid", "--fork", "--mount-proc", *tinyjit("fixed", folder, "only")])
    (pid, path), = markers(folder).items()
    result = Result(folder)
    result.expect(pid != 1 and path.endswith("/jit-1.dump"), f"process {pid} with {path}")
    result.expect_shares(pid, {"only": 1})
    return result


def forked_container(folder):
    """The same with a child that logs into its parent's dump, as process 2 of the namespace."""
    need_namespaces("--pid", "--fork", "--mount-proc")
    record(folder, ["unshare", "--pid", "--fork", "--mount-proc", *tinyjit("fork", folder)])
    parent, = markers(folder)
    result = Result(folder)
    pids = {sample.pid for _, samples in result.samples for sample in samples
            if sample.frames and sample.frames[0].symbol == "inherited"}
    result.expect(len(pids) == 2 and parent in pids, f"processes {pids}, the dump is of {parent}")
    for pid in pids:
        result.expect_shares(pid, {"inherited": 1, "of_parent" if pid == parent else "of_child": 1})
    return result


def attached(folder):
    """perf comes when much of the code is there already."""
    process = subprocess.Popen(tinyjit("plain", folder))
    dump = os.path.join(folder, f"jit-{process.pid}.dump")
    while process.poll() is None and not (os.path.exists(dump) and os.path.getsize(dump) > 1000):
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)  # or it may have ended before perf is there
    perf = start_perf(folder, "-p", str(process.pid))
    process.send_signal(signal.SIGCONT)
    process.wait()
    perf.wait()
    result = Result(folder)
    for perf, samples in result.samples:
        found = result.leaves(samples, process.pid)
        named = sum(count for name, count in found.items() if name.startswith("plain"))
        result.expect(named > 20 and named >= 0.95 * sum(found.values()), f"{perf}: {found}")
    return result


def start_fpm(folder, socket, more):
    """A master of two workers, recorded by perf, which is returned as soon as they listen."""
    program, = glob.glob("/usr/sbin/php-fpm[0-9]*")[-1:] or [recording.need("php-fpm")]
    with open(f"{folder}/fpm.conf", "w") as file:
        file.write(f"[global]\nerror_log = {folder}/fpm.log\n[www]\nuser = root\ngroup = root\n"
                   f"listen = {socket}\npm = static\npm.max_children = 2\n")
    settings = {"zend_extension": "opcache", "opcache.jit_buffer_size": "32M",
                "opcache.jit": "function", "opcache.jit_debug": "0x20",
                "opcache.file_update_protection": "0"}
    # Its code has no frame pointers. -n: no php.ini, which may load opcache, too.
    recorder = [word for word in options() if word != "-g"]
    perf = subprocess.Popen([*recorder, *more, "--", program, "-n", "-R", "-F", "-y",
                             f"{folder}/fpm.conf",
                             *[f"-d{name}={value}" for name, value in settings.items()]],
                            cwd=folder, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if fastcgi.listens(socket):
            return perf
        if perf.poll() is not None:
            break
        time.sleep(0.05)
    perf.kill()
    raise profiles.ToolFailed("php-fpm does not listen")


def record_fpm(folder, script, more=()):
    """Each of two workers runs two functions, which one of them or both compiled."""
    perf = start_fpm(folder, f"{folder}/socket", more)
    order = random.Random(0)
    ran = set()  # (answer, function): each worker has an answer of its own
    for _ in range(50):
        # Both at once, so that each worker has one; which one, nobody can choose.
        requests = [(fastcgi.send(f"{folder}/socket", script, query), query)
                    for query in order.sample(["first", "second"], 2)]
        ran |= {(fastcgi.wait_for(request), query) for request, query in requests}
        if len(ran) == 4:
            break
    master, = profiles.run(["pgrep", "-P", str(perf.pid)]).stdout.split()
    os.kill(int(master), signal.SIGQUIT)
    perf.wait()
    for path in set(markers(folder).values()):
        shutil.move(path, folder)
        recording.remove_map(path)


def of_fpm(outcome, samples=None):
    """Both workers ran both functions, and nearly all has a name."""
    leaves = {}
    for sample in samples or outcome.samples:
        if sample.frames and not sample.frames[0].of_kernel:
            leaves.setdefault(sample.pid, collections.Counter())[sample.frames[0].symbol] += 1
    workers = {pid: found for pid, found in leaves.items()
               if found["JIT$hot_first"] and found["JIT$hot_second"]}
    outcome.expect(len(workers) == 2, f"of the processes {list(leaves)}, {list(workers)} are workers")
    for pid, found in workers.items():
        outcome.expect(found[UNKNOWN] <= 0.05 * found.total() and found.total() > 50,
                       f"process {pid}: {found}")


def php_fpm(folder):
    record_fpm(folder, test_runtimes.workload("worker.php"))
    result = Result(folder)
    for _, samples in result.samples:
        of_fpm(result, samples)
    return result


def node_cluster(folder):
    record(folder, test_runtimes.node([test_runtimes.workload("cluster.js")])())
    result = Result(folder)
    for perf, samples in result.samples:
        hot = {}
        for sample in samples:
            name = sample.frames[0].symbol if sample.frames else ""
            if match := re.match(r"JS:.hot_(\w+) ", name):
                hot.setdefault(match.group(1), set()).add(sample.pid)
        result.expect(hot.keys() == {"primary", "first", "second"}
                      and len(set.union(*hot.values())) == 3
                      and all(len(pids) == 1 for pids in hot.values()),
                      f"{perf}: functions by process: {hot}")
    return result


TESTS = {"exec": exec_, "several": several, "pid-reuse": pid_reuse, "containers": containers,
         "dead-container": dead_container,
         "forked-container": forked_container, "attached": attached, "node-cluster": node_cluster,
         "php-fpm": php_fpm, "overlay": overlay}


def main(name, *folder):
    if name == "--use-pid-twice":
        use_pid_twice(*folder)
        return 0
    if name == "--in-overlay":
        return 1 if in_overlay(*folder) else 0
    with tempfile.TemporaryDirectory(prefix="processes-") as folder:
        return 1 if TESTS[name](folder).faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
