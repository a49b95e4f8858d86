# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python package costs: docs/benchmarks/python.md.

    python_bench.py calls PYTHON_ASK_TELL [--rounds 7] [--trials 2000]   microseconds of ask and tell beside those of C++
    python_bench.py import [--rounds 25]                                 milliseconds by the clock and of processor time, beside importing json and numpy
    python_bench.py wheel [--define NAME=VALUE]...                       seconds and bytes of a wheel, from nothing but what --define names

The sides of a ratio take turns, so that what else the machine does hits both. `calls` and `import` need the package installed,
`wheel` pip, nanobind and scikit-build-core; it builds in a folder of its own, without ccache."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

POLICIES = {"random": 20000, "genetic": 5000, "iterated_local_search": 5000, "tpe": 200, "lfbo": 60, "bayesian": 60}


def measure_calls(program, rounds, trials):
    import kernelsearch as ks

    space = ks.Space(
        {"block": ks.powers_of_two(1, 256), "tile": range(1, 33), "unroll": range(1, 9), "vector": [False, True], "stages": range(1, 21)},
        ["block * tile <= 2048"],
    )
    print(f"{'policy':24} {'ask us':>9} {'tell us':>9} {'C++ ask':>9} {'C++ tell':>9} {'ratio of both':>14}")
    for policy, most in POLICIES.items():
        n = min(trials, most)
        here, there = [], []
        for _ in range(rounds):
            optimizer = ks.Optimizer(space, policy, seed=1)
            asking = telling = 0.0
            for _ in range(n):
                begin = time.perf_counter()
                trial = optimizer.ask()
                between = time.perf_counter()
                config = trial.config
                value = 1 + config["block"] / 256 + config["tile"] / 64
                told = time.perf_counter()
                optimizer.tell(trial, value)
                telling += time.perf_counter() - told
                asking += between - begin
            here.append((asking / n, telling / n))
            run = subprocess.run([program, policy, str(n)], check=True, capture_output=True, text=True)
            there.append(tuple(map(float, run.stdout.split())))
        ratio = statistics.median((a + b) / (c + d) for (a, b), (c, d) in zip(here, there))
        columns = [min(side[i] for side in sides) * 1e6 for sides in (here, there) for i in (0, 1)]
        print(f"{policy:24} " + " ".join(f"{c:9.2f}" for c in columns) + f" {ratio:14.2f}", flush=True)


def measure_import(rounds):
    def once(module):
        clocks = "time.perf_counter(), time.process_time()"
        program = f"import time; a, b = {clocks}; import {module}; c, d = {clocks}; print(c - a, d - b)"
        told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        return [float(seconds) * 1e3 for seconds in told.split()]

    modules = ("kernelsearch", "json", "numpy")
    times = {module: [] for module in modules}
    for _ in range(rounds):
        for module in modules:
            times[module].append(once(module))
    for module in modules:
        told = [f"least {min(each):7.2f} ms, median {statistics.median(each):7.2f} ms" for each in zip(*times[module])]
        print(f"{module:14} {told[0]}; processor time {told[1]}")


def measure_wheel(defines):
    source = pathlib.Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, str(source), "-C", f"build-dir={folder}/build"]
        for define in defines:
            command += ["-C", f"cmake.define.{define}"]
        begin, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        after = os.times()
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        used = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"{wheel.name}: {time.perf_counter() - begin:.1f} s, {used:.1f} s of processor time, {wheel.stat().st_size} bytes")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(dest="command", required=True)
calls = commands.add_parser("calls")
calls.add_argument("program")
calls.add_argument("--rounds", type=int, default=7)
calls.add_argument("--trials", type=int, default=2000)
imports = commands.add_parser("import")
imports.add_argument("--rounds", type=int, default=25)
wheel_parser = commands.add_parser("wheel")
wheel_parser.add_argument("--define", action="append", default=[])
given = parser.parse_args()
if given.command == "calls":
    measure_calls(given.program, given.rounds, given.trials)
elif given.command == "import":
    measure_import(given.rounds)
else:
    measure_wheel(given.define)
