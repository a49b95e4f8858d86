#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command as one file (apps/portable) on a machine that has nothing of ours: portable_test.py KERNELSEARCH PORTABLE FOLDER.

The machine is a root of bubblewrap with the system's compilers and neither this tree nor the libraries that the command links
elsewhere. Workers of it judge host kernels and, where KERNELSEARCH_STANDIN_HIP and KERNELSEARCH_STANDIN_HIPRTC name the stand-in
of a GPU, device code; what they unpack is removed when their pipe closes, and what a kill leaves by the next one."""
import glob
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

COMMAND, PORTABLE, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3]).absolute()
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
NODE, TEMPORARY = FOLDER / "node", FOLDER / "tmp"
GLIBC = {"linux-vdso", "linux-gate", "libc", "libm", "libdl", "libpthread", "librt", "ld-linux-x86-64", "ld-linux-aarch64"}
failures = []

PROBLEM = {
    "schema": 1, "name": "twice", "function": "twice",
    "kernel": {"device": {"text": [
        "extern \"C\" void twice(int n, const float* x, float* y) {",
        "  for (int i = 0; i < n; ++i) y[i] = (WRONG ? 3 : 2) * x[i] + 0 * STEP;",
        "}"]}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"name": "small", "n": 1000}],
    "tunables": {"WRONG": [0, 1], "STEP": [0, 1, 2, 3]},
    "build": {"flags": ["-O1"]},
    "reference": {"function": "twice_reference", "source": {"text":
        "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}}

GPU_PROBLEM = {
    **{key: PROBLEM[key] for key in ("schema", "name", "function", "arguments", "shapes", "tunables")}, "backend": "hip",
    "kernel": {"device": {"text": [
        "#include \"kernelsearch/device/portable.hpp\"",
        "extern \"C\" __global__ void twice(int n, const float* x, float* y) {",
        "  const int i = blockIdx.x * 64 + threadIdx.x;",
        "  if (i < n) y[i] = (WRONG ? 3 : 2) * x[i] + 0 * STEP;",
        "}"]}},
    "launch": {"grid": ["(n + 63) // 64"], "block": [64]},
    "reference": {"function": "twice_reference", "launch": {"grid": ["n"], "block": [1]}, "source": {"text":
        "extern \"C\" __global__ void twice_reference(int n, const real* x, real* y) { y[blockIdx.x] = 2 * x[blockIdx.x]; }"}}}


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


def machine(more=()):
    """The command line of a machine with the system's compilers, one file of ours, and nothing else of ours."""
    line = ["bwrap", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--bind", str(TEMPORARY), "/tmp", "--ro-bind",
            str(NODE), "/node"]
    for name in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(name):
            line += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            line += ["--ro-bind", name, name]
    line += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for name in ("fmt", "sqlite3", "ssl", "crypto"):
        for library in {os.path.realpath(one) for one in glob.glob(f"/usr/lib/*/lib{name}.so*")}:
            line += ["--ro-bind", "/dev/null", library]
    for name in more:
        line += ["--ro-bind", str(name), str(name)]
    return line + ["--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--setenv", "KERNELSEARCH_LOCKS", "/tmp/locks"]


def environment():
    return dict(os.environ, HOME=str(FOLDER), XDG_CACHE_HOME=str(FOLDER / "cache"), XDG_DATA_HOME=str(FOLDER),
                KERNELSEARCH_LOCKS=str(FOLDER / "locks"))


def tune(name, problem, more=(), steps=None, sandbox="auto"):
    (FOLDER / name).mkdir()
    if steps:
        problem = dict(problem, tunables=dict(problem["tunables"], STEP=list(range(steps))))
    (FOLDER / name / "problem.json").write_text(json.dumps(problem))
    line = [COMMAND, "tune", name, "--store", f"{name}.db", "--policy", "exhaustive", "--budget", "all", "--samples", "3", "--no-bounds",
            "--no-reuse", "--out", f"{name}_out", "--lane-tolerance", "0", "--worker", "/node/kernelsearch", "--sandbox", sandbox,
            "--launch", shlex.join(machine(more))]
    return subprocess.Popen(line, cwd=FOLDER, env=environment(), stdout=subprocess.DEVNULL, stderr=open(FOLDER / f"{name}.err", "w"))


