# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes schedules of examples/mlir and times the best beside the payload lowered without a schedule and beside
loops.cpp, interleaved in one process: medians, and the median of the ratios of neighbouring calls. Builds are in
processor time. Beside `matmul` OpenBLAS is timed on one thread where it is installed (Debian: libopenblas0-pthread).

    python3 bench/mlir/compare.py build/ci/apps/kernelsearch/kernelsearch [--trials 40] [--rounds 60] [NAME...]
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
arguments = argparse.ArgumentParser()
arguments.add_argument("command")
arguments.add_argument("--trials", type=int, default=40)
arguments.add_argument("--rounds", type=int, default=60)
arguments.add_argument("--policy", default="bayesian")
arguments.add_argument("names", nargs="*")
options = arguments.parse_intermixed_args()
names = options.names or sorted(p.name for p in (root / "examples/mlir").iterdir() if p.is_dir())
command = os.path.abspath(options.command)
core = max(os.sched_getaffinity(0))
print("load average %.1f %.1f %.1f, measured on core %d" % (*os.getloadavg(), core))


def run(arguments, folder):
    return subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True).stdout


def nothing_scheduled(problem):
    """build.sh without its transformation."""
    script = (problem / "build.sh").read_text()
    script = re.sub(r'"--transform-preload-library=\S+" --transform-interpreter', "", script)
    (problem / "plain.sh").write_text(script)


def loaded(library, function, buffers):
    entry = ctypes.CDLL(str(library))[function]
    entry.restype = None
    places = [ctypes.addressof(buffer) for buffer in buffers]
    entry.argtypes = [ctypes.c_void_p] * len(places)
    return lambda: entry(*places)


def openblas(size):
    """C += A B as OpenBLAS has it, or None."""
    for name in ("libopenblas.so.0", "libopenblas.so"):
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None
    library.openblas_set_num_threads(1)
    i, f, p = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
    library.cblas_sgemm.argtypes = [i, i, i, i, i, i, f, p, i, p, i, f, p, i]
    row_major, plain = 101, 111

    def call(a, b, c):
        library.cblas_sgemm(row_major, plain, plain, size, size, size, 1.0, a, size, b, size, 1.0, c, size)

    return call


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


gains = []
print("| schedule | points | build, processor s | tuned, us | untuned, us | loops, us | untuned / tuned | loops / tuned |\n|---|---|---|---|---|---|---|---|")
for name in names:
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        result = json.loads(run([command, "tune", str(root / "examples/mlir" / name / "schedule.mlir"), "--budget",
                                 str(options.trials), "--policy", options.policy, "--store", "runs.db", "--no-learning",
                                 "--json", "-q"], folder))
        problem = folder / (name + "_problem")
        description = "\n".join(l for l in (problem / "problem.json").read_text().splitlines() if not l.startswith("//"))
        sizes = [eval(a["size"]) for a in json.loads(description)["arguments"]]  # products of numbers
        points = run([command, "space", str(problem)], folder)
        best = folder / (name + "_tuned") / (name + "_best.mlir")
        nothing_scheduled(problem)
        took = []
        for _ in range(3):
            before = processor_seconds()
            run(["bash", "build.sh", str(best), str(folder / "best.o")], problem)
            took.append(processor_seconds() - before)
        run(["bash", "plain.sh", "none", str(folder / "plain.o")], problem)
        for one in ("best", "plain"):
            run(["g++", "-shared", one + ".o", "-o", one + ".so", "-lm"], folder)
        run(["g++", "-O3", "-march=native", "-fPIC", "-shared", str(root / "bench/mlir/loops.cpp"), "-o", "loops.so"], folder)
        filled = []
        for size in sizes:
            memory = (ctypes.c_float * (size + 32))()
            for i in range(0, size):
                memory[i] = random.uniform(-1, 1)
            shift = -ctypes.addressof(memory) % 64 // 4
            filled.append((ctypes.c_float * size).from_buffer(memory, shift * 4))
        calls = {one: loaded(folder / (one + ".so"), name, filled) for one in ("best", "plain", "loops")}
        blas = openblas(512) if name == "matmul" else None
        if blas is not None:
            places = [ctypes.addressof(buffer) for buffer in filled]
            calls["OpenBLAS"] = lambda: blas(*places)
        os.sched_setaffinity(0, {core})
        times = {one: [] for one in calls}
        for _ in range(options.rounds):
            order = list(calls)
            random.shuffle(order)
            for one in order:
                calls[one]()  # brings what it needs into the caches
                begin = time.perf_counter()
                calls[one]()
                times[one].append((time.perf_counter() - begin) * 1e6)
        os.sched_setaffinity(0, range(os.cpu_count()))
        ratio = {one: statistics.median(a / b for a, b in zip(times[one], times["best"])) for one in calls}
        gains.append(min(ratio["plain"], ratio["loops"]))
        count = re.search(r"valid +(\d+)", points)
        print("| %s | %s | %.2f | %.0f | %.0f | %.0f | %.2f | %.2f |" % (
            name, count.group(1) if count else "?", statistics.median(took), *(statistics.median(times[one]) for one in ("best", "plain", "loops")),
            ratio["plain"], ratio["loops"]), flush=True)
        if blas is not None:
            print("OpenBLAS beside matmul: %.0f us, %.2f of the tuned time" % (statistics.median(times["OpenBLAS"]), ratio["OpenBLAS"]), flush=True)
print("median gain over the better of the two, of %d: %.2f" % (len(gains), statistics.median(gains)))
