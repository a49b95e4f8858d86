#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the CUDA proofs of data/transformations/proofs on a GPU, beside cuBLAS and in turns with it.

    proofs.py --out results.json                     all proofs: checked on all shapes, before and after timed
    proofs.py --only persistent_f16,stream_k         these alone
    proofs.py --tune persistent_f16=24 --seed 1      so many other configurations as well, drawn from its space; the best
                                                     is what counts, as in a workflow, where each step is tuned
    proofs.py --compile-only                         needs no GPU
    proofs.py --record results.json                  writes the figures into each proof.json; needs no GPU

Needs nvcc, and on the GPU numpy and torch. Times are between CUDA events around one call of the launch function after
256 MiB were written, so that caches are cold and the queue is full; a round times every kernel of a problem once and
cuBLAS (torch.mm, TF32 off) once, in random order; figures are medians over rounds.
"""
import argparse
import concurrent.futures
import ctypes
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lab import evaluate, names_in
from proof_files import PARTS, PROOFS, backend_of, parent_regions, problem_file, proof_regions, read_jsonc

MARK = "//@tunables "
# How a launch function is called, whether it returns nothing or a bool.
ENTRY = """
struct Array {
  void* data;
  template <class T>
  operator T*() const { return (T*)data; }
};
struct ProofDone {};
inline int operator,(bool launched, ProofDone) { return launched; }
inline int proof_code(int launched) { return launched; }
inline int proof_code(ProofDone) { return 1; }
"""


def tunables_of(section):
    """Values and default of each tunable of a section `tunables`."""
    return {name: (given["values"], given.get("default", given["values"][0])) if isinstance(given, dict) else (given, given[0])
            for name, given in (section or {}).items()}


class Kernel:
    """A kernel's regions and their space."""

    def __init__(self, name, regions, problem):
        self.name, self.problem = name, problem
        self.regions = [regions.get(part, "") for part in PARTS["cuda"]]
        self.space = tunables_of(problem.get("tunables"))
        self.constraints = list(problem.get("constraints", []))
        for key, value in problem.get("default", {}).items():
            self.space[key] = (self.space[key][0], value)
        for line in self.regions[0].splitlines():
            if line.startswith(MARK):
                declared = json.loads(line[len(MARK):])
                self.space.update(tunables_of(declared.get("tunables")))
                self.constraints += declared.get("constraints", [])

    def config(self, overrides=None):
        config = {name: default for name, (_, default) in self.space.items()} | (overrides or {})
        assert set(config) == set(self.space), f"{self.name}: {set(config) ^ set(self.space)}"
        return config

    def valid(self, config):
        return all(evaluate(text, config) for text in self.constraints)

    def source(self, config):
        defines = "".join(f"#define {name} {int(value) if isinstance(value, bool) else value}\n" for name, value in config.items())
        pieces = []
        for i, argument in enumerate(self.problem["arguments"]):
            if "size" in argument:
                pieces.append(f"Array{{*(void**)p[{i}]}}")
            else:
                pieces.append(f"*(int*)p[{i}]")
        call = f"{self.problem['function']}({', '.join(pieces)}, (cudaStream_t)stream)"
        return ("#include <cstddef>\n#include <cstdint>\n" + defines + "".join(self.regions) + ENTRY +
                "extern \"C\" int proof_entry(void** p, void* stream) {\n"
                f"  return proof_code(({call}, ProofDone{{}}));\n}}\n")


def key_of(config):
    return ",".join(f"{name}={value}" for name, value in sorted(config.items()))


class Proof:
    def __init__(self, folder, content=None):
        self.name = folder.name
        self.content = content or json.loads((folder / "proof.json").read_text())
        self.problem = read_jsonc(problem_file(self.content["problem"]))
        self.after = Kernel(self.name, proof_regions(self.name), self.problem)
        before = self.content.get("before")
        self.before_name = before or self.problem["name"]
        self.before = Kernel(self.before_name, parent_regions(self.content), self.problem)
        self.config = self.after.config(self.content.get("config"))
        self.before_config = self.before.config(json.loads((PROOFS / before / "proof.json").read_text()).get("config") if before else None)
        assert self.after.valid(self.config), f"{self.name}: its configuration breaks a constraint"
        assert self.before.valid(self.before_config), f"{self.name}: its parent's configuration breaks a constraint"


