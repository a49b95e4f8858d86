#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/record_corpus.py on a host problem: record_corpus_test.py SOURCE KERNELSEARCH WORKER FOLDER."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE, COMMAND, WORKER, FOLDER = (pathlib.Path(a).resolve() for a in sys.argv[1:])
failures = 0
PROBLEM = {
    "schema": 1, "name": "tripled", "function": "tripled", "kernel": {"device": "kernel.cpp"},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"name": "4096", "n": 4096}],
    "tunables": {"STEP": {"values": [1, 2, 4, 8], "role": "unroll"}, "WRONG": {"values": [False, True]}, "MODE": {"values": [0, 1], "if": "STEP > 1"}},
    "constraints": ["STEP < 8 or MODE == 1"],
}  # fmt: skip
KERNEL = """#include <cstdint>
extern "C" void tripled(std::int32_t n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = (MODE == 0 ? 3 * x[i] : x[i] + 2 * x[i]) + (WRONG ? 1 : 0) + 0 * STEP;
}
"""


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def run(*arguments):
    return subprocess.run([sys.executable, SOURCE / "bench/record_corpus.py", *map(str, arguments)], capture_output=True, text=True, timeout=200)


def results(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def last(path):
    return json.loads(path.read_text().splitlines()[-1])


shutil.rmtree(FOLDER, ignore_errors=True)
problem, build = FOLDER / "tripled", FOLDER / "build"
problem.mkdir(parents=True)
build.mkdir()
(problem / "problem.json").write_text(json.dumps(PROBLEM))
(problem / "kernel.cpp").write_text(KERNEL)
for name, target in (("kernelsearch", COMMAND), ("kernelsearch-worker", WORKER), ("kernelsearch-gpu-worker", WORKER)):
    (build / name).symlink_to(target)

# The default has the right answer, and half of the configurations do not.
done = run(build, FOLDER / "whole", problem, "--seconds", 90, "--prefix", "t_")
check("a small space is recorded", done.returncode == 0, done.stdout + done.stderr)
line = last(FOLDER / "whole/recorded.jsonl")
whole = results(FOLDER / "whole/t_tripled.t4.json.gz")
# STEP 1 with MODE at its default, STEP 2 and 4 with either, STEP 8 with 1; each right and wrong
check("every valid configuration is there once", len({json.dumps(r["configuration"]) for r in whole["results"]}) == len(whole["results"]) == line["valid"] == 12, line)
check("its line says so", line["design"] == "whole" and line["complete"] and line["tried"] == 12 and line["failed"] == 6, line)
wrong = [r for r in whole["results"] if r["configuration"]["WRONG"]]
check("failures have their verdict and reason", all(r["verdict"] == "wrong_result" and r["reason"] for r in wrong), wrong[0])
check("roles are there", whole["metadata"]["tune_param_roles"] == {"STEP": "unroll"}, whole["metadata"])
before = (FOLDER / "whole/t_tripled.t4.json.gz").read_bytes()
done = run(build, FOLDER / "whole", problem, "--seconds", 90, "--prefix", "t_")
check("what is there is left", done.returncode == 0 and (FOLDER / "whole/t_tripled.t4.json.gz").read_bytes() == before, done.stderr)

done = run(build, FOLDER / "part", problem, "--seconds", 90, "--prefix", "t_", "--whole", 4, "--draws", 4, "--size", "n=2048")
line = last(FOLDER / "part/recorded.jsonl")
part = results(FOLDER / "part/t_tripled_n2048.t4.json.gz")
check("a larger space is sampled", line["design"] == "stratified" and line["tried"] == 4 and line["stratum"] == "STEP", line)
check("evenly among the strata", sorted(r["configuration"]["STEP"] for r in part["results"][:4]) == [1, 2, 4, 8], part["results"][:4])
right = [r for r in part["results"][:4] if r["invalidity"] == "correct"]
check("some of the sample is right", right, part["results"][:4])
best = min(right, key=lambda r: r["measurements"][0]["value"])["configuration"]
beside = [r["configuration"] for r in part["results"][4:]]
check("neighbours of the best follow", beside and len(beside) == line["neighbours"] and all(sum(best[n] != c[n] for n in best) == 1 for c in beside), (best, beside))

done = run(build, FOLDER / "again", problem, "--again", FOLDER / "whole", "--share", 0.5, "--seconds", 90, "--prefix", "t_")
line = last(FOLDER / "again/again.jsonl")
check("a share of the right ones is measured again", line["chosen"] == line["measured"] == 3 and 0 <= line["within"] <= 3 and line["least"] <= line["median_ratio"] <= line["most"], line)

done = run(build, FOLDER / "none", FOLDER, "--seconds", 90)
check("a folder without a problem is refused", done.returncode == 1 and "is not a problem folder" in done.stderr, done.stderr)
done = run(build, FOLDER / "none", problem, "--size", "n4096")
check("a size is VARIABLE=NUMBER", done.returncode == 2 and "n4096 is not VARIABLE=NUMBER" in done.stderr, done.stderr)
done = run(problem, FOLDER / "none", problem)
check("a build without the command is refused", done.returncode == 1 and "no program kernelsearch below" in done.stderr, done.stderr)
sys.exit(1 if failures else 0)
