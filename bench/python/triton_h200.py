# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten Triton kernels tuned by Triton's own autotuner and by kernelsearch.triton, on a GPU of CUDA.

    PYTHONPATH=python KERNELSEARCH_LIBRARY=.../libkernelsearch.so.0 python bench/python/triton_h200.py OUT [--seconds 330] [--runs 10]

For each kernel: both from empty caches (wall time until the first call returned), ours again without compiling (`--runs` runs
in all, each with its results forgotten), and the exhaustive best: all configurations in interleaved rounds, then the best
eight in many rounds, the winners of both among them. What is done is written as it comes: OUT/triton.json and OUT/triton.md.
Kernels that there is no time for are left out and named.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import kernelsearch.triton as kt  # noqa: E402

C = triton.Config


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)
    group = pid // (G * across)
    first = group * G
    size = min(down - first, G)
    pm = first + (pid % (G * across)) % size
    pn = (pid % (G * across)) // size
    rm, rn, rk = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa, pb = a + rm[:, None] * K + rk[None, :], b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n + tl.arange(0, BLOCK)[None, :]
    v = tl.load(x + at, mask=(tl.arange(0, BLOCK) < n)[None, :], other=float("-inf"))
    v = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + at, v / tl.sum(v, 1)[:, None], mask=(tl.arange(0, BLOCK) < n)[None, :])


@triton.jit
def layer_norm(x, w, b, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / n
    scale = tl.rsqrt(tl.sum(squares, 0) / n - mean * mean + 1e-5)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
        out = (v - mean) * scale * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n)
        tl.store(y + row * n + at, out, mask=at < n)


