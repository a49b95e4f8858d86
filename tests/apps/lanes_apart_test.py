#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tune --other-lanes apart` with workers of two devices and of two speeds: lanes_apart_test.py KERNELSEARCH FOLDER.

A relay passes on what a worker says as that of another device, or of one that is a thousand times as slow."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

COMMAND, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
failures = []

PROBLEM = {
    "schema": 1, "name": "twice", "function": "twice",
    "kernel": {"device": {"text": [
        "extern \"C\" void twice(int n, const float* x, float* y) {",
        "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 0 * STEP;",
        "}"]}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"name": "small", "n": 1000}],
    "tunables": {"STEP": [0, 1, 2, 3]},
    "build": {"flags": ["-O1"]},
    "reference": {"function": "twice_reference", "source": {"text":
        "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}}

RELAY = '''
import json, struct, subprocess, sys, time
time.sleep(float(sys.argv[4]))
device, slower = sys.argv[2], float(sys.argv[3])
worker = subprocess.Popen([sys.argv[1], "worker", "--stdio"], stdin=sys.stdin, stdout=subprocess.PIPE)
out = sys.stdout.buffer
while True:
    head = worker.stdout.read(16)
    if len(head) < 16:
        break
    header, payload = struct.unpack("<IQ", head[4:])
    message, rest = json.loads(worker.stdout.read(header)), worker.stdout.read(payload + 1)
    if message["type"] == "ready" and device:
        message["device_id"] = message["device_name"] = device
    measured = message.get("evaluation", {}).get("measurement")
    if measured and isinstance(measured.get("seconds"), float):
        measured["seconds"] *= slower
    text = json.dumps(message).encode()
    out.write(head[:4] + struct.pack("<IQ", len(text), len(rest) - 1) + text + rest)
    out.flush()
'''


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


class Desk:
    def __init__(self, name):
        self.path = FOLDER / name
        (self.path / "twice").mkdir(parents=True)
        (self.path / "twice/problem.json").write_text(json.dumps(PROBLEM))
        (self.path / "relay.py").write_text(RELAY)
        self.environment = dict(os.environ, HOME=str(self.path), XDG_CACHE_HOME=str(self.path), XDG_DATA_HOME=str(self.path),
                                KERNELSEARCH_LOCKS=str(self.path / "locks"))

    def run(self, *words):
        return subprocess.run([COMMAND, *words, "--store", "runs.db"], cwd=self.path, env=self.environment, capture_output=True, text=True,
                              timeout=300)

    def tune(self, *words):
        return self.run("tune", "twice", "--policy", "exhaustive", "--budget", "all", "--samples", "3", "--no-bounds", "--sandbox", "none",
                        "--out", "out", "--json", *words)

    def relay(self, device, slower, later=0):
        return f"{sys.executable} relay.py '{COMMAND}' '{device}' {slower} {later} #"

    def trials(self, run):
        return [json.loads(line) for line in self.run("export", str(run), "--format", "jsonl").stdout.splitlines()]


def results(text):
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        one, at = decoder.raw_decode(text, at)
        found.append(one)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def each_has_its_own(name, desk, ran, other):
    """Two runs, each whole, with the lanes of its class alone; which lanes the second has says `other`."""
    check(f"{name}: ends well", ran.returncode == 0, ran.stderr[-3000:])
    found = results(ran.stdout)
    check(f"{name}: each class has a result", len(found) == 2 and found[0]["run"] != found[1]["run"], ran.stdout[-2000:])
    measured = [desk.trials(one["run"]) for one in found]
    for number, trials in enumerate(measured):
        keys = {trial["candidate"]["key"] for trial in trials}
        check(f"{name}: class {number + 1} has all configurations once", len(trials) == len(keys) == 4, json.dumps(trials)[:1500])
        strange = [trial for trial in trials if ("relay" in trial["evaluation"]["provenance"]) != (number == other)]
        check(f"{name}: class {number + 1} has trials of its own lanes alone", not strange, json.dumps(strange[:1])[:1500])
        out = desk.path / "out" / f"class_{number + 1}"
        check(f"{name}: class {number + 1} has its winner's files", found[number]["best"] and any(out.glob("twice_best*")), list(out.parent.glob("*")))
        check(f"{name}: class {number + 1} is told of", f"class {number + 1}: " in ran.stderr, ran.stderr[-2000:])
    return found, measured


def two_devices():
    desk = Desk("two_devices")
    ran = desk.tune("--launch", "local", "--launch", desk.relay("another processor", 1), "--launch", "local", "--lane-tolerance", "0",
                    "--other-lanes", "apart")
    found, _ = each_has_its_own("two devices", desk, ran, other=1)
    check("two devices: runs are of them", found[1]["device"] == "another processor" != found[0]["device"], found)
    lines = [line for line in ran.stderr.splitlines() if re.match(r"class \d: .* ms: lane", line)]
    check("two devices: lanes are sorted", len(lines) == 2 and "lane 0 (local)" in lines[0] and "lane 2 (local)" in lines[0]
          and "relay.py" in lines[1], ran.stderr[-2000:])


def two_speeds():
    desk = Desk("two_speeds")
    # Nine tenths is what no noise of this machine makes of it. Again, since the store knows the device's results by then.
    for name in ("two speeds", "two speeds, again"):
        ran = desk.tune("--launch", "local", "--launch", desk.relay("", 1000), "--lane-tolerance", "0.9", "--other-lanes", "apart")
        found, measured = each_has_its_own(name, desk, ran, other=1)
        check(f"{name}: both are of one device", found[0]["device"] == found[1]["device"], found)
        seconds = [{t["candidate"]["key"]: t["evaluation"]["measurement"]["seconds"] for t in trials} for trials in measured]
        mixed = [key for key in seconds[0] if not seconds[1][key] > 50 * seconds[0][key]]
        check(f"{name}: no time of one is taken for the other's", not mixed, seconds)


def one_class():
    desk = Desk("one_class")
    ran = desk.tune("--launch", "local", "x2", "--lane-tolerance", "0", "--other-lanes", "apart")
    found = results(ran.stdout)
    check("one class: is an ordinary run", ran.returncode == 0 and len(found) == 1 and any((desk.path / "out").glob("twice_best*")),
          ran.stderr[-2000:])


def refused():
    desk = Desk("refused")
    ran = desk.tune("--launch", "local", "--launch", desk.relay("another processor", 1, later=3), "--lane-tolerance", "0")
    check("refused: by default there is one run", ran.returncode == 0 and len(results(ran.stdout)) == 1, ran.stderr[-2000:])
    ran = desk.tune("--other-lanes", "apart")
    check("refused: without workers there is nothing to sort", ran.returncode == 2 and "--launch" in ran.stderr, ran.stderr)
    ran = desk.run("tune", "--resume", "latest", "--launch", "local", "--other-lanes", "apart")
    check("refused: a run that goes on is of one class", ran.returncode == 2 and "of one class" in ran.stderr, ran.stderr)
    ran = desk.tune("--slurm", "nodes=1-2", "--other-lanes", "apart")
    check("refused: nodes that come later are of no class yet", ran.returncode == 3 and "nodes=1 or nodes=2" in ran.stderr, ran.stderr)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    for case in (two_devices, two_speeds, one_class, refused):
        case()
    sys.exit(1 if failures else 0)
