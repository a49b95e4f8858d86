# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program's side of docs/external_evaluators.md: kernels that cannot be called as a C function.

One file, on Python's standard library alone: copy it into the folder of a problem and list it in
`external.files`. `kernelsearch.external` of the Python package is the same file.

    import kernelsearch_external

    def build(source, configuration):          # text of the kernel, values of the tunables by name
        def kernel(n, x, y):                   # the problem's arguments in their order
            for i in range(n):
                y[i] = 2 * x[i]
        return kernel                          # or (kernel, {"registers": 40})

    kernelsearch_external.serve(build, name="mine", version="1", device="this processor")
"""

import json
import mmap
import os
import sys
import time

PROTOCOL = 1
ANSWERS = {"describe": "described", "build": "built", "load": "loaded", "run": "ran"}

# Formats of memoryview.cast for the types of arguments; others, and structs, are views of bytes.
FORMATS = {"f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
           "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "bool": "B"}  # fmt: skip


class Declined(Exception):
    """Raised by `build` or a kernel: this configuration cannot be, for the reason given."""


class Argument:
    """An argument as the problem has it, for kernels that want more than its elements.

    name: str. type: str, e.g. "f32". role: "in", "out" or "inout", None of a scalar. count: elements.
    element_bytes: int. value: of a scalar, else None.
    """

    def __init__(self, message):
        self.name = message["name"]
        self.type = message["type"]
        self.role = message.get("role")
        self.count = message.get("count", 1)
        self.element_bytes = message.get("element_bytes")
        self.value = message.get("value")


def _channel():
    """The pipes of the protocol. What libraries print goes to standard error, and what they read is empty."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, replies


class _Memory:
    """The shared memory of a `load` request: views of each argument for each slot."""

    def __init__(self, message, known):
        self.arguments = [Argument(one) for one in message["arguments"]]
        views = []
        for memory in message["memory"]:
            descriptor, size = memory["descriptor"], memory["bytes"]
            if descriptor not in known:
                access = mmap.ACCESS_WRITE if memory["writable"] else mmap.ACCESS_READ
                known[descriptor] = memoryview(mmap.mmap(descriptor, size, access=access))
            views.append(known[descriptor])
        self.calls = []
        for slot in range(message["slots"]):
            call = []
            for one in message["arguments"]:
                if "value" in one:
                    call.append(one["value"])
                    continue
                begin = one["offsets"][slot]
                view = views[one["memory"]][begin : begin + one["count"] * one["element_bytes"]]
                form = FORMATS.get(one["type"])
                call.append(view.cast(form) if form else view)
            self.calls.append(call)


def serve(build, name, version, device, times=False, load=None, declined=None):
    """Answers requests until the other side ends.

    build(source, configuration): makes the kernel; returns it, or it and a dict of numbers seen beside. Raises
        Declined where that cannot be.
    kernel(*arguments): arrays as memoryviews (inputs cannot be written), scalars as numbers; called once for
        each call. When it returns, its outputs are there. What it returns is the seconds that the call claims;
        None: as this client's clock has them.
    name, version, device: one line each; part of the key under which results are kept.
    times: whether what kernels return are times to go by (`"time": "claimed"` in the problem).
    load(shape, arguments): hears of each shape before its first call: a dict with the shape's variables and
        its name, and a list of `Argument`.
    declined: why this program can do nothing here, such as a library that is not there: every request is answered
        with it, and the run says so.
    """
    requests, replies = _channel()
    known, memory, kernel = {}, None, None

    def answer(message):
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    for line in requests:
        request = json.loads(line)
        kind, reply = request["type"], {"id": request.get("id")}
        try:
            if kind == "end":
                return
            if declined is not None:
                reply["type"] = ANSWERS.get(kind, "nothing")
                raise Declined(declined)
            if kind == "describe":
                reply.update(type="described", protocol=PROTOCOL, name=name, version=version, device=device,
                             times=bool(times))  # fmt: skip
            elif kind == "build":
                reply["type"] = "built"
                made = build(request["source"], request["configuration"])
                kernel, features = made if isinstance(made, tuple) else (made, {})
                reply["features"] = features
            elif kind == "load":
                reply["type"] = "loaded"
                memory = _Memory(request, known)
                if load is not None:
                    load(request["shape"], memory.arguments)
            elif kind == "run":
                reply["type"] = "ran"
                seconds = []
                for slot in request["slots"]:
                    begin = time.perf_counter()
                    claimed = kernel(*memory.calls[slot])
                    seconds.append(time.perf_counter() - begin if claimed is None else claimed)
                reply["seconds"] = seconds
            else:
                reply["type"] = "nothing"
        except Declined as why:
            reply.update(ok=False, reason=str(why))
        except Exception as error:  # of the kernel's own: its verdict, and not the end of this program
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            reply.update(ok=False, reason=f"{type(error).__name__}: {error}")
        answer(reply)
