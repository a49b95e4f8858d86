# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python side of external evaluators (docs/external_evaluators.md), spoken to as the command speaks to it."""

import json
import os
import pathlib
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
    ours = pathlib.Path(external.__file__).read_text()
    assert (source / "examples/external/kernelsearch_external.py").read_text() == ours


def start(program, inputs, outputs, **environment):
    process = subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(inputs, outputs),
                               text=True, env={**os.environ, **environment})  # fmt: skip

    def ask(**message):
        process.stdin.write(json.dumps({"id": "7", **message}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    ask.inputs, ask.outputs, ask.process = inputs, outputs, process
    return ask


# As much of PyTorch as examples/external/triton_evaluator.py calls; its device is this processor.
STAND_IN = """
import array, time
__version__, float32, int64 = "2.0", "f", "q"
class Tensor:
    def __init__(self, data, dtype): self.data, self.dtype = data, dtype
    def copy_(self, other, non_blocking=False): self.data[:] = other.data[:]
def zeros(count, dtype, device): return Tensor(memoryview(array.array(dtype, [0] * count)), dtype)
def empty(count, dtype, pin_memory): return zeros(count, dtype, "cuda")
def frombuffer(buffer, dtype): return Tensor(buffer.cast(dtype), dtype)
class cuda:
    class Event:
        def __init__(self, enable_timing): pass
        def record(self): self.at = time.perf_counter()
        def elapsed_time(self, end): return 1e3 * (end.at - self.at)
    def init(): CUDA
    def synchronize(): pass
    def get_device_name(): return "this processor"
"""
TWICE = """
import time
def run(n, x, y, WAIT):
    time.sleep(WAIT)
    for i in range(n): y.data[i] = 2 * x.data[i]
"""


@pytest.fixture
def triton_evaluator(source, tmp_path):
    """Starts it with a stand-in for PyTorch."""
    asked = []

    def make(torch, triton=True):
        (tmp_path / "torch.py").write_text(torch)
        (tmp_path / "triton.py").write_text("__version__ = '3.6.0'" if triton else "raise ImportError('no triton')")
        inputs, outputs = (os.open(tmp_path / name, os.O_RDWR | os.O_CREAT) for name in ("in", "out"))
        for memory in (inputs, outputs):
            os.ftruncate(memory, 4096)
        asked.append(start(source / "examples/external/triton_evaluator.py", inputs, outputs, PYTHONPATH=str(tmp_path), HOME=str(tmp_path)))
        return asked[-1]

    yield make
    for ask in asked:
        ask(type="nothing")
        ask.process.stdin.write('{"type": "end"}\n')
        ask.process.stdin.close()
        assert ask.process.wait(10) == 0
        ask.process.stdout.close()


def test_a_triton_evaluator_says_what_is_missing(triton_evaluator):
    for torch, triton, why in (("raise ImportError('no torch')", True, "no torch"), (STAND_IN, False, "no triton"),
                               (STAND_IN.replace("CUDA", "raise RuntimeError('no driver')"), True, "reaches no GPU of CUDA (no driver)")):  # fmt: skip
        ask = triton_evaluator(torch, triton)
        for request, reply in (("describe", "described"), ("build", "built")):
            answer = ask(type=request)
            assert answer["type"] == reply and answer["ok"] is False and why in answer["reason"]


def test_a_triton_evaluator_claims_the_time_between_events(triton_evaluator):
    ask = triton_evaluator(STAND_IN.replace("CUDA", "pass"))
    about = ask(type="describe")
    assert (about["name"], about["version"], about["device"]) == ("Triton", "3.6.0, PyTorch 2.0", "this processor")
    assert ask(type="build", source=TWICE, configuration={"WAIT": 0.01})["type"] == "built"
    memory = [{"descriptor": ask.inputs, "bytes": 4096, "writable": False}, {"descriptor": ask.outputs, "bytes": 4096, "writable": True}]
    loaded = ask(type="load", slots=2, shape={"name": "s", "n": 3}, memory=memory, arguments=[
        {"name": "n", "type": "i32", "value": 3},
        {"name": "x", "type": "f32", "role": "in", "count": 3, "element_bytes": 4, "memory": 0, "offsets": [64, 128]},
        {"name": "y", "type": "f32", "role": "out", "count": 3, "element_bytes": 4, "memory": 1, "offsets": [256, 512]}])  # fmt: skip
    assert loaded.get("ok", True), loaded
    os.pwrite(ask.inputs, struct.pack("3f", 1, 2, 3), 128)
    ran = ask(type="run", slots=[1, 0])
    assert ran.get("ok", True), ran
    assert len(ran["seconds"]) == 2 and min(ran["seconds"]) >= 0.01
    assert struct.unpack("3f", os.pread(ask.outputs, 12, 512)) == (2, 4, 6)


def test_declines_everything_with_a_reason(tmp_path, source):
    program = tmp_path / "declines.py"
    program.write_text("from kernelsearch import external\nexternal.serve(None, 'n', '1', 'd', declined='no board')\n")
    run = subprocess.run([sys.executable, program], text=True, capture_output=True, timeout=60, check=True,
                         input='{"type": "describe", "id": "1"}\n{"type": "run", "id": "2"}\n{"type": "end"}\n')  # fmt: skip
    assert [json.loads(line) for line in run.stdout.splitlines()] == [
        {"id": "1", "type": "described", "ok": False, "reason": "no board"}, {"id": "2", "type": "ran", "ok": False, "reason": "no board"}]  # fmt: skip
