# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernel Tuner opens what `kernelsearch convert` writes: kernel_tuner_opens.py COMMAND

It runs Kernel Tuner in simulation mode over a converted cachefile, all configurations, and compares every
evaluation with what was recorded; and it checks a T4 file against Kernel Tuner's own schema. Ends with 77 where
Kernel Tuner is not installed.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
    from kernel_tuner import tune_kernel, util
    from kernel_tuner.file_utils import output_file_schema
except ImportError:
    print("Kernel Tuner is not installed: pip install kernel_tuner==1.4.0")
    sys.exit(77)

PARAMS = {"block_size_x": [16, 32, 64], "fast": [True, False], "share": [0.5, 1e-05, 0.0001], "layout": ["row", "col"]}
ERRORS = ["InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"]


def key_of(values):
    return ",".join(str(v) for v in values)


def recording():
    """Records with a failure of each kind, as Kernel Tuner before 1.4 wrote them."""
    cache = {}
    for n, values in enumerate(itertools.product(*PARAMS.values())):
        entry = dict(zip(PARAMS, values))
        entry["time"] = ERRORS[n % 3] if n % 7 == 3 else 1.0 + ((n * 37) % 101) / 3.0
        if n % 7 != 3:
            entry["times"] = [entry["time"]] * 3
            entry["GFLOP/s"] = 100.0 / entry["time"]
        entry.update(compile_time=100.0 + n, verification_time=1.5, benchmark_time=20.25, strategy_time=0,
                     framework_time=2.5, timestamp="2026-01-01 00:00:00+00:00")
        cache[key_of(values)] = entry
    return {"device_name": "Some GPU", "kernel_name": "saxpy", "problem_size": [4096, 16],
            "tune_params_keys": list(PARAMS), "tune_params": PARAMS, "objective": "time", "cache": cache}


def near(a, b):
    return abs(a - b) <= 1e-15 * abs(b)


def simulate(path, first):
    """Every configuration through Kernel Tuner's simulation."""
    cache = json.load(open(path))
    assert cache["tune_params_keys"] == list(PARAMS), cache["tune_params_keys"]
    results, _ = tune_kernel(cache["kernel_name"], "", tuple(cache["problem_size"]), [], cache["tune_params"],
                             strategy="brute_force", cache=path, simulation_mode=True, lang="CUDA", quiet=True)
    assert len(results) == len(first["cache"]), len(results)
    for result in results:
        wanted = first["cache"][key_of(result[p] for p in PARAMS)]
        if isinstance(wanted["time"], str):
            assert isinstance(result["__error__"], getattr(util, wanted["time"])), (result, wanted)
        else:
            assert "__error__" not in result, result
            assert near(result["time"], wanted["time"]), (result["time"], wanted["time"])
            assert near(result["GFLOP/s"], wanted["GFLOP/s"])
            assert result["times"] == [result["time"]] * 3 or all(map(near, result["times"], wanted["times"]))
        for name in ("compile_time", "verification_time", "benchmark_time"):
            assert near(result[name], wanted[name]), (name, result[name], wanted[name])
    best = min((r for r in results if "__error__" not in r), key=lambda r: r["time"])
    print(f"{os.path.basename(path)}: {len(results)} configurations, best {best['time']:.3f} ms")


def main():
    command = sys.argv[1]
    first = recording()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("old.json", "w") as out:
            json.dump(first, out)

        def convert(source, target):
            subprocess.run([command, "convert", source, target], check=True, stderr=subprocess.DEVNULL)

        convert("old.json", "new.json")
        simulate("new.json", first)
        convert("new.json", "results.t4.json")
        _, schema = output_file_schema("results")
        jsonschema.validate(json.load(open("results.t4.json")), schema)
        convert("results.t4.json", "again.json")
        simulate("again.json", first)
        convert("old.json", "lines.jsonl")
        convert("lines.jsonl", "third.json")
        names = json.load(open("third.json"))["tune_params_keys"]
        assert sorted(names) == sorted(PARAMS), names
        # closed as Kernel Tuner closes it: reading must not change the file
        before = open("new.json").read()
        util.read_cache("new.json")
        assert before.rstrip().endswith("}\n}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
