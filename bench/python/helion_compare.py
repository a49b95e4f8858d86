# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helion kernels tuned by Helion's LFBOTreeSearch at full effort and by kernelsearch.helion, on a GPU of CUDA.

    PYTHONPATH=python python bench/python/helion_compare.py OUT [--only NAME,...] [--seconds 500] [--kernel-seconds 270] [--trials 64]
        [--sides ours,theirs] [--theirs FOLDER] [--seed 0] [--policy additive]

For each kernel ours first, then theirs, each in a process of its own with empty caches of Helion's, Triton's and torch's, so that neither finds what the
other compiled. Then both winners in one process, timed in turns. Lines of JSON go to OUT/helion.jsonl as they come: a search (kernel, searcher,
configurations, failed, seconds, the winner) and a comparison (the ratio of ours to theirs and its interval of two standard errors). Our recordings go to
OUT/NAME.t4.json, and Helion's own log of each configuration to OUT/NAME-theirs.csv. A search that takes longer than --kernel-seconds is ended and written
down as cut off, with the fastest that its log has, and a kernel for which less than that is left before --seconds is not begun.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import helion
import helion.language as hl
import torch


@helion.kernel(static_shapes=True)
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    n = y.size(1)
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile([m, n]):
        total = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(k):
            total = torch.addmm(total, x[rows, inner], y[inner, columns])
        out[rows, columns] = total.to(x.dtype)
    return out


@helion.kernel(static_shapes=True)
def split_k_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    n = y.size(1)
    out = torch.zeros([m, n], dtype=torch.float32, device=x.device)
    split = hl.register_block_size(256, k)
    for rows, columns, outer in hl.tile([m, n, k], block_size=[None, None, split]):
        total = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(outer.begin, outer.end):
            total = torch.addmm(total, x[rows, inner], y[inner, columns])
        hl.atomic_add(out, [rows, columns], total)
    return out


