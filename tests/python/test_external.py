# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python side of external evaluators (docs/external_evaluators.md), spoken to as the command speaks to it."""

import json
import os
import struct
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from kernelsearch import external

def build(source, configuration):
    if configuration["WAY"] == "none":
        raise external.Declined("no such way")
    def kernel(n, x, y):
        print("a library prints")
        if configuration["WAY"] == "broken":
            raise ZeroDivisionError("by zero")
        for i in range(n):
            y[i] = 2 * x[i]
        return 0.5 if configuration["WAY"] == "claims" else None
    return kernel, {"source_bytes": len(source)}

seen = []
external.serve(build, name="test", version="1", device="here", times=True, load=lambda shape, arguments: print(shape, len(arguments)))
"""


@pytest.fixture
def speak(tmp_path):
    inputs, outputs = (os.open(tmp_path / name, os.O_RDWR | os.O_CREAT) for name in ("in", "out"))
    for memory in (inputs, outputs):
        os.ftruncate(memory, 4096)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               pass_fds=(inputs, outputs), text=True)  # fmt: skip

    def ask(**message):
        process.stdin.write(json.dumps({"id": "7", **message}) + "\n")
        process.stdin.flush()
        reply = json.loads(process.stdout.readline())
        assert reply["id"] == "7"
        return reply

    ask.inputs, ask.outputs, ask.process = inputs, outputs, process
    yield ask
    process.stdin.write('{"type": "end"}\n')
    process.stdin.close()
    assert process.wait(10) == 0
    assert process.stdout.read() == ""


def load(speak):
    return speak(type="load", slots=2, shape={"name": "s", "n": 3}, memory=[
        {"descriptor": speak.inputs, "bytes": 4096, "writable": False}, {"descriptor": speak.outputs, "bytes": 4096, "writable": True}],
        arguments=[{"name": "n", "type": "i32", "value": 3},
                   {"name": "x", "type": "f32", "role": "in", "count": 3, "element_bytes": 4, "memory": 0, "offsets": [64, 128]},
                   {"name": "y", "type": "f64", "role": "out", "count": 3, "element_bytes": 8, "memory": 1, "offsets": [256, 512]}])  # fmt: skip


def test_describes_builds_and_runs(speak):
    assert speak(type="describe")["device"] == "here"
    assert speak(type="build", source="abc", configuration={"WAY": "loop"})["features"] == {"source_bytes": 3}
    assert load(speak)["type"] == "loaded"
    os.pwrite(speak.inputs, struct.pack("3f", 1, 2, 3), 128)
    reply = speak(type="run", slots=[1, 0])
    assert reply["type"] == "ran" and len(reply["seconds"]) == 2 and min(reply["seconds"]) >= 0
    assert struct.unpack("3d", os.pread(speak.outputs, 24, 512)) == (2, 4, 6)
    assert speak(type="nothing")["type"] == "nothing"


def test_declines_and_goes_on(speak):
    reply = speak(type="build", source="", configuration={"WAY": "none"})
    assert reply["ok"] is False and reply["reason"] == "no such way"
    speak(type="build", source="", configuration={"WAY": "broken"})
    load(speak)
    reply = speak(type="run", slots=[0])
    assert reply["ok"] is False and reply["reason"] == "ZeroDivisionError: by zero"
    speak(type="build", source="", configuration={"WAY": "claims"})
    assert speak(type="run", slots=[0, 1])["seconds"] == [0.5, 0.5]


def test_the_file_for_problems_is_this_module(source):
    ours = (source / "python/kernelsearch/external.py").read_text()
    assert (source / "examples/external/kernelsearch_external.py").read_text() == ours