def build(item, folder, architecture):
    """Compiles (kernel, config) to a library; returns its path or what the compiler said."""
    kernel, config = item
    stem = folder / f"{kernel.name}_{hashlib.sha256(key_of(config).encode()).hexdigest()[:16]}"
    stem.with_suffix(".cu").write_text(kernel.source(config))
    run = subprocess.run(["nvcc", "-std=c++20", f"-gencode=arch=compute_{architecture},code=sm_{architecture}", "-shared", "-Xcompiler", "-fPIC", "-Xptxas", "-v",
                          "-o", str(stem.with_suffix(".so")), str(stem.with_suffix(".cu"))], capture_output=True, text=True)
    registers = [int(r) for r in re.findall(r"Used (\d+) registers", run.stderr)]
    spills = sum(int(s) for s in re.findall(r"(\d+) bytes spill stores", run.stderr))
    if run.returncode != 0:
        return None, run.stderr[-2000:], registers, spills
    return str(stem.with_suffix(".so")), "", registers, spills


# ------------------------------------------------------------------------------------------------ on the GPU

def arrays_of(problem, shape):
    import torch
    types = {"f32": torch.float32, "f16": torch.float16, "u8": torch.uint8, "i32": torch.int32}
    generator = torch.Generator(device="cuda").manual_seed(7)
    values = []
    for argument in problem["arguments"]:
        if "size" not in argument:
            values.append(int(shape[argument["name"]]))
            continue
        size, kind = int(evaluate(argument["size"], shape)), types[argument["type"]]
        if argument.get("role") == "out":
            value = torch.full((size,), float("nan"), dtype=kind, device="cuda")
        elif kind == torch.uint8:
            value = torch.randint(0, 256, (size,), dtype=kind, device="cuda", generator=generator)
        else:
            low, high = argument.get("low", -1), argument.get("high", 1)
            value = (torch.rand(size, device="cuda", generator=generator) * (high - low) + low).to(kind)
        values.append(value)
    return values


def expected(problem, values):
    """What the output must be, in double precision where that is affordable."""
    import torch
    names = {argument["name"]: value for argument, value in zip(problem["arguments"], values)}
    name = problem["name"]
    if name.startswith("matmul"):
        n, m, k = names["n"], names["m"], names["k"]
        return (names["a"].double().view(n, k) @ names["b"].double().view(k, m)).flatten()
    if name.startswith("transpose"):
        return names["a"].view(names["n"], names["m"]).t().contiguous().flatten()
    if name.startswith("lookup"):
        return names["table"][names["x"].int()]
    if name.startswith("silu"):
        return torch.nn.functional.silu(names["x"].float())
    if name.startswith("convolve"):
        x, w = names["x"].float(), names["w"].float()
        sums = torch.zeros(names["n"], dtype=torch.float64, device="cuda")
        for j in range(65):
            sums += w[j].double() * x[j:j + names["n"]]
        return sums
    if name.startswith("row_sums"):
        return names["x"].view(names["rows"], names["cols"]).double().sum(1)
    if name.startswith("row_softmax"):
        return torch.softmax(names["x"].view(names["rows"], names["cols"]), 1, dtype=torch.float32).flatten()
    raise ValueError(name)


class Loaded:
    def __init__(self, path):
        self.entry = ctypes.CDLL(path).proof_entry

    def bind(self, values):
        import torch
        held = [ctypes.c_void_p(v.data_ptr()) if isinstance(v, torch.Tensor) else ctypes.c_int(v) for v in values]
        table = (ctypes.c_void_p * len(held))(*[ctypes.cast(ctypes.pointer(h), ctypes.c_void_p) for h in held])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        return lambda: (self.entry(table, stream), held)[0]


def check(items, problem, out):
    """In a process of its own: each (name, library) on all shapes against what is expected; `out` gets (name, result)."""
    import torch
    place = [i for i, a in enumerate(problem["arguments"]) if a.get("role") == "out"][0]
    half = problem["arguments"][place]["type"] == "f16"
    tolerance = problem["arguments"][place].get("tolerance") or {"absolute": 2e-3 if half else 1e-5, "relative": 2e-3 if half else 1e-5}
    cases = []
    for shape in problem["shapes"]:
        values = arrays_of(problem, shape)
        cases.append((shape["name"], values, expected(problem, values).double()))
    for name, path in items:
        out.put((name, None))
        loaded, worst, fault = Loaded(path), 0.0, None
        for shape, values, want in cases:
            run = loaded.bind(values)
            launched = True
            for _ in range(2):  # the second finds what the first left
                values[place].fill_(float("nan"))
                launched = launched and run()
            torch.cuda.synchronize()
            if not launched:
                fault = f"shape {shape} is refused"
                break
            got = values[place].double()
            over = ((got - want).abs() / (tolerance["absolute"] + tolerance["relative"] * want.abs())).nan_to_num(nan=1e30)
            worst = max(worst, over.max().item())
            if worst > 1:
                at = over.argmax().item()
                fault = f"shape {shape}: element {at} is {got[at].item()}, expected {want[at].item()}"
                break
        out.put((name, fault or worst))


