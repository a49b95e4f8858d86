# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes schedules of examples/mlir and times the best beside the payload lowered without a schedule and beside
loops.cpp, interleaved in one process: medians, and the median of the ratios of neighbouring calls.

    python3 bench/mlir/compare.py build/ci/apps/kernelsearch/kernelsearch [--trials 40] [--rounds 60] [NAME...]
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import re
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


print("| schedule | points | build, s | tuned, us | untuned, us | loops, us | untuned / tuned | loops / tuned |\n|---|---|---|---|---|---|---|---|")
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
            begin = time.monotonic()
            run(["bash", "build.sh", str(best), str(folder / "best.o")], problem)
            took.append(time.monotonic() - begin)
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
        ratio = {one: statistics.median(a / b for a, b in zip(times[one], times["best"])) for one in ("plain", "loops")}
        count = re.search(r"valid +(\d+)", points)
        print("| %s | %s | %.2f | %.0f | %.0f | %.0f | %.2f | %.2f |" % (
            name, count.group(1) if count else "?", statistics.median(took), *(statistics.median(times[one]) for one in ("best", "plain", "loops")),
            ratio["plain"], ratio["loops"]), flush=True)