@helion.kernel(static_shapes=True)
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    heads, m, width = q.size()
    n = k.size(1)
    width = hl.specialize(width)
    out = torch.empty_like(q)
    scale = 1.4426950408889634 / width**0.5  # exp2 in place of exp
    for head, rows in hl.tile([heads, m], block_size=[1, None]):
        most = hl.full([rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([rows], dtype=torch.float32)
        sums = hl.zeros([rows, width], dtype=torch.float32)
        queries = q[head.begin, rows, :]
        for columns in hl.tile(n):
            keys = k[head.begin, columns, :]
            scores = hl.dot(queries, keys.transpose(0, 1)) * scale
            now = torch.maximum(most, torch.amax(scores, -1))
            weights = torch.exp2(scores - now[:, None])
            kept = torch.exp2(most - now)
            total = total * kept + torch.sum(weights, -1)
            sums = sums * kept[:, None]
            sums = hl.dot(weights.to(v.dtype), v[head.begin, columns, :], acc=sums)
            most = now
        out[head.begin, rows, :] = (sums / total[:, None]).to(out.dtype)
    return out


@helion.kernel(static_shapes=True)
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        powers = torch.exp(values - torch.amax(values, dim=1, keepdim=True))
        out[rows, :] = (powers / torch.sum(powers, dim=1, keepdim=True)).to(x.dtype)
    return out


@helion.kernel(static_shapes=True)
def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(values * values, dim=-1) + 1e-5)
        out[rows, :] = (values * scale[:, None] * weight[:].to(torch.float32)).to(x.dtype)
    return out


@helion.kernel(static_shapes=True)
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        mean = torch.mean(values, dim=-1)
        centred = values - mean[:, None]
        scale = torch.rsqrt(torch.mean(centred * centred, dim=-1) + 1e-5)
        out[rows, :] = (centred * scale[:, None] * weight[:].to(torch.float32) + bias[:].to(torch.float32)).to(x.dtype)
    return out


@helion.kernel(static_shapes=True)
def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(up)
    for place in hl.tile(gate.size()):
        values = gate[place].to(torch.float32)
        out[place] = (values * torch.sigmoid(values) * up[place].to(torch.float32)).to(up.dtype)
    return out


@helion.kernel(static_shapes=True)
def rope(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    heads, length, halves, half = x.size()
    out = torch.empty_like(x)
    for head, place, column in hl.tile([heads, length, half]):
        first = x[head, place, 0, column].to(torch.float32)
        second = x[head, place, 1, column].to(torch.float32)
        c, s = cosines[place, column], sines[place, column]
        out[head, place, 0, column] = (first * c[None, :, :] - second * s[None, :, :]).to(x.dtype)
        out[head, place, 1, column] = (second * c[None, :, :] + first * s[None, :, :]).to(x.dtype)
    return out


def arguments(name, small=False, device="cuda"):
    """The arguments of each kernel, of fixed random numbers; small: so that it can be traced without a GPU."""
    torch.manual_seed(1)

    def made(*shape, dtype=torch.float16):
        return torch.randn(*shape, device=device, dtype=torch.float32).to(dtype)

    s = (lambda n: min(n, 64)) if small else (lambda n: n)
    if name == "matmul":
        return made(s(4096), s(4096)), made(s(4096), s(4096))
    if name == "split_k_matmul":
        return made(s(64), s(32768)) / 16, made(s(32768), s(64)) / 16
    if name == "attention":
        return tuple(made(s(32), s(2048), 64) for _ in range(3))
    if name == "softmax":
        return (made(s(8192), s(4096)),)
    if name == "rms_norm":
        return made(s(8192), s(4096)), made(s(4096))
    if name == "layer_norm":
        return made(s(8192), s(4096)), made(s(4096)), made(s(4096))
    if name == "swiglu":
        return made(s(8192), s(8192)), made(s(8192), s(8192))
    if name == "rope":
        return made(s(32), s(4096), 2, 64), made(s(4096), 64, dtype=torch.float32), made(s(4096), 64, dtype=torch.float32)
    raise SystemExit(f"helion_compare: no kernel {name}; there are {', '.join(KERNELS)}")


KERNELS = {"matmul": matmul, "softmax": softmax, "rms_norm": rms_norm, "attention": attention, "layer_norm": layer_norm, "split_k_matmul": split_k_matmul,
           "swiglu": swiglu, "rope": rope}  # fmt: skip


def search(name, side, out, options):
    """In a process of its own: writes what came of it to `out`."""
    from helion.autotuner import LFBOTreeSearch
    from helion.autotuner.metrics import register_post_autotune_hook

    import kernelsearch.helion as kh

    metrics = []
    register_post_autotune_hook(metrics.append)
    args = arguments(name)
    torch.cuda.synchronize()
    kernel = KERNELS[name]
    kernel.settings.autotune_effort = "full"
    kernel.settings.autotune_random_seed = options.seed
    kernel.settings.autotune_progress_bar = False
    row = {"kernel": name, "searcher": side}
    if side == "ours":
        tuner = kh.autotuner(options.policy, trials=options.trials, seed=options.seed, record=f"{out}.t4.json", initial=options.initial)
        kernel.settings.autotuner_fn = tuner
    else:
        kernel.settings.autotune_log = f"{out}-theirs"
    bound = kernel.bind(args)
    begin = time.monotonic()
    config = bound.autotune(args, force=True)
    seconds = time.monotonic() - begin
    if side == "ours":
        trials = tuner.outcome.trials
        row.update(configurations=len(trials), failed=sum(t.ms is None for t in trials), policy=options.policy,
                   building=round(sum(t.building for t in trials), 1), measuring=round(sum(t.measuring for t in trials), 1),
                   default_ms=trials[0].ms, curve=curve(trials))  # fmt: skip
    else:
        measured = metrics[-1]
        failed = measured.num_compile_failures + measured.num_accuracy_failures + measured.num_worker_failures
        row.update(configurations=measured.num_configs_tested, failed=failed, searcher=LFBOTreeSearch.__name__, generations=measured.num_generations)
    row.update(seconds=round(seconds, 2), winner=dict(config.config), device=torch.cuda.get_device_name())
    pathlib.Path(f"{out}-{side}.json").write_text(json.dumps(row, default=repr))


def curve(trials):
    """[configurations measured, best so far in ms] at each gain."""
    best, points = float("inf"), []
    for i, trial in enumerate(trials):
        if trial.ms is not None and trial.ms < best:
            best = trial.ms
            points.append([i + 1, round(best, 5)])
    return points


def compare(name, out):
    """Both winners in turns: what ours takes over what theirs takes."""
    from kernelsearch.helion import _time_in_turns
    from kernelsearch.triton import _interval, _ratio

    files = {side: pathlib.Path(f"{out}-{side}.json") for side in ("ours", "theirs")}
    rows = {side: json.loads(file.read_text()) for side, file in files.items() if file.exists()}
    args = arguments(name)
    bound = KERNELS[name].bind(args)
    functions = {side: bound.compile_config(helion.Config(**row["winner"])) for side, row in rows.items()}
    functions["default"] = bound.compile_config(bound.config_spec.default_config())
    results = {side: function(*args) for side, function in functions.items()}
    times = {side: [] for side in functions}
    for _ in range(10):
        for side, more in _time_in_turns(functions, args, 40).items():
            times[side] += more
    against = "theirs" if "theirs" in rows else "default"
    ratio, error = _ratio(times["ours"], times[against])
    row = {"kernel": name, "comparison": True, "against": against, "ratio": round(ratio, 5), "low": round(ratio - 2 * error, 5), "high": round(ratio + 2 * error, 5)}
    for side, values in times.items():
        low, high = _interval(values)
        middle = sorted(values)[len(values) // 2]
        row[f"{side}_ms"] = [round(value, 6) for value in (middle, low, high)]
    scale = results["default"].float().abs().max().item()
    row["largest_difference"] = max((results[side].float() - results["default"].float()).abs().max().item() / scale for side in rows)
    return row


def table(path, run):
    """The table of docs/benchmarks/helion.md, of one run of a file of results and of the searches of theirs of all runs."""
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    ours = {row["kernel"]: row for row in rows if row["run"] == run and row.get("searcher") == "ours"}
    theirs = {row["kernel"]: row for row in rows if row.get("searcher") == "LFBOTreeSearch"}
    pairs = {row["kernel"]: row for row in rows if row["run"] == run and row.get("comparison")}
    print("| kernel | configurations, failed | theirs | seconds | theirs | fewer configurations | less time | our winner over theirs |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    ratios, fewer, faster = [], [], []
    for name, one in ours.items():
        other, pair, cut = theirs[name], pairs.get(name), theirs[name].get("cut_off", False)
        more = "at least " if cut else ""
        fewer.append(other["configurations"] / one["configurations"])
        faster.append(other["seconds"] / one["seconds"])
        if pair:
            ratios.append(pair["ratio"])
        quality = f"{pair['ratio']:.4f} ({pair['low']:.4f} to {pair['high']:.4f})" if pair else "not compared"
        print(f"| {name} | {one['configurations']}, {one['failed']} | {more}{other['configurations']}, {other['failed']} | {one['seconds']:.1f} | "
              f"{more}{other['seconds']:.0f} | {fewer[-1]:.1f} | {faster[-1]:.1f} | {quality} |")  # fmt: skip
    print(f"| geometric mean | | | | | {geometric(fewer):.1f} | {geometric(faster):.1f} | {geometric(ratios):.4f} ({len(ratios)} kernels) |")


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--only", default=",".join(KERNELS))
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--kernel-seconds", type=float, default=270)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--initial", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policy", default="additive")
    parser.add_argument("--sides", default="ours,theirs", help="ours alone is compared with Helion's default, or with what --theirs has")
    parser.add_argument("--theirs", help="a folder of an earlier run on such a device, whose NAME-theirs.json are taken in place of a search")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--table", type=int, metavar="RUN", help="OUT is a file of results: prints what that run of it came to")
    options = parser.parse_args()
    if options.table:
        return table(options.out, options.table)
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if options.one:
        name, what = options.one.split(":")
        if what == "compare":
            pathlib.Path(out / f"{name}-compare.json").write_text(json.dumps(compare(name, out / name)))
        else:
            search(name, what, out / name, options)
        return
    begin = time.monotonic()
    for name in options.only.split(","):
        arguments(name, small=True, device="cpu")
        sides = options.sides.split(",")
        kept = pathlib.Path(options.theirs or out) / f"{name}-theirs.json"
        if options.theirs and kept.exists():
            shutil.copy(kept, out)
            write(out, dict(json.loads(kept.read_text()), of_an_earlier_run=True))
            sides = ["ours"]
        for what in [*sides, *["compare"] * ("ours" in sides)]:
            left = options.seconds - (time.monotonic() - begin)
            limit = min(left, 60.0 if what == "compare" else options.kernel_seconds)
            if left < 20 or (what == "theirs" and left < 60):
                write(out, {"kernel": name, "searcher": what, "left_out": f"{left:.0f} s were left"})
                continue
            run(name, what, out, limit)


def run(name, what, out, limit):
    command = [sys.executable, *sys.argv, "--one", f"{name}:{what}"]
    answer = out / f"{name}-{what}.json"
    answer.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as caches, open(out / f"{name}-{what}.log", "w") as log:
        environment = {**os.environ, "TRITON_CACHE_DIR": f"{caches}/triton", "HELION_CACHE_DIR": f"{caches}/helion", "TORCHINDUCTOR_CACHE_DIR": f"{caches}/torch"}
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            code = None
        whole = round(time.monotonic() - begin, 1)
    if not answer.exists() and what == "theirs" and code is None:
        cut_off(name, out, limit)
    if answer.exists():
        row = json.loads(answer.read_text())
    else:
        tail = (out / f"{name}-{what}.log").read_text(errors="replace")[-600:]
        row = {"kernel": name, "searcher": what, "error": f"cut off after {limit:.0f} s" if code is None else f"exit code {code}", "log": tail}
    write(out, dict(row, process_seconds=whole))


def cut_off(name, out, limit):
    """Of a search of theirs that was ended: what its log of configurations has, and the fastest of them in place of a winner."""
    with open(out / f"{name}-theirs.csv", newline="") as file:
        rows = list({row["config_id"]: row for row in csv.DictReader(file) if row["status"] != "started"}.values())
    timed = [row for row in rows if row["perf_ms"]]
    if timed:
        best = min(timed, key=lambda row: float(row["perf_ms"]))
        row = {"kernel": name, "searcher": "LFBOTreeSearch", "configurations": len(rows), "failed": len(rows) - len(timed), "seconds": round(limit, 2),
               "cut_off": True, "generations": max(int(row["generation"]) for row in rows), "winner": winner_of(best)}  # fmt: skip
        (out / f"{name}-theirs.json").write_text(json.dumps(row))


def winner_of(row):
    config = row["config"]
    return json.loads(config) if config.startswith("{") else eval(config, {"helion": helion, "Config": helion.Config}).config


def write(out, row):
    line = json.dumps(row)
    print(line[:600], flush=True)
    with open(out / "helion.jsonl", "a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
