# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An external evaluator of y = 2 x + 1 whose calls take COST microseconds by the wall's clock, in a manner of its own.

scripted.py MODE COST [VERSION]. MODE is honest, or how it cheats or breaks; see `run` and the end.
"""

import json
import mmap
import os
import struct
import sys
import threading
import time

mode, cost = sys.argv[1], float(sys.argv[2]) * 1e-6
version = sys.argv[3] if len(sys.argv) > 3 else "1"
requests = os.fdopen(os.dup(0), "r")
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
lock = threading.Lock()
state = {"requests": 0, "known": {}, "by_slot": {}}


def say(message):
    with lock:
        replies.write(json.dumps(message) + "\n")
        replies.flush()


def wait(begin, seconds):
    while time.perf_counter() - begin < seconds:
        pass


def compute(x):
    values = struct.unpack(f"{len(x) // 4}f", x)
    return struct.pack(f"{len(values)}f", *(2 * v + 1 for v in values))


def read(slot):
    at, size = state["x"][slot], state["bytes"]
    return bytes(state["in"][at : at + size])


def write(slot, y):
    at = state["y"][slot]
    state["out"][at : at + len(y)] = y


def honest(slot):
    begin = time.perf_counter()
    y = compute(read(slot))
    wait(begin, cost)
    write(slot, y)
    return y


def ahead():
    """Looks for inputs while nobody asks, and has their results when somebody does."""
    while True:
        for slot in range(len(state["x"])):
            x = read(slot)
            if x not in state["known"]:
                begin = time.perf_counter()
                y = compute(x)
                wait(begin, cost)
                state["known"][x] = y
        time.sleep(0)


def load(message):
    arguments = {one["name"]: one for one in message["arguments"]}
    sizes = [one["bytes"] for one in message["memory"]]
    if "in" not in state:
        state["in"] = mmap.mmap(3, sizes[0], access=mmap.ACCESS_READ)
        state["out"] = mmap.mmap(4, sizes[1])
    state["bytes"] = arguments["x"]["count"] * 4
    state["x"], state["y"] = arguments["x"]["offsets"], arguments["y"]["offsets"]
    if mode == "ahead":
        threading.Thread(target=ahead, daemon=True).start()


def run(slots, request):
    state["requests"] += 1
    seconds, started = [], time.perf_counter()
    for place, slot in enumerate(slots):
        begin = time.perf_counter()
        if mode == "skip" and place + 1 < len(slots):
            pass
        elif mode == "first" and place > 0:
            write(slot, state["last"])
        elif mode == "by_slot":
            y = state["by_slot"].get(slot)
            if y is None:
                y = state["by_slot"][slot] = honest(slot)
            write(slot, y)
        elif mode == "by_number":  # as whoever knows the seed of the inputs would: the n-th request has the n-th result
            y = state["by_slot"].get(state["requests"] % 3)
            if y is None:
                y = state["by_slot"][state["requests"] % 3] = honest(slot)
            write(slot, y)
        elif mode == "by_content":
            x = read(slot)
            y = state["known"].get(x[:16])
            if y is None:
                y = state["known"][x[:16]] = honest(slot)
            write(slot, y)
        elif mode == "ahead":
            y = state["known"].get(read(slot))
            if y is None:
                honest(slot)
            else:
                write(slot, y)
        elif mode == "part":
            y = compute(read(slot))
            write(slot, y[:-4])
        elif mode == "outside":
            state["out"][state["y"][slot] + state["bytes"] : state["y"][slot] + state["bytes"] + 4] = b"\1\2\3\4"
            honest(slot)
        elif mode == "pad":
            honest(slot)
        elif mode == "inputs":
            try:
                memory = mmap.mmap(3, len(state["in"]), access=mmap.ACCESS_WRITE)
                memory[state["x"][slot]] = 0
                write(slot, compute(read(slot)))
            except (PermissionError, OSError):
                honest(slot)
        elif mode != "late":
            state["last"] = honest(slot)
        seconds.append(time.perf_counter() - begin)
    if mode == "pad":  # so that a further call seems to take a tenth of what it does
        wait(started, cost * (0.9 * 64 + 0.1 * len(slots)))
    if mode == "lie":
        seconds = [0.3 * one for one in seconds]
    if mode == "shave":  # a little: below what is called a lie
        seconds = [0.73 * one for one in seconds]
    if mode == "more":
        seconds = [3 * one + 1 for one in seconds]
    reply = {"type": "ran", "id": request["id"], "seconds": seconds}
    if mode == "late":
        say(reply)
        for slot in slots:
            honest(slot)
        return
    if mode == "edited":
        reply["id"] = "0" * 32
    if mode == "kind":
        reply["type"] = "nothing"
    if mode == "count":
        reply["seconds"] = seconds[:-1] + [0.1, 0.1]
    if mode == "nan":
        replies.write(json.dumps(reply).replace(json.dumps(seconds), "[NaN]") + "\n")
        replies.flush()
        return
    if mode == "crash":
        os.kill(os.getpid(), 11)
    if mode == "hang":
        time.sleep(1000)
    if mode == "garbage":
        replies.write("\0\xff{]\n")
        replies.flush()
        return
    if mode == "flood":
        while True:
            replies.write("x" * 65536)
            replies.flush()
    if mode == "declines":
        reply = {"type": "ran", "id": request["id"], "ok": False, "reason": "out of shared memory"}
    say(reply)
    if mode == "twice":
        say(reply)


def tick(at):
    """Counts in the outputs for as long as this process runs."""
    memory, count = mmap.mmap(4, 4096), 0
    while True:
        count += 1
        memory[at : at + 8] = struct.pack("q", count)


if mode == "ticks":  # a thread and a process of its own
    threading.Thread(target=tick, args=(0,), daemon=True).start()
    if os.fork() == 0:
        tick(8)

for line in requests:
    message = json.loads(line)
    kind, name = message["type"], message.get("id")
    if kind == "end":
        break
    if kind == "describe":
        if mode == "silent":
            time.sleep(1000)
        say({"type": "described", "id": name, "protocol": 7 if mode == "protocol" else 1, "name": "scripted",
             "version": version, "device": "a clock", "times": mode == "simulator"})  # fmt: skip
    elif kind == "build":
        if mode == "build_crash":
            sys.exit(3)
        if mode == "unbuildable" or message["configuration"].get("BAD"):
            say({"type": "built", "id": name, "ok": False, "reason": "line 3: no such thing"})
        else:
            say({"type": "built", "id": name, "features": {"bytes": 12}})
    elif kind == "load":
        load(message)
        say({"type": "loaded", "id": name})
    elif kind == "run":
        if mode == "simulator":
            for slot in message["slots"]:
                write(slot, compute(read(slot)))
            say({"type": "ran", "id": name, "seconds": [cost] * len(message["slots"])})
        else:
            run(message["slots"], message)
    else:
        say({"type": "nothing", "id": name})
