#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs on four virtual nodes of Slurm on this machine: slurm_test.py KERNELSEARCH FOLDER.

Nodes are set down at random moments (KERNELSEARCH_TEST_NODE_LOSSES says how often, KERNELSEARCH_TEST_SEED which), the
controller is killed, workers answer garbage, hang, and are of another machine. No trial may be lost or counted twice.
Skipped with the reason where scripts/slurm_testbed.sh cannot set Slurm up: its packages are installed if
KERNELSEARCH_TEST_NETWORK=1 allows it."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LOSSES = int(os.environ.get("KERNELSEARCH_TEST_NODE_LOSSES", "12"))
SEED = int(os.environ.get("KERNELSEARCH_TEST_SEED", "1"))
TESTBED = str(SOURCE / "scripts/slurm_testbed.sh")
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


GPU_PROBLEM = {
    "schema": 1, "name": "twice", "function": "twice", "backend": "hip",
    "kernel": {"device": {"text": [
        "extern \"C\" __global__ void twice(int n, const float* x, float* y) {",
        "  const int i = blockIdx.x * BLOCK + threadIdx.x;",
        "  if (i < n) y[i] = (WRONG ? 3 : 2) * x[i] + 0 * STEP;",
        "}"]}},
    "arguments": PROBLEM["arguments"], "shapes": PROBLEM["shapes"],
    "tunables": {"BLOCK": [32, 64], "WRONG": [0, 1], "STEP": list(range(8))},
    "launch": {"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK"]},
    "reference": {"function": "twice_reference", "launch": {"grid": ["n"], "block": [1]}, "source": {"text":
        "extern \"C\" __global__ void twice_reference(int n, const real* x, real* y) { y[blockIdx.x] = 2 * x[blockIdx.x]; }"}}}


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


