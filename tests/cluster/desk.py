# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of a cluster share: a problem, a folder where it is tuned, and what must hold afterwards."""
import json
import os
import pathlib
import shutil
import subprocess

failures = []

PROBLEM = {
    "schema": 1, "name": "twice", "function": "twice",
    "kernel": {"device": {"text": [
        "extern \"C\" void twice(int n, const float* x, float* y) {",
        "  for (int i = 0; i < n; i += UNROLL)",
        "    for (int k = i; k < i + UNROLL && k < n; ++k) y[k] = 2 * x[k] + 0 * STEP;",
        "}"]}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"name": "small", "n": 1000}],
    "tunables": {"UNROLL": [1, 2, 4, 8, 16], "STEP": list(range(1000))},
    "build": {"flags": ["-O1"]},
    "reference": {"function": "twice_reference", "source": {"text":
        "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}}


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


class Desk:
    """A folder with a problem, where `tune` runs in an environment of its own."""

    def __init__(self, command, folder, name, variables={}):
        self.command, self.path = command, folder / name
        shutil.rmtree(self.path, ignore_errors=True)
        (self.path / "twice").mkdir(parents=True)
        (self.path / "twice/problem.json").write_text(json.dumps(PROBLEM))
        self.environment = dict(os.environ, HOME=str(self.path), XDG_CACHE_HOME=str(self.path), XDG_DATA_HOME=str(self.path),
                                KERNELSEARCH_LOCKS=str(self.path / "locks"), **variables)

    def tune(self, *words):
        return [self.command, "tune", *words, "--store", "runs.db", "--policy", "random", "--samples", "3", "--no-bounds", "--no-reuse",
                "--sandbox", "none", "--out", "out", "--lane-tolerance", "0", "--json"]

    def start(self, line):
        self.err = open(self.path / "err", "a+")
        return subprocess.Popen(line, cwd=self.path, env=self.environment, stdout=open(self.path / "out.json", "w"), stderr=self.err)

    def said(self):
        return (self.path / "err").read_text()

    def run(self, line, seconds=300):
        process = self.start(line)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return -1

    def trials(self):
        done = subprocess.run([self.command, "export", "latest", "--format", "jsonl", "--store", "runs.db"], cwd=self.path,
                              env=self.environment, capture_output=True, text=True, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def reason(self):
        """What the store says of the run."""
        done = subprocess.run([self.command, "best", "latest", "--store", "runs.db"], cwd=self.path, env=self.environment,
                              capture_output=True, text=True, timeout=60)
        return done.stdout


def whole(name, desk, budget=None, in_flight=0):
    """Every trial is there once and right. Without a budget, as many as there are, and left out are only those that
    were in flight when the time was over: what the end of a run cuts short is no trial, and they are told in order."""
    trials = desk.trials()
    ids = [trial["id"] for trial in trials]
    wanted = range(max(ids) + 1 - in_flight if budget is None else budget)
    missing = sorted(set(wanted) - set(ids))
    keys = [trial["candidate"]["key"] for trial in trials]
    check(f"{name}: no trial is lost", not missing and (budget is None or len(trials) == budget),
          f"{missing} of {len(trials)}; {desk.said()[-3000:]}")
    check(f"{name}: none is counted twice", len(set(ids)) == len(ids) and len(set(keys)) == len(keys), keys)
    wrong = [trial["evaluation"] for trial in trials if trial["evaluation"].get("verdict") != "ok"]
    check(f"{name}: all are right", not wrong, json.dumps(wrong[:2])[:1500])


def workers_left(folder):
    """Workers whose home is a folder in there."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            home = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if b"worker" in line and b"--stdio" in line and str(folder).encode() in home:
            found.append(pid)
    return found
