#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernel Tuner on examples/cuda/matmul_tiled: trials a second on configurations drawn by a seed.

    kernel_tuner_matmul.py --count 200 --seed 1 --configs configs.json --out kernel_tuner.json
    kernel_tuner_matmul.py --draw-only --configs configs.json              (needs neither a GPU nor Kernel Tuner)

Needs kernel_tuner 1.4, cupy and numpy. Every configuration is compiled, run, compared with a product in double
and timed `--iterations` times, as Kernel Tuner does by itself (CuPy backend, one after another); nothing is
cached from earlier runs. The configurations go to a file, which lab.py --replay reads as well, so that another
tuner can be timed on exactly the same ones. With --again a second pass finds everything compiled.
"""
import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import lab  # noqa: E402


def draw(problem, shape, count, seed):
    """`count` different valid configurations."""
    rng, seen, configs = random.Random(seed), set(), []
    for _ in range(1000 * count):
        config = problem.space.draw(rng)
        if lab.key_of(config) in seen or not problem.valid(shape, config):
            continue
        seen.add(lab.key_of(config))
        configs.append(config)
        if len(configs) == count:
            return configs
    raise SystemExit(f"the space has only {len(configs)} valid configurations")


class InOrder:
    """A strategy for Kernel Tuner: exactly these configurations, in this order."""

    def __init__(self, configs):
        self.configs = configs

    def tune(self, searchspace, runner, tuning_options):
        names = list(tuning_options.tune_params)
        return runner.run([tuple(c[n] for n in names) for c in self.configs], tuning_options)


def tune(problem, shape, configs, iterations, arrays, expected):
    """One pass: wall seconds and Kernel Tuner's own results."""
    import kernel_tuner
    import numpy as np
    n = shape["variables"]["n"]
    a, b, c = arrays
    began = time.perf_counter()
    results, env = kernel_tuner.tune_kernel(
        problem.function, problem.source, (n, n), [np.int32(n), a, b, c],
        {t.name: list(t.values) for t in problem.space.tunables},
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
        answer=[None, None, None, expected], atol=1e-3, lang="cupy", iterations=iterations, quiet=True,
        strategy=InOrder(configs), compiler_options=["-std=c++17"])
    return time.perf_counter() - began, results, env


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--folder", default=os.path.join(here, "../../examples/cuda/matmul_tiled"))
    parser.add_argument("--shape", default="2048")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=32)
    parser.add_argument("--configs", default="configs.json", help="where the drawn configurations are written")
    parser.add_argument("--out", help="results as JSON")
    parser.add_argument("--again", action="store_true", help="a second pass, with everything compiled")
    parser.add_argument("--draw-only", action="store_true")
    arguments = parser.parse_args()
    problem = lab.Problem(arguments.folder)
    shape = problem.shape(arguments.shape)
    configs = draw(problem, shape, arguments.count, arguments.seed)
    with open(arguments.configs, "w", encoding="utf-8") as file:
        json.dump({"problem": problem.name, "shape": shape["name"], "seed": arguments.seed, "configs": configs}, file,
                  indent=1)
    print(f"{len(configs)} configurations of {problem.name}, seed {arguments.seed}, in {arguments.configs}")
    if arguments.draw_only:
        return 0

    cache = tempfile.TemporaryDirectory(prefix="kernel_tuner_cupy_")
    os.environ["CUPY_CACHE_DIR"] = cache.name  # nothing compiled earlier
    import cupy
    import kernel_tuner
    import numpy as np
    from importlib.metadata import version
    rng = np.random.default_rng(arguments.seed)
    n = shape["variables"]["n"]
    a = rng.uniform(-1, 1, n * n).astype(np.float32)
    b = rng.uniform(-1, 1, n * n).astype(np.float32)
    c = np.full(n * n, np.nan, np.float32)
    expected = (a.astype(np.float64).reshape(n, n) @ b.astype(np.float64).reshape(n, n)).astype(np.float32).ravel()
    cupy.zeros(1).sum().item()  # the context is there before the clock starts
    passes = []
    for turn in range(2 if arguments.again else 1):
        seconds, results, env = tune(problem, shape, configs, arguments.iterations, (a, b, c), expected)
        good = [r for r in results if r and isinstance(r.get("time"), (int, float)) and "__error__" not in r]
        parts = {k: sum(r.get(k, 0) or 0 for r in results if r) / 1000 for k in
                 ("compile_time", "benchmark_time", "verification_time", "framework_time")}
        best = min((r["time"] for r in good), default=None)
        rate = len(configs) / seconds
        label = "everything compiled before" if turn else "from source"
        print(f"Kernel Tuner {version('kernel_tuner')} (CuPy {cupy.__version__}), {label}: {len(configs)} "
              f"configurations, {len(good)} right, {arguments.iterations} repeats, {seconds:.1f} s = {rate:.2f} trials/s "
              f"(compile {parts['compile_time']:.1f} s, benchmark {parts['benchmark_time']:.1f} s, verification "
              f"{parts['verification_time']:.1f} s)")
        if best:
            print(f"  best {best:.4f} ms = {problem.rate('operations', shape) / best / 1e9:.1f} TFLOP/s; median "
                  f"{statistics.median(r['time'] for r in good):.4f} ms")
        passes.append({"seconds": seconds, "trials_per_second": rate, "right": len(good), "parts": parts,
                       "best_ms": best, "iterations": arguments.iterations, "compiled_before": bool(turn)})
        if turn == 0:
            for r in [r for r in results if r and r not in good][:3]:
                print("  failed:", {k: r[k] for k in list(r)[:8]})
    if arguments.out:
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        times = [{"config": {k: (v.item() if hasattr(v, "item") else v) for k, v in r.items()
                             if k in problem.space.by_name},
                  "ms": float(r["time"])} for r in good]
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"device": properties["name"].decode(), "date": time.strftime("%Y-%m-%d"), "passes": passes,
                       "kernel_tuner": version("kernel_tuner"), "seed": arguments.seed, "times": times}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
