#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes score_cases.inc: what the reference scorer makes of small made-up spaces and traces.

    make_score_cases.py SCORER > score_cases.inc

SCORER is score.py; it needs numpy and scipy.
"""
import gzip, importlib.util, json, os, sys, tempfile
import numpy as np
from scipy.optimize import isotonic_regression

rng = np.random.default_rng(4)
folder = tempfile.mkdtemp()
os.environ["SPACES"] = folder


def cpp(x):
    return "infinity" if x in (float("inf"), "inf") else repr(float(x))


spaces = {}
for name, n, failed, digits in (("wide_a", 150, 20, 6), ("narrow_b", 40, 5, 1), ("easy_c", 70, 0, 6)):
    values = np.round(1 + rng.gamma(2.0, 1.0, n) * (0.2 if name == "easy_c" else 1.0), digits)
    values = [float(v) for v in values]
    for i in rng.choice(n, failed, replace=False):
        values[i] = None
    spaces[name] = values
    cache = {f"k{i}": {"time": "RuntimeFailedConfig" if v is None else v} for i, v in enumerate(values)}
    with gzip.open(os.path.join(folder, name + ".json.gz"), "wt") as f:
        json.dump({"tune_params_keys": ["k"], "tune_params": {"k": []}, "cache": cache}, f)

traces = []
for name, values in spaces.items():
    n = len(values)
    for strategy, shortest in (("full", n), ("stops", 3), ("late", 25)):
        for repeat in range(4 if strategy == "stops" else 5):
            length = int(rng.integers(min(shortest, n), n + 1))
            order = [int(i) for i in rng.permutation(n)[:length]]
            if strategy == "late":  # worse than random at first
                order.sort(key=lambda i: -(values[i] or 99) + rng.normal())
            traces.append({"space": name, "strategy": strategy, "repeat": repeat, "evals": [f"k{i}" for i in order],
                           "cap": 30 if strategy == "late" else n, "wall_s": 0.001 * length})

spec = importlib.util.spec_from_file_location("score", sys.argv[1])
scorer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scorer)
path = os.path.join(folder, "traces.jsonl")
with open(path, "w") as f:
    f.writelines(json.dumps(t) + "\n" for t in traces)
results = scorer.score(scorer.read_traces([path]), boot=0)

print("// Made by make_score_cases.py; do not edit.")
print("const std::vector<SpaceCase> space_cases = {")
for name, values in spaces.items():
    print(f'    {{"{name}", {{{", ".join("infinity" if v is None else repr(v) for v in values)}}}}},')
print("};\nconst std::vector<Trace> trace_cases = {")
for t in traces:
    print(f'    {{"{t["space"]}", "{t["strategy"]}", {t["repeat"]}, {{{", ".join(k[1:] for k in t["evals"])}}}, {{}}, '
          f'{t["cap"]}, {t["wall_s"]!r}, 0, 0}},')
print("};\nconst std::vector<ScoreCase> score_cases = {")
AREAS = ["P", "P@20", "P@40", "P@60", "P200", "P300"]
RATIOS = ["ratio@20", "ratio@40", "ratio@60", "ratio@100", "ratio@200"]
REST = ["n5", "n1", "n5_reached", "n1_reached", "policy_ms_per_eval"]


def row(strategy, space, s):
    return (f'    {{"{strategy}", "{space}", {{{", ".join(cpp(s[k]) for k in AREAS)}}}, '
            f'{{{", ".join(cpp(s[k]) for k in RATIOS)}}}, {{{", ".join(cpp(s[k]) for k in REST)}}}, ')


for strategy, r in results.items():
    print(row(strategy, "", r["summary"]["dev"]) + "0, 0, 0, false, false},")
    for space, s in r["spaces"].items():
        print(row(strategy, space, s) + f'{s["B"]}, {s["range"]}, {s["median_len"]}, '
              f'{str(s["truncated"]).lower()}, {str(s["stopped_early"]).lower()}}},')
print("};\nconst std::vector<IsotonicCase> isotonic_cases = {")
for n in (1, 2, 3, 5, 8, 13, 21):
    for kind in ("integers", "halves"):
        y = rng.integers(0, 6, n) / (1 if kind == "integers" else 2)
        w = rng.integers(1, 9, n).astype(float)
        x = isotonic_regression(y, weights=w, increasing=True).x
        print("    {" + ", ".join("{" + ", ".join(map(cpp, v)) + "}" for v in (y, w, x)) + "},")
print("};")
