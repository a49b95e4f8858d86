#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/prior_train.py: prior_train_test.py SOURCE. Exits with 77 where this Python has no numpy."""

import copy
import gzip
import json
import pathlib
import re
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy, which bench/prior_train.py needs")
    sys.exit(77)

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import prior_train as prior  # noqa: E402

failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


# The twin of guessed_role gives what the C++ function is tested to give.
words = prior.role_words(prior.ROLE_WORDS.read_text())
tested = (SOURCE / "tests" / "recorded" / "landscapes_test.cpp").read_text()
wanted = re.findall(r'\{"(\w+)", "(\w+)"\}', tested) + re.findall(r'guessed_role\("(\w*)"\) == TunableRole::(\w+)', tested)
wrong = [(name, role, prior.guessed_role(name, words)) for name, role in wanted if prior.guessed_role(name, words) != role]
check("roles are guessed as in C++", len(wanted) > 50 and not wrong, wrong or len(wanted))

# Launches are known before the build: they are those that were recorded. Of several launches the recording has the widest block, the features have that with most threads in all.
entries = json.loads(prior.MANIFEST.read_text())["landscapes"]
compared, odd = 0, []
for entry in entries:
    recording = json.loads(gzip.decompress((prior.LANDSCAPES / entry["file"]).read_bytes()))
    results = recording["results"] = recording["results"][::40]
    problem = prior.problem_of(entry, recording["metadata"].get("kernel", ""))
    recorded = [{m["name"]: m["value"] for m in r["measurements"]}.get("block_threads") for r in results]
    if problem and None not in recorded:
        stated = prior.launches(problem, [r["configuration"] for r in results])[1]
        compared += 1
        several = isinstance(problem["launch"], list)
        odd += [] if list(stated) == recorded or (several and all(stated <= recorded)) else [entry["file"]]
check("threads of a block are those that were recorded", compared >= 30 and not odd, (compared, odd))

# Features do not look at what was measured.
entry = next(e for e in entries if e["file"] == "h200_bilateral_height2048.t4.json.gz")
recording = json.loads(gzip.decompress((prior.LANDSCAPES / entry["file"]).read_bytes()))
recording["results"] = recording["results"][::40]
problem = prior.problem_of(entry, "bilateral")
check("sizes are those of the recording", problem["sizes"] == {"height": 2048, "width": 1024}, problem["sizes"])
roles = recording["metadata"]["tune_param_roles"]
blind = copy.deepcopy(recording)
for result in blind["results"]:
    for key in set(result) - {"configuration"}:
        del result[key]
seen, unseen = prior.features(recording, roles, problem), prior.features(blind, roles, problem)
check("features need configurations alone", all(np.array_equal(seen[g][n], unseen[g][n]) for g in seen for n in seen[g]))
first = recording["results"][0]["configuration"]
work = np.log2(first["WORK_X"] * first["WORK_Y"])
check("work is the product of its tunables", seen["roles"]["work"][0] == (work - 2) / 2, seen["roles"]["work"][0])
unroll = (np.log2(first["UNROLL"]) - 1.5) / 2
check("work and unroll are multiplied", np.isclose(seen["roles"]["work unroll"][0], unroll * (work - 2) / 2), seen["roles"]["work unroll"][0])
check("a block is the product of its sides", seen["launch"]["block"][0] == (np.log2(first["BLOCK_X"] * first["BLOCK_Y"]) - 7.5) / 2, seen["launch"]["block"][0])
texts = {"metadata": {}, "results": [{"configuration": {"unroll": v}} for v in (2, 16, 4)]}
check("numbers are placed by size", list(prior.features(texts, {"unroll": "unroll"}, None)["place"]["place of unroll"]) == [-0.5, 0.5, 0])

