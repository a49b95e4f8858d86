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
import signal
import subprocess
import sys
import tempfile
import threading
import time

from desk import PROBLEM, check, failures, whole, workers_left
import desk as desks

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LOSSES = int(os.environ.get("KERNELSEARCH_TEST_NODE_LOSSES", "12"))
SEED = int(os.environ.get("KERNELSEARCH_TEST_SEED", "1"))
TESTBED = str(SOURCE / "scripts/slurm_testbed.sh")
BED = pathlib.Path(tempfile.gettempdir()) / f"kernelsearch-slurm-{os.getpid()}"

class Desk(desks.Desk):
    def __init__(self, name):
        super().__init__(COMMAND, FOLDER, name, {"SLURM_CONF": str(BED / "slurm.conf")})

    def slurm(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=30).stdout


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


def empty_queue(desk, seconds=30):
    for _ in range(seconds * 5):
        if not desk.slurm("squeue", "-h").strip():
            return True
        time.sleep(0.2)
    return False


def nothing_left(name, desk):
    check(f"{name}: no job is left", empty_queue(desk), desk.slurm("squeue"))
    for _ in range(150):
        if not workers_left(FOLDER):
            break
        time.sleep(0.2)
    check(f"{name}: no worker is left", not workers_left(FOLDER), workers_left(FOLDER))


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


def sorted_nodes():
    """Lanes that are sorted into classes have their nodes until the end, and then give them back."""
    desk = Desk("sorted_nodes")
    code = desk.run(desk.tune("twice", "--slurm", "nodes=2", "--other-lanes", "apart", "--budget", "6"))
    check("sorted nodes: ends well", code == 0, desk.said()[-3000:])
    check("sorted nodes: both are of one class", any(line.startswith("class 1: ") and "lane 0" in line and "lane 1" in line
                                                     for line in desk.said().splitlines()), desk.said()[-3000:])
    whole("sorted nodes", desk, 6)
    nothing_left("sorted nodes", desk)


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


def occupied(desk, nodes):
    """A job of somebody else on so many whole nodes."""
    job = desk.slurm("sbatch", "--parsable", f"-N{nodes}", "--exclusive", "-J", "other", "-o", "/dev/null", "--wrap", "sleep 600").strip()
    wait_for(lambda: "R" in desk.slurm("squeue", "-h", "-o", "%t", "-j", job))
    return job


def ours(desk, state="PD,CF,R,CG"):
    return desk.slurm("squeue", "-h", "-n", "kernelsearch", "-t", state, "-o", "%i").split()


def wait_for(what, seconds=60):
    for _ in range(seconds * 5):
        if what():
            return True
        time.sleep(0.2)
    return bool(what())


def measured_by(desk):
    text = json.dumps(desk.trials())
    return {i for i in range(4) if f"lane {i} (srun" in text}


def growing():
    """Two of three nodes are taken by somebody else; they join when he leaves, and one of them is lost and comes back."""
    desk = Desk("growing")
    other = occupied(desk, 3)
    process = desk.start(desk.tune("twice", "--slurm", "nodes=1-3", "--budget", "4000", "--in-flight", "12"))
    wait_for(lambda: (desk.path / "runs.db").exists() and len(desk.trials()) >= 3)
    check("growing: it begins with the least", measured_by(desk) == {0}, desk.said()[-2000:])
    check("growing: the others are asked for one at a time", len(ours(desk, "PD")) == 2, desk.slurm("squeue"))
    desk.slurm("scancel", other)
    check("growing: nodes that come join", wait_for(lambda: measured_by(desk) == {0, 1, 2}), desk.said()[-3000:])
    jobs = ours(desk, "R")
    nodes = desk.slurm("squeue", "-h", "-n", "kernelsearch", "-t", "R", "-o", "%N").split()
    check("growing: on a node each", len(set(nodes)) == len(nodes) == 3, nodes)
    node = desk.slurm("squeue", "-h", "-o", "%N", "-j", max(jobs, key=int)).strip()
    desk.slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    desk.slurm("scontrol", "update", f"nodename={node}", "state=resume")
    check("growing: for one that is lost another is asked for",
          wait_for(lambda: desk.said().count("Slurm gives") == 3 and len(ours(desk, "R")) == 3), desk.said()[-3000:] + desk.slurm("squeue"))
    process.send_signal(signal.SIGINT)
    check("growing: ends when asked", process.wait(120) == 130, desk.said()[-2000:])
    whole("growing", desk, in_flight=12)
    nothing_left("growing", desk)


def killed_in_the_queue():
    """What is still in the queue leaves it, too."""
    desk = Desk("killed_in_the_queue")
    other = occupied(desk, 3)
    process = desk.start(desk.tune("twice", "--slurm", "nodes=1-2", "--budget", "4000"))
    check("killed in the queue: a node is asked for", wait_for(lambda: ours(desk, "R") and ours(desk, "PD")), desk.said()[-2000:])
    process.send_signal(signal.SIGKILL)
    process.wait()
    check("killed in the queue: no job of ours is left", wait_for(lambda: not ours(desk), 30), desk.slurm("squeue"))
    process = desk.start(desk.tune("twice", "--slurm", "nodes=2-3", "--budget", "4"))
    check("killed in the queue: the least is waited for", wait_for(lambda: ours(desk, "PD")) and not ours(desk, "R"), desk.slurm("squeue"))
    process.send_signal(signal.SIGINT)
    check("killed in the queue: waiting can be ended", process.wait(60) == 4, desk.said()[-2000:])
    check("killed in the queue: it leaves the queue", wait_for(lambda: not ours(desk), 30), desk.slurm("squeue"))
    desk.slurm("scancel", other)
    nothing_left("killed in the queue", desk)


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

CASES = {"four_nodes": four_nodes, "gpu_stand_in": gpu_stand_in, "sorted": sorted_nodes, "inside": inside_a_job, "lost_nodes": lost_nodes, "killed": killed_controller,
         "bad_nodes": bad_nodes, "time_limit": time_limit, "growing": growing, "killed_in_the_queue": killed_in_the_queue}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    FOLDER = FOLDER.resolve()
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
