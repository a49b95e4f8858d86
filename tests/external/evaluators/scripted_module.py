# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both roles of the contract of modules (docs/torch.md) without PyTorch: y = w x of 64 numbers, and x is left as it was.

A shape may have a variable `added`, and is y = w x + added then. A candidate's text is how it behaves: honest, or how it cheats or breaks.
A module that "explains" says what its calls do, and one that "dies" ends then. A module "changes x" has an input that a call may change.
One that is "slow at N for SECONDS s" takes that long to say what is right of the Nth call that it is asked about with the same weights. One
that is "plain again" knows no other contents for a side's second weights.
"""

import ctypes
import json
import mmap
import os
import random
import re
import signal
import struct
import sys
import time

COUNT, COST = 64, 500e-6
requests = os.fdopen(os.dup(0), "rb", buffering=0)
replies = os.dup(1)
os.dup2(2, 1)
tensor = {"type": "f32", "shape": [COUNT], "strides": [1], "bytes": 4 * COUNT}


def read():
    line = requests.readline()
    return json.loads(line) if line else {"type": "end"}


def say(kind, message, **more):
    os.write(replies, json.dumps({"type": kind, "id": message["id"], **more}).encode() + b"\n")


def numbers(memory, at):
    return struct.unpack_from(f"{COUNT}f", memory, at)


def reference():
    state = {"weight": {}, "inputs": [], "asked": {}, "made": {}}
    while (message := read())["type"] != "end":
        kind = message["type"]
        if kind == "describe":
            shape = {"arguments": {"list": [{"tensor": 0}]}, "inputs": [{**tensor, "written": "changes x" in message["module"]}],
                     "outputs": [{"type": "f32", "shape": [COUNT]}], "result": {"tensor": 0},
                     "work": {"bytes": -1 if "odd work" in message["module"] else 512, "operations": 64, "type": "f32"}}  # fmt: skip
            state["module"] = message["module"]
            state["slow"] = re.search(r"slow at (\d+) for ([\d.]+) s", message["module"])
            state["added"] = [float(one["variables"].get("added", 0)) for one in message["shapes"]]
            if "declined" in message["module"]:
                say("described", message, ok=False, reason="it drops out elements at random")
                continue
            say("described", message, protocol=1 if "old" in message["module"] else 2, name="scripted", version="1",
                device="a clock", precision="f64", init={"list": []},
                shapes=[shape] * (1 if "one" in message["module"] else len(message["shapes"])),
                state=[{"name": "w", "type": "f32", "shape": [1], "strides": [1]}], notes=["a note"], compiles=False, facts=["a fact"],
                **({"explains": True, "features": ["torch", "gpu", "triton"]} if "explains" in message["module"] else {}))  # fmt: skip
        elif kind == "explain":
            if "dies" in state["module"]:
                os._exit(3)
            asked = f"{message['threads']} thread, {message['seconds']:g} s, peaks {sorted(message['peaks'])}"
            say("explained", message, facts=[f"operator 1: mul -> f32[64] of shape {one}" for one in message["shapes"]] + [asked])
        elif kind == "load":
            state["memory"] = mmap.mmap(3, message["bytes"])
            state["at"] = [one["inputs"][0] for one in message["shapes"]]
            say("loaded", message)
        elif kind == "weights":
            weight = random.Random(message["secret"]).uniform(1, 3) if message["mode"] == "names" else 1.0
            weight = struct.unpack("f", struct.pack("f", weight))[0]
            state["weight"][message["side"]], state["asked"][message["side"]] = weight, 0
            state["made"][message["side"]] = state["made"].get(message["side"], 0) + 1
            struct.pack_into("f", state["memory"], message["offset"], weight)
            say("weights", message)
        elif kind == "draw":
            rng = random.Random(message["seed"])
            state["manner"] = message["manner"]
            for slot in message["slots"]:
                struct.pack_into(f"{COUNT}f", state["memory"], state["at"][message["shape"]][slot], *(rng.random() for _ in range(COUNT)))
            say("drawn", message)
        elif kind == "check":
            state["asked"][message["side"]] += 1
            if state["slow"] and state["asked"][message["side"]] == int(state["slow"][1]):
                time.sleep(float(state["slow"][2]))
            x = numbers(state["memory"], state["at"][message["shape"]][message["slot"]])
            y = numbers(state["memory"], message["places"][0])
            w, added = state["weight"][message["side"]], state["added"][message["shape"]]
            if "plain again" in state["module"] and state["manner"] == "varied" and state["made"][message["side"]] > 1:
                y = [0] * COUNT
            wrong = [i for i in range(COUNT) if abs(y[i] - w * x[i] - added) > 1e-5]
            say("checked", message, ok=not wrong, reason=f"element {wrong[0]} is wrong" if wrong else "",
                right_share=1 - len(wrong) / COUNT, error=1e30 if wrong else 0.1, strict_error=0.5, absolute_error=2e-7, relative_error=3e-7)  # fmt: skip


def candidate(message):
    mode, seen, outputs = message["source"].strip().splitlines()[-1], {}, []
    weight, known = 1.0, {}
    while message["type"] != "end":
        kind = message["type"]
        if kind == "build":
            if mode == "unbuildable":
                say("built", message, ok=False, reason="line 3: no such thing")
            else:
                say("built", message, weights="seed" if mode == "by_seed" else "names")
        elif kind == "load":
            weights = memory = mmap.mmap(3, message["memory"][0]["bytes"], access=mmap.ACCESS_READ)
            places = [one["inputs"][0]["places"] for one in message["shapes"]]
            if message["shapes"][0]["inputs"][0]["memory"] == 1:
                memory = mmap.mmap(message["memory"][1]["descriptor"], message["memory"][1]["bytes"])
            if mode not in ("by_seed", "no_weights"):
                weight = struct.unpack_from("f", weights, message["state"][0]["places"][0])[0]
            say("loaded", message)
        elif kind == "release":
            outputs.clear()
            say("released", message)
        elif kind == "run":
            addresses = []
            for place, slot in enumerate(message["slots"]):
                begin = time.perf_counter()
                x = numbers(memory, places[message["shape"]][slot])
                key = slot if mode == "by_slot" else None
                if key is None or key not in known:
                    added = message["shape"] if mode == "adds" else 0
                    known[key] = [weight * one + added for one in x]
                out = (ctypes.c_float * COUNT)(*known[key])
                if mode == "skips" and place > 0:
                    out = outputs[0]
                if mode == "late":
                    out = (ctypes.c_float * COUNT)()
                while time.perf_counter() - begin < COST:
                    pass
                if mode in ("past", "ahead"):
                    index = COUNT + 5 if mode == "past" else -2
                    struct.pack_into("f", memory, places[message["shape"]][slot] + 4 * index, 7.0)
                outputs.append(out)
                addresses.append([8 if mode == "nowhere" else ctypes.addressof(out)])
            if mode == "crashes":
                os.kill(os.getpid(), signal.SIGSEGV)
            if mode == "ends_server":
                os.kill(os.getppid(), signal.SIGKILL)
            if mode == "hangs":
                time.sleep(1000)
            shape = [COUNT // 2, 2] if mode == "shape" else [COUNT]
            strides = [2, 1] if mode == "shape" else [1 << 39] if mode == "spread" else [1]
            more = {"layout": [{"type": "f32", "shape": shape, "strides": strides}], "result": {"tensor": 0}}
            say("ran", message, places=addresses, **(more if message["layout"] else {}))
            if mode == "late":
                time.sleep(0)
                for out, slot in zip(outputs, message["slots"]):
                    out[:] = [weight * one for one in numbers(memory, places[message["shape"]][slot])]
            if mode == "twice":
                say("ran", message, places=addresses, **more)
        message = read()


def candidates():
    while (message := read())["type"] != "end":
        if message["type"] == "describe":
            say("described", message, protocol=2, version="1")
            continue
        child = os.fork()
        if child == 0:
            try:
                candidate(message)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        say("ended", message, reason=f"it was ended by signal {status}")


{"reference": reference, "candidates": candidates}[sys.argv[-1]]()