check("equal values share their rank", list(prior.ranks(np.array([3.0, 1.0, 3.0, np.inf]))) == [1.5, 0, 1.5, 3])
check("Spearman of a reversed order", abs(prior.spearman(np.array([1.0, 2, 3, 4]), np.array([9.0, 7, 5, 1])) + 1) < 1e-12)
check("Spearman of a constant", prior.spearman(np.ones(4), np.arange(4.0)) == 0)
fast = {"times": np.arange(200.0)[::-1]}
check("recall of the fastest 1 %", prior.recall(fast, np.r_[np.zeros(10), np.ones(189), -1.0]) == (0.5, 0.1), prior.recall(fast, np.r_[np.zeros(10), np.ones(189), -1.0]))


def space(family, kernel, seed, slope):
    x = np.random.default_rng(seed).normal(size=(120, 2))
    times = slope * x[:, 0] + 0.1 * x[:, 1]
    return {"name": f"{family} {kernel}", "family": family, "kernel": kernel, "times": times, "target": prior.standard(prior.ranks(times)), "columns": {"roles": {"a": x[:, 0], "b": x[:, 1]}}}


spaces = [space(family, family + str(i), 10 * n + i, 1.0) for n, family in enumerate("dbca") for i in range(2)]
check("families are split by the alphabet", prior.halves(spaces) == (["a", "c"], ["b", "d"]), prior.halves(spaces))
learned = []


class Noted(prior.Ridge):
    def fit(self, given):
        learned.append({s["family"] for s in given})
        return super().fit(given)


predictions, _ = prior.leave_one_family_out(spaces, ["b", "d"], lambda: Noted(["roles"], 0.1))
check("no model learns from the family that it ranks", learned == [{"a", "c", "d"}, {"a", "b", "c"}], learned)
check("only the asked families are ranked", set(predictions) == {"b b0", "b b1", "d d0", "d d1"}, set(predictions))
for name, make in (("ridge", lambda: prior.Ridge(["roles"], 0.1)), ("trees", lambda: prior.Trees(["roles"], rounds=20)), ("both", lambda: prior.bag(["roles"], 2, rounds=20))):
    once, size = prior.leave_one_family_out(spaces, ["a"], make)
    again, _ = prior.leave_one_family_out(spaces, ["a"], make)
    found = prior.correlations(spaces, once)
    check(f"{name}: another family's order is found", min(found.values()) > 0.9, found)
    check(f"{name}: the same each time", all(np.array_equal(once[n], again[n]) for n in once) and 0 < size < 2**21, size)
mixed = [space("a", "k", 1, 1.0), space("a", "k", 2, 1.0), space("a", "k", 3, 1.0), space("b", "l", 4, -1.5)]
check("each kernel weighs the same", prior.shares(mixed) == [1 / 6, 1 / 6, 1 / 6, 1 / 2], prior.shares(mixed))
for name, model in (("ridge", prior.Ridge(["roles"], 0.1)), ("trees", prior.Trees(["roles"]))):
    spread = model.fit(mixed).predict(mixed[0]).std()
    check(f"{name}: two kernels that contradict each other cancel", spread < 0.25, spread)
check("the mean is of landscapes, the interval of families", prior.mean_and_interval(mixed, {"a k": 0.5, "b l": -0.5}, 100)[1:] == (-0.5, 0.5))

page = prior.PAGE.read_text()
check("the page has as many variants as the script", f"{len(prior.VARIANTS)} variants on" in page and all(f"| {name} |" in page for name in prior.VARIANTS))
means = {name: float(mean) for name, mean in re.findall(r"^\| (.+) \| (-?[0-9.]+) \| \d+ \|$", page.partition(prior.MARKS["variants"])[2].partition(prior.ENDS["variants"])[0], re.M)}
check("the chosen one is the best of them", means and max(means, key=means.get) == prior.CHOSEN, means)
check("the page's result is of the chosen one", f"chosen: {prior.CHOSEN} |" in page)
done = subprocess.run([sys.executable, SOURCE / "bench" / "prior_train.py", "--least", "100000"], capture_output=True, text=True, timeout=60)
check("too few families are refused", done.returncode == 1 and "are of 0 families" in done.stderr and "smaller --least" in done.stderr, done.stderr)
sys.exit(1 if failures else 0)