def check_all(items, problem, results):
    """Starts again behind a kernel that broke its process."""
    context = multiprocessing.get_context("fork")
    while items:
        out = context.Queue()
        process = context.Process(target=check, args=(items, problem, out))
        process.start()
        done, current = 0, None
        while done < len(items):
            try:
                name, result = out.get(timeout=40)
            except Exception:
                break
            if result is None:
                current = name
            else:
                results[name], done = result, done + 1
        process.join(5 if done == len(items) else 0.1)
        if process.is_alive():
            process.kill()
        if done < len(items):
            if current is None:
                current = items[done][0]
            results[current] = "no answer in time, or its process ended"
            done += 1
        items = items[done:]


def timed(paths, problem, shape_name, rounds, out):
    """In a process of its own: seconds of each library and of cuBLAS, in turns, by round."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    shape = [s for s in problem["shapes"] if s["name"] == shape_name][0]
    values = arrays_of(problem, shape)
    names = {argument["name"]: value for argument, value in zip(problem["arguments"], values)}
    runs = {name: Loaded(path).bind(values) for name, path in paths.items()}
    if problem["name"].startswith("matmul"):
        n, m, k = names["n"], names["m"], names["k"]
        a, b, c = names["a"].view(n, k), names["b"].view(k, m), names["c"].view(n, m)
        runs["cuBLAS"] = lambda: torch.mm(a, b, out=c)
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = {name: [] for name in runs}
    order = random.Random(5)
    for r in range(rounds + 1):
        events = []
        for name in order.sample(sorted(runs), len(runs)):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.fill_(r)
            begin.record()
            runs[name]()
            end.record()
            events.append((name, begin, end))
        torch.cuda.synchronize()
        if r > 0:  # the first warms up
            for name, begin, end in events:
                times[name].append(begin.elapsed_time(end) / 1e3)
    out.put(times)


def in_process(function, *arguments, seconds=120):
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    process = context.Process(target=function, args=(*arguments, out))
    process.start()
    try:
        result = out.get(timeout=seconds)
    except Exception:
        result = "no answer in time, or its process ended"
    process.join(5)
    if process.is_alive():
        process.kill()
    return result


# ------------------------------------------------------------------------------------------------ figures

def record(results):
    """Writes what was measured into each proof.json."""
    for name, result in results["proofs"].items():
        path = PROOFS / name / "proof.json"
        content = json.loads(path.read_text())
        content.pop("measured", None)
        content.pop("config", None)
        defaults = Kernel(name, proof_regions(name), read_jsonc(problem_file(content["problem"]))).config()
        content["config"] = {key: value for key, value in result["config"].items() if value != defaults[key]}
        content["measured"] = {
            "date": results["date"], "device": results["device"], "command": "bench/cuda/proofs.py",
            "shape": result["shape"], "before_ms": round(result["before_ms"], 4), "after_ms": round(result["after_ms"], 4),
            "speedup": round(result["before_ms"] / result["after_ms"], 3)}
        if "cublas_ms" in result:
            content["measured"]["cublas_ms"] = round(result["cublas_ms"], 4)
            content["measured"]["of_cublas"] = round(result["cublas_ms"] / result["after_ms"], 3)
        path.write_text(json.dumps(content, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--tune", action="append", default=[])
    parser.add_argument("--where", action="append", default=[], help="an expression that drawn configurations fulfil if they have all that it names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--architecture", default="90a")
    parser.add_argument("--build", default="/tmp/proofs")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--record")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.record:
        record(json.loads(pathlib.Path(options.record).read_text()))
        return 0
    proofs = [Proof(path.parent) for path in sorted(PROOFS.glob("*/proof.json")) if backend_of(path.parent.name) == "cuda"]
    if options.only:
        proofs = [proof for proof in proofs if proof.name in options.only.split(",")]
    assert proofs, "no such proof"
    items = {}  # what is compiled: (kernel, config) by a name for people
    extra = {}
    for proof in proofs:
        items[f"{proof.name}|{key_of(proof.config)}"] = (proof.after, proof.config)
        items[f"{proof.before_name}|{key_of(proof.before_config)}"] = (proof.before, proof.before_config)
    for wish in options.tune:
        name, count = wish.split("=")
        proof = [p for p in proofs if p.name == name][0]
        names = sorted(proof.after.space)
        wheres = [where for where in options.where if names_in(where) <= set(names)]
        draw, drawn = random.Random(options.seed), {}
        for _ in range(200000):
            config = {n: draw.choice(proof.after.space[n][0]) for n in names}
            if len(drawn) < int(count) and all(evaluate(where, config) for where in wheres) and proof.after.valid(config):
                drawn[key_of(config)] = config
            if len(drawn) == int(count):
                break
        drawn = list(drawn.values())
        extra[name] = [f"{name}|{key_of(c)}" for c in drawn]
        items.update({f"{name}|{key_of(c)}": (proof.after, c) for c in drawn})
    folder = pathlib.Path(options.build)
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.time()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        built = dict(zip(items, pool.map(lambda item: build(item, folder, options.architecture), items.values())))
    print(f"{len(built)} compiled in {time.time() - begin:.1f} s", flush=True)
    failed = 0
    for name, (path, log, registers, spills) in built.items():
        if path is None:
            failed += 1
            print(f"FAILED {name}\n{log[:600]}")
        elif spills and not any(name in names for names in extra.values()):
            print(f"spills {spills} bytes: {name}")
    if options.compile_only:
        return 1 if failed else 0

    import torch
    results, by_problem = {}, {}
    for name, (kernel, _) in items.items():
        if built[name][0]:
            by_problem.setdefault(kernel.problem["name"], (kernel.problem, []))[1].append((name, built[name][0]))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: check_all(one[1], one[0], results), by_problem.values()))
    ok = {name for name, result in results.items() if isinstance(result, float)}
    faults = {name: result for name, result in results.items() if name not in ok}
    for name, result in faults.items():
        print(f"WRONG {name}: {result}", flush=True)
    print(f"{len(ok)} right, {len(faults)} wrong, after {time.time() - begin:.1f} s", flush=True)

    def measure(rounds, with_drawn):
        groups, medians = {}, {}
        for proof in proofs:
            wanted = groups.setdefault((proof.content["problem"], proof.content["shape"]), (proof.problem, set()))[1]
            wanted |= {f"{proof.name}|{key_of(proof.config)}", f"{proof.before_name}|{key_of(proof.before_config)}"}
            if with_drawn:
                wanted |= set(extra.get(proof.name, []))
        for (problem_path, shape), (problem, names) in groups.items():
            times = in_process(timed, {name: built[name][0] for name in names & ok}, problem, shape, rounds, seconds=120)
            if isinstance(times, str):
                print(f"TIMING {problem_path}: {times}")
                continue
            medians[(problem_path, shape)] = {name: statistics.median(t) for name, t in times.items()}
            for name, t in sorted(times.items(), key=lambda item: -statistics.median(item[1])):
                print(f"{statistics.median(t) * 1e3:9.4f} ms  {min(t) * 1e3:9.4f} .. {max(t) * 1e3:9.4f}  {built[name][2] if name in built else ''} {name}", flush=True)
        return medians

    tuned = {}
    if extra:
        medians = measure(5, True)
        for proof in proofs:
            group = medians.get((proof.content["problem"], proof.content["shape"]), {})
            known = [name for name in [f"{proof.name}|{key_of(proof.config)}", *extra.get(proof.name, [])] if name in group]
            if known:
                proof.config = items[min(known, key=group.get)][1]
            tuned[proof.name] = sorted([group[name] * 1e3, name.split("|")[1]] for name in known)[:6]
        by_name = {proof.name: proof for proof in proofs}
        for proof in proofs:  # what a step changes is what its parent's tuning chose
            if proof.before_name in by_name:
                proof.before_config = by_name[proof.before_name].config
    medians = measure(options.rounds, False)
    report = {"date": time.strftime("%Y-%m-%d"), "device": "NVIDIA H200" if not torch.cuda.is_available() else torch.cuda.get_device_name(0),
              "cuda": torch.version.cuda, "rounds": options.rounds, "proofs": {}, "tuned": tuned, "faults": faults}
    for proof in proofs:
        group = medians.get((proof.content["problem"], proof.content["shape"]), {})
        after, before = group.get(f"{proof.name}|{key_of(proof.config)}"), group.get(f"{proof.before_name}|{key_of(proof.before_config)}")
        if after is None or before is None:
            continue
        result = {"shape": proof.content["shape"], "config": proof.config, "before": proof.before_name, "before_ms": before * 1e3, "after_ms": after * 1e3,
                  "registers": built[f"{proof.name}|{key_of(proof.config)}"][2]}
        if "cuBLAS" in group:
            result["cublas_ms"] = group["cuBLAS"] * 1e3
        report["proofs"][proof.name] = result
        line = f"{proof.name:24s} {result['before_ms']:9.4f} -> {result['after_ms']:9.4f} ms  x{before / after:.2f}"
        if "cuBLAS" in group:
            line += f"  {100 * group['cuBLAS'] / after:5.1f} % of cuBLAS ({result['cublas_ms']:.4f} ms)"
        print(line, flush=True)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(report, indent=1) + "\n")
    return 1 if failed or faults else 0


if __name__ == "__main__":
    sys.exit(main())