@triton.jit
def attention(q, k, v, o, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * N * D
    rm, rd = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    qs = tl.load(q + head + rm[:, None] * D + rd[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for begin in range(0, N, BN):
        rn = begin + tl.arange(0, BN)
        s = tl.dot(qs, tl.load(k + head + rn[None, :] * D + rd[:, None])) * scale
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        keep = tl.exp(most - now)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + head + rn[:, None] * D + rd[None, :]), acc * keep[:, None])
        most = now
    tl.store(o + head + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def row_sum(x, y, n, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for begin in range(0, n, BLOCK):
        acc += tl.load(x + rows[:, None] * n + begin + tl.arange(0, BLOCK)[None, :])
    tl.store(y + rows, tl.sum(acc, 1))


@triton.jit
def column_sum(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, m, BM):
        acc += tl.load(x + (begin + tl.arange(0, BM))[:, None] * n + columns[None, :])
    tl.store(y + columns, tl.sum(acc, 0))


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(y + at, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=at < n)


@triton.jit
def transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(tl.load(x + rm[:, None] * N + rn[None, :])))


@triton.jit
def matvec(a, x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, N, BN):
        at = begin + tl.arange(0, BN)
        acc += tl.load(a + rows[:, None] * N + at[None, :]) * tl.load(x + at)[None, :]
    tl.store(y + rows, tl.sum(acc, 1))


@triton.jit
def rms_norm(x, w, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + row * n + at, v * tl.rsqrt(tl.sum(v * v, 0) / n + 1e-6) * tl.load(w + at, mask=at < n), mask=at < n)


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def single(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float32)


def matmul_configs():
    configs = []
    for bm, bn, bk, stages, warps in itertools.product([64, 128, 256], [64, 128, 256], [32, 64], [2, 3, 4], [4, 8]):
        fits = (bm * bk + bk * bn) * 2 * stages <= 220 * 1024 and bm * bn < 256 * 256
        if fits and 32 <= bm * bn // (warps * 32) <= 256:
            configs.append(C({"BM": bm, "BN": bn, "BK": bk, "G": 8}, num_stages=stages, num_warps=warps))
    return configs[:90]


def product(**values):
    plain = {name: listed for name, listed in values.items() if not name.startswith("num_")}
    return [C(dict(zip(plain, row)), num_warps=warps, num_stages=stages)
            for row in itertools.product(*plain.values())
            for warps in values.get("num_warps", [4]) for stages in values.get("num_stages", [3])]  # fmt: skip


def problems():
    """Name, kernel, key, configurations, arguments, grid; made when it is their turn."""
    n = 4096

    def flat(total):
        return lambda m: (triton.cdiv(total, m["BLOCK"]),)

    yield "matmul", matmul, ["M", "N", "K"], matmul_configs(), (half(n, n), half(n, n), half(n, n), n, n, n), lambda m: (
        triton.cdiv(n, m["BM"]) * triton.cdiv(n, m["BN"]),)  # fmt: skip
    yield "softmax", softmax, ["n"], product(BLOCK=[4096], ROWS=[1, 2, 4], num_warps=[4, 8, 16]), (single(8192, n), single(8192, n), n), (
        lambda m: (8192 // m["ROWS"],))  # fmt: skip
    yield "layer_norm", layer_norm, ["n"], product(BLOCK=[512, 1024, 2048, 4096], num_warps=[4, 8, 16], num_stages=[2, 3]), (
        half(8192, n), half(n), half(n), half(8192, n), n), lambda m: (8192,)  # fmt: skip
    d = 64
    yield "attention", attention, ["N"], product(BM=[64, 128], BN=[32, 64, 128], D=[d], num_warps=[4, 8], num_stages=[2, 3, 4]), (
        half(32, 4096, d), half(32, 4096, d), half(32, 4096, d), half(32, 4096, d), 4096, 0.125), lambda m: (4096 // m["BM"], 32)  # fmt: skip
    yield "row_sum", row_sum, ["n"], product(BLOCK=[256, 512, 1024, 2048], ROWS=[1, 2, 4, 8], num_warps=[4, 8]), (
        single(8192, n), single(8192), n), lambda m: (8192 // m["ROWS"],)  # fmt: skip
    yield "column_sum", column_sum, ["m", "n"], product(BM=[16, 32, 64, 128], BN=[16, 32, 64], num_warps=[4, 8]), (
        single(8192, n), single(n), 8192, n), lambda m: (n // m["BN"],)  # fmt: skip
    total = 64 << 20
    yield "gelu", gelu, ["n"], product(BLOCK=[256, 512, 1024, 2048, 4096], num_warps=[2, 4, 8]), (half(total), half(total), total), flat(total)
    yield "transpose", transpose, ["M", "N"], product(BM=[16, 32, 64, 128], BN=[16, 32, 64, 128], num_warps=[4, 8]), (
        half(8192, 8192), half(8192, 8192), 8192, 8192), lambda m: (8192 // m["BM"], 8192 // m["BN"])  # fmt: skip
    yield "matvec", matvec, ["N"], product(BM=[1, 2, 4, 8, 16], BN=[256, 512, 1024], num_warps=[4, 8]), (
        single(8192, 8192), single(8192), single(8192), 8192), lambda m: (8192 // m["BM"],)  # fmt: skip
    yield "rms_norm", rms_norm, ["n"], product(BLOCK=[4096], num_warps=[2, 4, 8, 16, 32]), (
        half(16384, n), half(n), half(16384, n), n), lambda m: (16384,)  # fmt: skip


def fresh(kernel):
    """The kernel as nobody compiled it in this process."""
    return triton.jit(kernel.fn)


def timed(tuner, arguments, grid):
    torch.cuda.synchronize()
    begin = time.monotonic()
    tuner[grid](*arguments)
    torch.cuda.synchronize()
    return time.monotonic() - begin


def exhaustive(kernel, configs, arguments, grid, winners):
    """The best configuration, and {winner: its time over the best's}, by interleaved rounds with a cold second-level cache."""
    tuner = kt.autotune(configs, key=[], keep=False, policy="in order")(kernel)
    tuner.nargs = dict(zip(tuner.arg_names, arguments))
    timer = kt._Timer(tuner, arguments, {"grid": grid, "warmup": False}, configs)
    right = []
    for index in range(len(configs)):
        try:
            timer.warm(index)
            right.append(index)
        except kt.Failed:
            pass
    samples = timer.batch(right, 15)
    medians = {index: statistics.median(times) for index, times in samples.items()}
    near = sorted({*sorted(right, key=medians.get)[:8], *winners})
    samples = timer.batch(near, 100)
    best = min(near, key=lambda index: statistics.median(samples[index]))

    def over(index):
        return statistics.median(a / b for a, b in zip(samples[index], samples[best]))

    return best, statistics.median(samples[best]), {index: over(index) for index in near}


def judge(name, kernel, key, configs, arguments, grid, runs, deadline):
    row = {"kernel": name, "configurations": len(configs)}
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    ours = kt.autotune(configs, key=key, keep=False)(fresh(kernel))
    row["ours_cold_s"] = timed(ours, arguments, grid)
    row["ours_compiling_s"] = sum(trial.building for trial in ours.outcome.trials)
    row["ours_measuring_s"] = sum(trial.measuring for trial in ours.outcome.trials)
    row["failed"] = sum(trial.ms is None for trial in ours.outcome.trials)
    chosen = [configs.index(ours.best_config)]
    again = []
    while len(chosen) < runs and time.monotonic() < deadline:
        ours.cache.clear()
        again.append(timed(ours, arguments, grid))
        chosen.append(configs.index(ours.best_config))
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    theirs = triton.autotune(configs, key=key)(fresh(kernel))
    row["triton_cold_s"] = timed(theirs, arguments, grid)
    winners = [configs.index(theirs.best_config)]
    warm = []
    for _ in range(2):
        if time.monotonic() > deadline:
            break
        theirs.cache.clear()
        warm.append(timed(theirs, arguments, grid))
        winners.append(configs.index(theirs.best_config))
    best, ms, over = exhaustive(theirs.fn, configs, arguments, grid, {*chosen, *winners})
    row.update(times_less=row["triton_cold_s"] / row["ours_cold_s"], best_ms=ms, best=str(configs[best]),
               ours_over_best=[over[index] for index in chosen], triton_over_best=[over[index] for index in winners],
               ours_same=max(chosen.count(index) for index in chosen), ours_runs=len(chosen),
               triton_same=max(winners.count(index) for index in winners), triton_runs=len(winners),
               ours_warm_s=statistics.median(again) if again else None, triton_warm_s=statistics.median(warm) if warm else None)  # fmt: skip
    return row


def write(out, rows, left_out, about):
    (out / "triton.json").write_text(json.dumps({**about, "rows": rows, "left_out": left_out}, indent=1) + "\n")
    lines = [f"{about['device']}, Triton {about['triton']}, torch {about['torch']}, {about['processors']} processors, {about['date']}", "",
             "| kernel | configurations | Triton, s | ours, s | times less | Triton's winner over the best | ours, worst of its runs | the same winner |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for row in rows:
        lines.append(f"| {row['kernel']} | {row['configurations']} | {row['triton_cold_s']:.1f} | {row['ours_cold_s']:.1f} | "
                     f"{row['times_less']:.1f} | {', '.join(f'{r:.3f}' for r in row['triton_over_best'])} | "
                     f"{max(row['ours_over_best']):.3f} | {row['ours_same']} of {row['ours_runs']} |")  # fmt: skip
    lines += ["", *(f"left out: {name}: {why}" for name, why in left_out)]
    (out / "triton.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines[-3:]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=330)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kernels", default="")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + options.seconds
    about = {"device": torch.cuda.get_device_name(), "triton": triton.__version__, "torch": torch.__version__,
             "processors": len(os.sched_getaffinity(0)), "date": time.strftime("%Y-%m-%d")}  # fmt: skip
    rows, left_out = [], []
    wanted = set(filter(None, options.kernels.split(",")))
    for name, kernel, key, configs, arguments, grid in problems():
        if wanted and name not in wanted:
            continue
        if time.monotonic() > deadline - 10:
            left_out.append((name, "no time"))
        else:
            try:
                rows.append(judge(name, kernel, key, configs, arguments, grid, options.runs, deadline))
            except Exception as error:
                left_out.append((name, f"{type(error).__name__}: {error}"[:500]))
        write(options.out, rows, left_out, about)
    return 1 if not rows else 0


if __name__ == "__main__":
    sys.exit(main())
