#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the host proofs of data/transformations/proofs: each against the kernel that it changes, in turns.

    proofs.py              prints the ratios
    proofs.py --record     writes them into each proof.json

Needs g++. One process on one core; 301 pairs of calls, both orders alike, the median of the pairs' ratios: other
work on the machine moves both times alike, so the ratio is told and no time is.
"""
import argparse
import ctypes
import json
import pathlib
import math
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cuda"))
from lab import evaluate
from proof_files import PROOFS, backend_of, parent_regions, problem_file, proof_regions, read_jsonc
from proofs import tunables_of  # bench/cuda/proofs.py

TYPES = {"f32": ctypes.c_float, "u8": ctypes.c_uint8}


def source_of(regions, overrides):
    """Text of a kernel, with its tunables at their defaults or as `overrides` says."""
    macros = regions.get("macros", "")
    config = {}
    for line in macros.splitlines():
        if line.startswith("//@tunables "):
            config = {name: default for name, (_, default) in tunables_of(json.loads(line[12:])["tunables"]).items()}
    config |= overrides
    return "".join(f"#define {name} {value}\n" for name, value in config.items()) + "#include <cstdint>\n" + macros + regions["device"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    device = f"one core of {cpu.group(1).strip() if cpu else platform.machine()}, g++ {compiler}, on a machine busy with other work"
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(PROOFS.glob("*/proof.json")):
            content = json.loads(path.read_text())
            if backend_of(path.parent.name) != "host":
                continue
            problem = read_jsonc(problem_file(content["problem"]))
            shape = [s for s in problem["shapes"] if s["name"] == content["shape"]][0]
            draw = random.Random(1)
            arguments, keep = [], []
            for argument in problem["arguments"]:
                if "size" not in argument:
                    value = evaluate(argument.get("value", argument["name"]), shape)
                    arguments.append(ctypes.c_float(value) if argument["type"] == "f32" else ctypes.c_int(int(value)))
                    continue
                size, kind = int(evaluate(argument["size"], shape)), TYPES[argument["type"]]
                low, high = argument.get("low", -1), argument.get("high", 1)
                # 16 elements more, so that the array can begin at a multiple of 64 bytes, as the evaluator's do
                memory = ctypes.create_string_buffer((size + 16) * ctypes.sizeof(kind) + 64)
                start = -ctypes.addressof(memory) % 64
                array = (kind * size).from_buffer(memory, start)
                for i in range(size):
                    array[i] = draw.uniform(low, high) if kind is ctypes.c_float else draw.randrange(128)
                keep.append(array)
                arguments.append(array)
            calls = []
            for i, (regions, overrides) in enumerate(((parent_regions(content), {}), (proof_regions(path.parent.name), content.get("config", {})))):
                text, library = pathlib.Path(scratch) / f"{path.parent.name}{i}.cpp", pathlib.Path(scratch) / f"{path.parent.name}{i}.so"
                text.write_text(source_of(regions, overrides))
                subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", *problem["build"]["flags"], "-o", str(library), str(text)], check=True)
                calls.append(getattr(ctypes.CDLL(str(library)), problem["function"]))
            outputs = []
            for call in calls:
                call(*arguments)
                outputs.append([list(array) for array in keep])
            for before, after in zip(*outputs):
                assert all(math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-3) for x, y in zip(before, after)), path
            begin = time.perf_counter()
            calls[0](*arguments)
            repeats = max(1, int(3e-4 / max(time.perf_counter() - begin, 1e-7)))
            ratios = []
            for pair in range(301):
                seconds = [0.0, 0.0]
                for which in ((0, 1) if pair % 2 == 0 else (1, 0)):
                    begin = time.perf_counter()
                    for _ in range(repeats):
                        calls[which](*arguments)
                    seconds[which] = time.perf_counter() - begin
                ratios.append(seconds[0] / seconds[1])
            speedup = statistics.median(ratios)
            tenths = statistics.quantiles(ratios, n=10)
            print(f"{path.parent.name:26s} x{speedup:.2f}  (80 % of pairs within {tenths[0]:.2f} .. {tenths[-1]:.2f})", flush=True)
            if options.record:
                content["measured"] = {"date": time.strftime("%Y-%m-%d"), "device": device, "command": "bench/host/proofs.py", "shape": content["shape"],
                                       "speedup": round(speedup, 2), "tenths": [round(tenths[0], 2), round(tenths[-1], 2)]}
                path.write_text(json.dumps(content, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
