#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How configurations of examples/iree compare with IREE's own choice, without the copies of a run's times.

    rounds.py matmul_tuned/matmul_best.json [SETTINGS.json]... [--rounds 80] [--seed 1]

Each file holds an object `settings` of the problem's tunables, as the winner's file of a run does. All are compiled
with IREE's own choice into one process and get the same two matrices, which IREE holds beforehand. In each round every
module is called once, in an order drawn anew; three rounds go before, uncounted. Printed for each: the median of the
rounds' ratios (IREE's own time divided by its, so above 1 is faster), the quartiles, and the median time in ms: processor
time of the calling thread, on which the device `local-sync` computes, so that other load counts little. A product that differs from IREE's own by more than 1e-3 of the largest element ends it with 1.
"""
import argparse
import json
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "iree"))
import iree_matmul  # noqa: E402

SIDE = 512  # of matmul.mlir


def settings_in(path):
    try:
        settings = json.loads(pathlib.Path(path).read_text())["settings"]
        missing = sorted(set(iree_matmul.TUNABLES) - set(settings))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"rounds.py: no settings in {path} ({error!r}): give the JSON file that a run writes of its winner")
    if missing:
        sys.exit(f"rounds.py: {path} has no value of {', '.join(missing)}: give a file of a run of examples/iree")
    return settings


def summary(own, others):
    """Of times in seconds, round by round: median and quartiles of the ratios own / other, median of other in ms."""
    ratios = [a / b for a, b in zip(own, others)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return middle, low, high, 1e3 * statistics.median(others)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="+", metavar="SETTINGS.json")
    options.add_argument("--rounds", type=int, default=80)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    if given.rounds < 2:
        options.error("--rounds: at least 2, for quartiles")
    configurations = [{"spec": 0}] + [settings_in(path) for path in given.files]
    try:
        import iree.runtime
        import numpy
    except ImportError as error:
        sys.exit(f"rounds.py: {sys.executable} cannot import {error.name}: pip install iree-base-compiler iree-base-runtime numpy")
    source = (ROOT / "examples" / "iree" / "matmul.mlir").read_text()
    config = iree.runtime.Config("local-sync")
    draws = numpy.random.default_rng(given.seed)
    a, b = (iree.runtime.asdevicearray(config.device, draws.standard_normal((SIDE, SIDE), dtype=numpy.float32))
            for _ in range(2))
    calls = []
    for configuration in configurations:
        context = iree.runtime.SystemContext(config=config)
        context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, iree_matmul.compiled(source, configuration)))
        calls.append(context.modules.module["matmul"])
    products = [call(a, b).to_host() for call in calls]
    largest = float(numpy.abs(products[0]).max())
    for path, product in zip(given.files, products[1:]):
        error = float(numpy.abs(product - products[0]).max())
        if not error <= 1e-3 * largest:
            sys.exit(f"rounds.py: {path} computes another product, off by {error:.3g} where the largest is {largest:.3g}")
    times = [[] for _ in calls]
    order, draw = list(range(len(calls))), random.Random(given.seed)
    for turn in range(-3, given.rounds):
        draw.shuffle(order)
        for k in order:
            begin = time.thread_time()
            calls[k](a, b)
            passed = time.thread_time() - begin
            if turn >= 0:
                times[k].append(passed)
    print(f"IREE's own: median {1e3 * statistics.median(times[0]):.3f} ms, {given.rounds} rounds")
    for path, one in zip(given.files, times[1:]):
        middle, low, high, ms = summary(times[0], one)
        print(f"{path}: {middle:.2f} times as fast (quartiles {low:.2f} to {high:.2f}), median {ms:.3f} ms")


if __name__ == "__main__":
    main()
