# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten Triton kernels tuned by Triton's own autotuner and by kernelsearch.triton, on a GPU of CUDA.

    PYTHONPATH=python KERNELSEARCH_LIBRARY=.../libkernelsearch.so.0 python bench/python/triton_h200.py OUT
        [--seconds 400] [--runs 10] [--only NAME,...]

For each kernel: both from empty caches (wall time until the first call returned), ours again without compiling (`--runs` runs
in all, each with its results forgotten), and the exhaustive best: all configurations in interleaved rounds, then the best
eight in many rounds, the winners of both among them. What is done is written as it comes: OUT/triton.json and OUT/triton.md;
the device that PyTorch names stands at the head. A kernel's part ends where those after it would have under ten seconds
each: then Triton is not asked again, the exhaustive rounds are fewer, and at last the kernel is left out and named.
"""

import argparse
import itertools
import json
import os
import pathlib
import signal
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


NAMES = ["matvec", "rms_norm", "softmax", "layer_norm", "attention", "row_sum", "column_sum", "gelu", "transpose", "matmul"]


def problems():
    """Name, kernel, key, configurations, arguments, grid; made when it is their turn: first those that had no time before,
    last the one that takes longest."""
    n = 4096

    def flat(total):
        return lambda m: (triton.cdiv(total, m["BLOCK"]),)

    yield "matvec", matvec, ["N"], product(BM=[1, 2, 4, 8, 16], BN=[256, 512, 1024], num_warps=[4, 8]), (
        single(8192, 8192), single(8192), single(8192), 8192), lambda m: (8192 // m["BM"],)  # fmt: skip
    yield "rms_norm", rms_norm, ["n"], product(BLOCK=[4096], num_warps=[2, 4, 8, 16, 32]), (
        half(16384, n), half(n), half(16384, n), n), lambda m: (16384,)  # fmt: skip
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
    yield "matmul", matmul, ["M", "N", "K"], matmul_configs(), (half(n, n), half(n, n), half(n, n), n, n, n), lambda m: (
        triton.cdiv(n, m["BM"]) * triton.cdiv(n, m["BN"]),)  # fmt: skip


def fresh(kernel):
    """The kernel as nobody compiled it in this process."""
    return triton.jit(kernel.fn)


def timed(tuner, arguments, grid):
    torch.cuda.synchronize()
    begin = time.monotonic()
    tuner[grid](*arguments)
    torch.cuda.synchronize()
    return time.monotonic() - begin


def sampled(timer, indices, least, most, deadline):
    """Interleaved rounds, at least so many, and up to `most` until the deadline: {index: [ms, ...]}."""
    samples = timer.batch(indices, least)
    while len(samples[indices[0]]) < most and time.monotonic() < deadline:
        for index, times in timer.batch(indices, 5).items():
            samples[index] += times
    return samples


def exhaustive(kernel, configs, arguments, grid, winners, deadline):
    """The best configuration, its time, {winner or near: its time over the best's} and {configuration: ms}, by interleaved
    rounds with a cold second-level cache."""
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
    now = time.monotonic()
    medians = {index: statistics.median(times) for index, times in sampled(timer, right, 5, 15, now + (deadline - now) / 3).items()}
    near = sorted({*sorted(right, key=medians.get)[:8], *winners})
    samples = sampled(timer, near, 30, 200, deadline)
    best = min(near, key=lambda index: statistics.median(samples[index]))
    over = {index: 1.0 if index == best else kt._ratio(samples[index], samples[best])[0] for index in near}
    return best, statistics.median(samples[best]), over, medians


def near(outcome):
    """{configuration: its time over the least} of those within 2 %, as one run saw them."""
    times = {trial.index: trial.ms for trial in outcome.trials if trial.ms is not None}
    least = min(times.values())
    return {index: round(ms / least, 5) for index, ms in sorted(times.items()) if ms <= 1.02 * least}


def judge(row, kernel, key, configs, arguments, grid, runs, deadline):
    """Fills `row`, until about the deadline."""
    row["configurations"] = len(configs)
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    ours = kt.autotune(configs, key=key, keep=False)(fresh(kernel))
    row["ours_cold_s"] = timed(ours, arguments, grid)
    row["ours_compiling_s"] = sum(trial.building for trial in ours.outcome.trials)
    row["ours_measuring_s"] = sum(trial.measuring for trial in ours.outcome.trials)
    row["failed"] = sum(trial.ms is None for trial in ours.outcome.trials)
    chosen, seen = [configs.index(ours.best_config)], [near(ours.outcome)]
    again = []
    while len(chosen) < runs:
        ours.cache.clear()
        again.append(timed(ours, arguments, grid))
        chosen.append(configs.index(ours.best_config))
        seen.append(near(ours.outcome))
    row.update(ours=chosen, ours_near=seen, ours_same=max(chosen.count(index) for index in chosen), ours_runs=len(chosen),
               ours_warm_s=statistics.median(again) if again else None)  # fmt: skip
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    theirs = triton.autotune(configs, key=key)(fresh(kernel))
    row["triton_cold_s"] = timed(theirs, arguments, grid)
    row["times_less"] = row["triton_cold_s"] / row["ours_cold_s"]
    winners = [configs.index(theirs.best_config)]
    warm = []
    for _ in range(2):
        if time.monotonic() + (warm[-1] if warm else row["triton_cold_s"]) + 5 > deadline:
            break
        theirs.cache.clear()
        warm.append(timed(theirs, arguments, grid))
        winners.append(configs.index(theirs.best_config))
    row.update(triton=winners, triton_same=max(winners.count(index) for index in winners), triton_runs=len(winners),
               triton_warm_s=statistics.median(warm) if warm else None)  # fmt: skip
    best, ms, over, medians = exhaustive(theirs.fn, configs, arguments, grid, {*chosen, *winners},
                                         min(deadline - 2, time.monotonic() + 8))  # fmt: skip
    row.update(best_ms=ms, best=str(configs[best]), best_index=best, ours_over_best=[over[index] for index in chosen],
               triton_over_best=[over[index] for index in winners], over_best=over, ms=medians)  # fmt: skip


class Overdue(Exception):
    pass


def in_time(seconds, work):
    """Calls it; Overdue where that takes longer. Children that are forked meanwhile have no such limit."""

    def ring(*_):
        raise Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.1, seconds))
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def write(out, rows, left_out, about, parts):
    text = {**about, "rows": rows, "left_out": left_out, "parts_of_these": parts}
    (out / "triton.json").write_text(json.dumps(text, indent=1) + "\n")
    lines = [f"{about['device']}, Triton {about['triton']}, torch {about['torch']}, {about['processors']} processors, {about['date']}", "",
             "| kernel | configurations | Triton, s | ours, s | times less | Triton's winner over the best | ours, worst of its runs | the same winner |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for row in rows:
        lines.append(f"| {row['kernel']} | {row['configurations']} | {row['triton_cold_s']:.1f} | {row['ours_cold_s']:.1f} | "
                     f"{row['times_less']:.1f} | {', '.join(f'{r:.3f}' for r in row['triton_over_best'])} | "
                     f"{max(row['ours_over_best']):.3f} | {row['ours_same']} of {row['ours_runs']} |")  # fmt: skip
    lines += ["", *(f"left out: {name}: {why}" for name, why in left_out)]
    (out / "triton.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="", help="names of kernels with commas between them")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.seconds
    wanted = list(filter(None, options.only.split(","))) or NAMES
    unknown = set(wanted) - set(NAMES)
    if unknown:
        parser.error(f"no kernel {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    about = {"device": torch.cuda.get_device_name(), "triton": triton.__version__, "torch": torch.__version__,
             "processors": len(os.sched_getaffinity(0)), "date": time.strftime("%Y-%m-%d")}  # fmt: skip
    print(f"{about['device']}, {about['processors']} processors", flush=True)
    rows, left_out, parts, after = [], [], [], len(wanted)
    for name, *problem in problems():
        if name not in wanted:
            continue
        after -= 1
        begin, row = time.monotonic(), {"kernel": name}
        seconds = end - begin - 10 * after
        try:
            if seconds < 5:
                raise Overdue
            in_time(seconds, lambda: judge(row, *problem, options.runs, begin + seconds - 3))  # noqa: B023
            rows.append(row)
        except Exception as error:
            why = f"no time: {max(0.0, seconds):.0f} s" if isinstance(error, Overdue) else f"{type(error).__name__}: {error}"[:500]
            left_out.append((name, why))
            parts.append(row)
        if rows and rows[-1] is row:
            print(f"{name}: {row['times_less']:.1f} times less, worst {max(row['ours_over_best']):.4f}, same {row['ours_same']} of "
                  f"{row['ours_runs']}; {time.monotonic() - begin:.0f} s", flush=True)  # fmt: skip
        else:
            print(f"left out: {': '.join(left_out[-1])}", flush=True)
        write(options.out, rows, left_out, about, parts)
    return 1 if not rows else 0


if __name__ == "__main__":
    sys.exit(main())