def trials(name):
    done = subprocess.run([COMMAND, "export", "latest", "--format", "jsonl", "--store", f"{name}.db"], cwd=FOLDER, env=environment(),
                          capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def unpacked():
    return [one for one in TEMPORARY.glob("kernelsearch-scratch-*/kernelsearch-worker")]


def wait_for(what, seconds=60):
    for _ in range(seconds * 10):
        if what():
            return True
        time.sleep(0.1)
    return what()


def judged_right(name, process):
    code = process.wait(300)
    said = (FOLDER / f"{name}.err").read_text()
    check(f"{name}: ends well", code == 0, said[-3000:])
    all_of_them = trials(name)
    odd = [t for t in all_of_them if t["evaluation"]["verdict"] != ("wrong_result" if t["candidate"]["values"]["WRONG"] else "ok")]
    check(f"{name}: verdicts are right", len(all_of_them) == 8 and not odd, json.dumps(odd[:1])[:1500] + said[-1500:])
    left = wait_for(lambda: not list(TEMPORARY.glob("kernelsearch-scratch-*")), 20)
    check(f"{name}: nothing is left unpacked", left, list(TEMPORARY.glob("kernelsearch-scratch-*/*")))


def one_file():
    done = subprocess.run(["ldd", PORTABLE], capture_output=True, text=True)
    others = {os.path.basename(line.split()[0]).split(".so")[0] for line in done.stdout.splitlines() if line.strip()} - GLIBC
    check("it links glibc alone", done.returncode == 0 and not others, done.stdout + done.stderr)
    said = subprocess.run([*machine(), "/node/kernelsearch", "--version"], capture_output=True, text=True)
    ours = subprocess.run([COMMAND, "--version"], capture_output=True, text=True).stdout
    check("it says its version", said.returncode == 0 and said.stdout == ours, said.stdout + said.stderr)
    check("for that nothing is unpacked", not list(TEMPORARY.glob("kernelsearch-scratch-*")))
    other = subprocess.run([*machine(), "/bin/sh", "-c", "ls " + shlex.quote(str(SOURCE))], capture_output=True, text=True)
    check("the machine has nothing else of ours", other.returncode != 0, other.stdout)


def host_kernels():
    judged_right("host", tune("host", PROBLEM))


def gpu_stand_in():
    hip, hiprtc = os.environ.get("KERNELSEARCH_STANDIN_HIP", ""), os.environ.get("KERNELSEARCH_STANDIN_HIPRTC", "")
    if not (os.path.exists(hip) and os.path.exists(hiprtc)):
        print("skipped  GPU stand-in: it is not built here", flush=True)
        return
    # Without a sandbox: there the stand-in's compiler does not find its headers.
    os.environ.update(KERNELSEARCH_HIP_RUNTIME=hip, KERNELSEARCH_HIPRTC=hiprtc)
    judged_right("gpu", tune("gpu", GPU_PROBLEM, more=(hip, hiprtc, SOURCE / "tests/standin/device"), sandbox="none"))


def closed_pipe():
    """The controller is killed, so that the pipe closes without a word."""
    process = tune("closed", PROBLEM, steps=400)
    check("closed pipe: the worker unpacks what it has inside", wait_for(lambda: unpacked()), (FOLDER / "closed.err").read_text()[-2000:])
    wait_for(lambda: len(trials("closed")) > 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    check("closed pipe: it removes that", wait_for(lambda: not unpacked(), 40), unpacked())


def killed_worker():
    """What cannot clean up after itself is cleaned up after by the next worker there."""
    process = tune("killed", PROBLEM, steps=400)
    wait_for(lambda: unpacked())
    first = unpacked()
    wait_for(lambda: len(trials("killed")) > 2)
    for one in workers():
        os.kill(one, signal.SIGKILL)
    # The worker that comes in its place has a folder of its own, and removes the other.
    check("killed worker: the next one removes its folder", first and wait_for(lambda: unpacked() and first[0] not in unpacked()), unpacked())
    process.send_signal(signal.SIGINT)
    process.wait(120)
    check("killed worker: at the end nothing is left", wait_for(lambda: not unpacked(), 20), unpacked())


def workers():
    """Those that run in this test's machine."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            ours = line[:3] == [b"/node/kernelsearch", b"worker", b"--stdio"] and os.path.samefile(f"/proc/{pid}/root/tmp", TEMPORARY)
        except OSError:
            continue
        if ours:
            found.append(int(pid))
    return found


if __name__ == "__main__":
    if subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], capture_output=True).returncode != 0:
        print("skipped: bubblewrap makes no other root here")
        sys.exit(77)
    shutil.rmtree(FOLDER, ignore_errors=True)
    for folder in (NODE, TEMPORARY):
        folder.mkdir(parents=True)
    shutil.copy(PORTABLE, NODE / "kernelsearch")
    for case in (one_file, host_kernels, gpu_stand_in, closed_pipe, killed_worker):
        case()
    sys.exit(1 if failures else 0)
