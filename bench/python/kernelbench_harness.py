#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks KernelBench's own evaluator about an answer, for `kernelsearch bench --harness`.

    kernelsearch bench TASKS --answers ANSWERS --harness 'python bench/python/kernelbench_harness.py REPO'

REPO is a copy of KernelBench. Its function `eval_kernel_against_ref` is called as its own scripts call it: five draws
of inputs, 100 timed calls, and its check for excessive speedups. Without a device the functions of `torch.cuda` that it
calls do nothing, the tensors stay on the processor, and it times with its `host_time` and ten calls; what it compares, and
how, is unchanged. Packages that its evaluation does not use (clients of models) are not needed. Prints
`{"right": ..., "speedup": ..., "text": ...}`; the answer runs with your rights."""
import contextlib
import io
import json
import pathlib
import sys
import types


class Record:
    """In place of pydantic's BaseModel, where that is not installed: fields with defaults."""

    def __init__(self, **given):
        for name in type(self).__annotations__:
            default = getattr(type(self), name)
            setattr(self, name, given.get(name, dict(default) if isinstance(default, dict) else default))


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def load(repository):
    """Its modules `eval` and `timing`, without what else its package imports."""
    import torch

    package = types.ModuleType("kernelbench")
    package.__path__ = [str(repository / "src" / "kernelbench")]
    sys.modules["kernelbench"] = package
    vendor = "amd" if getattr(torch.version, "hip", None) else "nvidia"
    stand_in("kernelbench.utils", get_gpu_vendor=lambda *_: vendor)
    for name, members in (("requests", {}), ("pydantic", {"BaseModel": Record})):
        try:
            __import__(name)
        except ImportError:
            stand_in(name, **members)
    from kernelbench import eval as evaluation
    from kernelbench import timing

    return evaluation, timing


def without_device(timing):
    import torch

    for name in ("synchronize", "set_device", "empty_cache", "manual_seed"):
        setattr(torch.cuda, name, lambda *_, **__: None)
    torch.cuda.is_available = lambda: True
    torch.cuda.device = lambda *_: contextlib.nullcontext()
    torch.cuda.reset_peak_memory_stats = lambda *_, **__: None
    torch.cuda.get_device_name = lambda *_, **__: "the processor"
    timing.clear_l2_cache = lambda *_, **__: None


def judged(repository, task, answer):
    import torch

    evaluation, timing = load(repository)
    on_device = torch.cuda.is_available()
    text = answer.read_text()
    backend = "triton" if "triton" in text else "cuda"
    if not on_device:
        without_device(timing)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            result = evaluation.eval_kernel_against_ref(
                original_model_src=task.read_text(), custom_model_src=text, num_correct_trials=5, measure_performance=True,
                num_perf_trials=100 if on_device else 10, timing_method="cuda_event" if on_device else "host_time",
                device=torch.device("cuda:0" if on_device else "cpu"), backend=backend)  # fmt: skip
        except Exception as error:  # its scripts count this as a failure too
            return {"right": False, "text": f"wrong: its evaluator ended with {type(error).__name__}: {error}"}
    if result is None:
        return {"text": "it asks to try again: " + printed.getvalue().strip().splitlines()[-1]}
    said = {"right": bool(result.correctness)}
    if result.correctness:
        said["text"] = "right"
        if result.runtime > 0 and result.ref_runtime > 0:
            said["speedup"] = result.ref_runtime / result.runtime
        if result.metadata.get("excessive_speedup"):
            said["text"] += ", excessive speedup"
        return said
    for key in ("compilation_error", "runtime_error", "correctness_issue"):
        if key in result.metadata:
            said["text"] = "wrong: " + str(result.metadata[key]).strip().splitlines()[0][:200]
    return said


def main():
    if len(sys.argv) != 4:
        print("usage: kernelbench_harness.py REPO TASK ANSWER", file=sys.stderr)
        return 2
    repository, task, answer = map(pathlib.Path, sys.argv[1:])
    if not (repository / "src" / "kernelbench" / "eval.py").is_file():
        print(f"{repository} is not a copy of KernelBench: it has no src/kernelbench/eval.py", file=sys.stderr)
        return 2
    print(json.dumps(judged(repository, task, answer)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
