# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The low-precision modules of examples/torch and their answers on a device, compared with cuBLASLt and with its bandwidth.

    python bench/python/low_precision.py OUT.json

Times are medians of replays of a CUDA graph, in which each call has its own set of inputs, more of them than the
second-level cache holds. Errors are those of the largest element over the tolerance of the judge for f16 and bf16
(0.01 absolute, 0.01 relative), against the module in f64.
"""

import importlib.util
import json
import pathlib
import statistics
import sys

import torch

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch"
CALLS, ROUNDS = 20, 15


def loaded(path):
    spec = importlib.util.spec_from_file_location("_".join(path.with_suffix("").parts[-2:]), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(call, sets):
    """Of one call."""
    for one in sets:
        call(*one)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call(*sets[i % len(sets)]) for i in range(CALLS)]  # noqa: F841: each call has an output of its own
    times = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(ROUNDS + 3):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / CALLS)
    return statistics.median(times[3:])


def error(output, right):
    right = right.double()
    return float(((output.double() - right).abs() / (0.01 + 0.01 * right.abs())).max())


def rates():
    """Bytes a second of the device's memory: what its clock and width say, and what large operations reach."""
    a = torch.zeros(1 << 28, dtype=torch.float32, device="cuda")
    b = torch.empty_like(a)
    size = a.numel() * a.element_size()
    reached = {
        "copy": 2 * size / seconds(lambda x, y: x.copy_(y), [(b, a)]),
        "negate": 2 * size / seconds(lambda x, y: torch.neg(x, out=y), [(a, b)]),
        "largest": size / seconds(lambda x, y: x.max(), [(a, b)]),
    }
    about = torch.cuda.get_device_properties(0)
    clock, width = getattr(about, "memory_clock_rate", 0), getattr(about, "memory_bus_width", 0)
    return {"nominal": 2e3 * clock * width / 8, **reached}


def tried(rows, name, call, sets, right, more):
    row = {"name": name}
    try:
        row["error"] = error(call(*sets[0]), right)
        row["us"] = 1e6 * seconds(call, sets)
        row.update(more(row["us"] * 1e-6))
    except Exception as failure:  # what a version or a device lacks is a row too
        row["failed"] = " ".join(str(failure).split())[:300]
    rows.append(row)
    print(json.dumps(row), flush=True)


def answers(name):
    for kind in ("cuda", "triton"):
        path = EXAMPLES / "answers" / kind / f"{name}.py"
        if path.exists():
            yield kind, loaded(path)


def in_64(module, inputs):
    return module.Model().cuda().double()(*[one.double() if one.is_floating_point() else one for one in inputs])


def matmul(rows, m, n, k):
    module = loaded(EXAMPLES / "matmul_f8_blocks.py")
    module.m, module.n, module.k = m, n, k
    count = max(2, min(8, (200 << 20) // (m * k + n * k)))
    sets = [tuple(module.get_inputs()) for _ in range(count)]
    right = in_64(module, sets[0])

    def more(time):
        return {"tflops": 2 * m * n * k / time / 1e12}

    def blocks(a, a_scale, b, b_scale):
        return torch._scaled_mm(a, b.T, a_scale, b_scale, out_dtype=torch.bfloat16)

    def whole(a, one, b, other):
        return torch._scaled_mm(a, b.T, one, other, out_dtype=torch.bfloat16, use_fast_accum=fast)

    shape = f"{m}x{n}x{k}"
    # cuBLASLt takes the scales of A with columns that are contiguous, those of B as b.T has them.
    laid = [(a, s.T.contiguous().T, b, t.T) for a, s, b, t in sets]
    tried(rows, f"{shape} torch._scaled_mm, blocks 1x128 and 128x128", blocks, laid, right, more)
    unit = torch.ones((), device="cuda")
    scaled = [(a, unit, b, unit) for a, _, b, _ in sets]
    for fast in (True, False):
        name = f"{shape} torch._scaled_mm, a scale for each tensor, fast_accum {fast} (not the same result)"
        tried(rows, name, whole, scaled, whole(*scaled[0]), more)
    for kind, answer in answers("matmul_f8_blocks"):
        cuda = [(2, 128, 5), (2, 128, 6), (1, 128, 4), (2, 64, 8), (1, 64, 8), (1, 64, 6), (1, 32, 10)]
        triton = [(128, 128, 8, 4), (64, 128, 4, 4), (64, 128, 4, 3), (64, 64, 4, 5), (64, 64, 4, 6), (64, 32, 4, 6)]
        for variant in cuda if kind == "cuda" else triton:
            if kind == "cuda":
                answer.LARGE = answer.SMALL = variant
            else:
                answer.BM, answer.BN, answer.WARPS, answer.STAGES = variant
            model = answer.ModelNew()
            tried(rows, f"{shape} {kind} {variant}", model.forward, sets, right, more)


def matvec(rows, name, group, scale_bytes, rate):
    """`rate` has the device's rates."""
    module = loaded(EXAMPLES / f"{name}.py")
    n, k = module.n, module.k
    sets = [tuple(module.get_inputs()) for _ in range(3)]
    right = in_64(module, sets[0])
    moved = n * k // 2 + n * (k // group) * scale_bytes + 2 * k + 2 * n

    def more(time):
        return {"tb_per_s": moved / time / 1e12, **{f"of_{key}": moved / time / one for key, one in rate.items() if one}}

    tried(rows, f"{name} eager", module.Model().cuda().forward, sets, right, more)
    for kind, answer in answers(name):
        if kind == "cuda":
            for variant in [(2, 4, 4, 7), (4, 4, 2, 6), (1, 4, 8, 8), (1, 8, 4, 6), (2, 4, 2, 8), (4, 4, 1, 8), (8, 4, 1, 5)]:
                answer.ROWS, answer.WARPS, answer.AHEAD, answer.BLOCKS = variant
                tried(rows, f"{name} {kind} {variant}", answer.ModelNew().forward, sets, right, more)
            continue
        whole = answer.GROUPS
        for variant in [(8, whole // 2, 4, 2), (16, whole // 4, 4, 2), (16, whole // 2, 8, 2), (4, whole // 2, 4, 3), (32, whole // 4, 8, 2)]:
            answer.ROWS, answer.GROUPS, answer.WARPS, answer.STAGES = variant
            tried(rows, f"{name} {kind} {variant}", answer.ModelNew().forward, sets, right, more)


def main():
    import triton

    torch.manual_seed(0)
    torch.set_default_device("cuda")
    rate = rates()
    rows = []
    facts = {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
        "triton": triton.__version__, "tb_per_s": {key: one / 1e12 for key, one in rate.items()},
    }  # fmt: skip
    print(json.dumps(facts), flush=True)
    with torch.no_grad():
        for shape in ((128, 4096, 7168), (4096, 4096, 4096)):
            matmul(rows, *shape)
        matvec(rows, "matvec_i4", 128, 2, rate)
        matvec(rows, "matvec_f4", 16, 1, rate)
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