class Desk:
    def __init__(self, name):
        self.path = FOLDER / name
        shutil.rmtree(self.path, ignore_errors=True)
        (self.path / "twice").mkdir(parents=True)
        (self.path / "twice/problem.json").write_text(json.dumps(PROBLEM))
        self.environment = dict(os.environ, HOME=str(self.path), XDG_CACHE_HOME=str(self.path), XDG_DATA_HOME=str(self.path),
                                KERNELSEARCH_LOCKS=str(self.path / "locks"), SLURM_CONF=str(BED / "slurm.conf"))

    def tune(self, *words):
        return [COMMAND, "tune", *words, "--store", "runs.db", "--policy", "random", "--samples", "3", "--no-bounds", "--no-reuse",
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

    def slurm(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=30).stdout

    def trials(self):
        done = subprocess.run([COMMAND, "export", "latest", "--format", "jsonl", "--store", "runs.db"], cwd=self.path,
                              env=self.environment, capture_output=True, text=True, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def reason(self):
        """What the store says of the run."""
        done = subprocess.run([COMMAND, "best", "latest", "--store", "runs.db"], cwd=self.path, env=self.environment,
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


def empty_queue(desk, seconds=30):
    for _ in range(seconds * 5):
        if not desk.slurm("squeue", "-h").strip():
            return True
        time.sleep(0.2)
    return False


def workers_left():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            home = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if b"worker" in line and b"--stdio" in line and str(FOLDER).encode() in home:
            found.append(pid)
    return found


def nothing_left(name, desk):
    check(f"{name}: no job is left", empty_queue(desk), desk.slurm("squeue"))
    for _ in range(150):
        if not workers_left():
            break
        time.sleep(0.2)
    check(f"{name}: no worker is left", not workers_left(), workers_left())


def four_nodes():
    desk = Desk("four_nodes")
    code = desk.run(desk.tune("twice", "--slurm", "nodes=4", "--budget", "16"))
    check("four nodes: ends well", code == 0, desk.said()[-3000:])
    whole("four nodes", desk, 16)
    text = json.dumps(desk.trials())
    lanes = {i for i in range(4) if f"lane {i} (srun" in text}
    check("four nodes: all have measured", lanes == {0, 1, 2, 3}, lanes)
    nothing_left("four nodes", desk)


def gpu_stand_in():
    """Device code for the stand-in of a GPU: three nodes measure, what the fourth has built."""
    hip, hiprtc = os.environ.get("KERNELSEARCH_STANDIN_HIP", ""), os.environ.get("KERNELSEARCH_STANDIN_HIPRTC", "")
    if not (os.path.exists(hip) and os.path.exists(hiprtc)):
        print("skipped  GPU stand-in: it is not built here", flush=True)
        return
    desk = Desk("gpu_stand_in")
    desk.environment.update(KERNELSEARCH_HIP_RUNTIME=hip, KERNELSEARCH_HIPRTC=hiprtc)
    (desk.path / "twice/problem.json").write_text(json.dumps(GPU_PROBLEM))
    launch = f"srun -Q -N1 -n1 '{COMMAND}' worker --stdio #"
    line = desk.tune("twice", "--launch", launch, "x3", "--build-launch", launch, "--budget", "32")
    line[line.index("--policy") + 1] = "exhaustive"
    code = desk.run(line)
    check("GPU stand-in: ends well", code == 0, desk.said()[-3000:])
    trials = desk.trials()
    check("GPU stand-in: each configuration is there once", len({t["candidate"]["key"] for t in trials}) == len(trials) == 32, len(trials))
    odd = [t for t in trials if t["evaluation"]["verdict"] != ("wrong_result" if t["candidate"]["values"]["WRONG"] else "ok")]
    check("GPU stand-in: verdicts are right", not odd, json.dumps(odd[:1])[:1500])
    text = json.dumps(trials)
    lanes = {i for i in range(4) if f"lane {i} (srun" in text}
    check("GPU stand-in: three nodes have measured", lanes == {0, 1, 2}, lanes)
    check("GPU stand-in: the fourth was ready to build", any("lane 3 (srun" in line and "is ready on" in line for line in desk.said().splitlines()), desk.said()[-2000:])
    nothing_left("GPU stand-in", desk)


def inside_a_job():
    desk = Desk("inside")
    code = desk.run(["salloc", "-N2", *desk.tune("twice", "--slurm", "nodes=2", "--budget", "6")])
    check("inside a job: ends well", code == 0, desk.said()[-3000:])
    whole("inside a job", desk, 6)
    nothing_left("inside a job", desk)


def lost_nodes():
    desk = Desk("lost_nodes")
    seconds = 20 + int(2.5 * LOSSES)
    # Locks of their own: they would take turns on this one machine.
    launch = f"srun -Q -N1 -n1 env KERNELSEARCH_LOCKS={desk.path}/locks_{{index}} {{worker}}"
    process = desk.start(desk.tune("twice", "--launch", launch, "x4", "--worker", COMMAND, "--budget", f"{seconds}s", "--in-flight", "12"))
    lost, over = [0], threading.Event()

    def lose():
        draw = random.Random(SEED)
        while not over.wait(draw.uniform(0.5, 3.0)) and lost[0] < LOSSES:
            busy = [line.split()[0] for line in desk.slurm("sinfo", "-h", "-N", "-o", "%N %t").splitlines() if "alloc" in line or "mix" in line]
            if not busy:
                continue
            node = draw.choice(busy)
            desk.slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
            desk.slurm("scontrol", "update", f"nodename={node}", "state=resume")
            lost[0] += 1

    loser = threading.Thread(target=lose)
    loser.start()
    try:
        code = process.wait(1500)
    except subprocess.TimeoutExpired:
        process.kill()
        code = -1
    over.set()
    loser.join()
    print(f"        {lost[0]} nodes were set down in {len(desk.trials())} trials", flush=True)
    check("lost nodes: nodes were lost", lost[0] > 0)
    check("lost nodes: ends well", code == 0, desk.said()[-3000:])
    whole("lost nodes", desk, in_flight=12)
    check("lost nodes: the run tells of them", "lost" in desk.said())
    nothing_left("lost nodes", desk)


def killed_controller():
    desk = Desk("killed")
    process = desk.start(desk.tune("twice", "--slurm", "nodes=4", "--budget", "24"))
    for _ in range(600):
        if (desk.path / "runs.db").exists() and len(desk.trials()) >= 5:
            break
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    known = len(desk.trials())
    check("killed controller: it was in the middle", 5 <= known < 24, known)
    nothing_left("killed controller", desk)
    code = desk.run(desk.tune("--resume", "latest", "--slurm", "nodes=4", "--budget", "24"))
    check("killed controller: goes on", code == 0, desk.said()[-3000:])
    whole("killed controller", desk, 24)
    nothing_left("killed controller, resumed", desk)


def bad_nodes():
    desk = Desk("bad_nodes")
    other = desk.path / "other.py"
    other.write_text(OTHER_MACHINE)
    hang = desk.path / "hang.sh"
    hang.write_text(f"exec 3<&0\n'{COMMAND}' worker --stdio <&3 & worker=$!\nsleep 6\nkill -STOP $worker\nsleep 60 & sleeper=$!\n"
                    "trap 'kill -9 $worker $sleeper' TERM HUP EXIT\nwait $sleeper\n")
    code = desk.run(desk.tune(
        "twice", "--launch", f"srun -Q -N1 -n1 '{COMMAND}' worker --stdio #", "--launch", "srun -Q -N1 -n1 sh -c 'echo Welcome; cat >/dev/null' #",
        "--launch", f"srun -Q -N1 -n1 python3 {other} '{COMMAND}' #", "--launch", f"srun -Q -N1 -n1 sh {hang} #",
        "--lane-silence", "4", "--budget", "40"))
    said = desk.said()
    check("bad nodes: ends well", code == 0, said[-3000:])
    whole("bad nodes", desk, 40)
    check("bad nodes: garbage is set aside and shown", "lane 1 " in said and "Welcome" in said and "set aside" in said, said[-2000:])
    check("bad nodes: another machine is refused, with both", "found `another processor`, wanted `" in said, said[-2000:])
    check("bad nodes: one that hangs is given up", "said nothing for 4 s" in said, said[-2000:])
    check("bad nodes: the store names them", "another processor" in desk.reason(), desk.reason()[-1500:])
    desk.slurm("scancel", "-u", "root")
    nothing_left("bad nodes", desk)


def time_limit():
    desk = Desk("time_limit")
    begun = time.monotonic()
    code = desk.run(desk.tune("twice", "--slurm", "nodes=2,time=1", "--budget", "100000"))
    check("time limit: ends with its summary", code == 0 and (desk.path / "out.json").read_text().strip(), desk.said()[-2000:])
    check("time limit: before the job ends", time.monotonic() - begun < 60, time.monotonic() - begun)
    nothing_left("time limit", desk)


# Passes on what a worker says, and says that it is another machine; it waits, so as not to be the first.
OTHER_MACHINE = '''
import json, struct, subprocess, sys, threading, time
time.sleep(4)
worker = subprocess.Popen([sys.argv[1], "worker", "--stdio"], stdin=sys.stdin, stdout=subprocess.PIPE)
out = sys.stdout.buffer
while True:
    head = worker.stdout.read(16)
    if len(head) < 16:
        break
    header, payload = struct.unpack("<IQ", head[4:])
    message, rest = json.loads(worker.stdout.read(header)), worker.stdout.read(payload + 1)
    if message["type"] == "ready":
        message["device_id"] = "another processor"
    text = json.dumps(message).encode()
    out.write(head[:4] + struct.pack("<IQ", len(text), len(rest) - 1) + text + rest)
    out.flush()
'''

CASES = {"four_nodes": four_nodes, "gpu_stand_in": gpu_stand_in, "inside": inside_a_job, "lost_nodes": lost_nodes, "killed": killed_controller,
         "bad_nodes": bad_nodes, "time_limit": time_limit}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    FOLDER = FOLDER.resolve()
    BED = pathlib.Path(tempfile.gettempdir()) / f"kernelsearch-slurm-{os.getpid()}"
    install = os.environ.get("KERNELSEARCH_TEST_NETWORK", "0")
    bed = subprocess.run([TESTBED, "start", str(BED)], capture_output=True, text=True,
                         env=dict(os.environ, KERNELSEARCH_TESTBED_INSTALL=install))
    if bed.returncode != 0:
        print("skipped: " + (bed.stderr.strip().splitlines() or ["no reason"])[-1])
        sys.exit(77 if bed.returncode == 77 else 1)
    try:
        for name in sys.argv[3:] or CASES:
            CASES[name]()
    finally:
        subprocess.run([TESTBED, "stop", str(BED)], capture_output=True)
    sys.exit(1 if failures else 0)
