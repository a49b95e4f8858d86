# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every system asks of a PyTorch module, as the model that gets it would read it.

    prompt_test.py COMMAND

Of a reference without PyTorch (tests/external/evaluators/scripted_module.py), then of a module of examples/torch where a
Python has PyTorch, and what that Python says of modules (`explain`).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = sys.argv[1]
# Systems that ask for a whole file, those that ask in another form, and those that cannot work on a module, with the reason.
WRITERS = ("best_of_k", "cuda_skill_v2", "geak", "greedy_refine", "kernelband", "stark")
OTHERS = {
    "peak": "this system's transformations are edits of C++",
    "helion_llm": "this system chooses values of tunables, and a PyTorch module has none",
    "helion_hybrid": "this system chooses values of tunables, and a PyTorch module has none",
}


def asked(problem, system, *more):
    line = [COMMAND, "prompt", str(problem), "--system", system, "--sandbox", "none", *more]
    ran = subprocess.run(line, capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def check(text, *parts):
    for part in parts:
        assert part in text, f"there is no {part!r} in\n{text}"


def names_all_systems():
    listed = subprocess.run([COMMAND, "list", "systems"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in listed.splitlines() if line.strip()} - {"helion_lfbo"}
    assert known == {*WRITERS, *OTHERS}, known


def every_system(problem, *parts):
    """Asks as each of them; `parts` are in all questions."""
    for system in WRITERS:
        code, out, err = asked(problem, system)
        assert code == 0, err
        check(out, *parts, "class ModelNew", "DOES NOT APPLY" if system != "geak" else "## How to reply")
        assert "GPU: none was found" not in out
        assert "{{" not in out
    for system, reason in OTHERS.items():
        code, out, err = asked(problem, system)
        assert code == 3, out
        check(err, reason, "choose a system whose models write files")


def scripted_problem(folder, module):
    shutil.copy(ROOT / "tests/external/evaluators/scripted_module.py", folder)
    (folder / "model.py").write_text(module + "\n")
    (folder / "model_new.py").write_text("honest\n")
    (folder / "problem.json").write_text("""{"schema": 1, "name": "scaled", "backend": "external", "function": "ModelNew",
  "kernel": {"device": "model_new.py"}, "arguments": [], "shapes": [{"name": "module"}],
  "reference": {"python": "model.py", "function": "Model"},
  "external": {"command": ["python3", "${FILES}/scripted_module.py"], "files": ["scripted_module.py"], "answer_seconds": 3}}""")
    return folder


def without_torch():
    with tempfile.TemporaryDirectory() as folder:
        problem = scripted_problem(pathlib.Path(folder), "explains that y = w x")
        every_system(
            problem, "- device: a clock, by scripted", "- a fact\n- a note\n- operator 1: mul -> f32[64] of shape 0",
            "explains that y = w x", "f32 may differ by 0.0001 + 0.0001 |expected|, f16 and bf16 by 0.01 + 0.01 |expected|",
            "Give new tensors for each call, not memory that the next call writes again", "@triton.jit", "without gradients",
        )  # fmt: skip
        # The strategies are those of modules, and on a device those of Triton.
        check(asked(problem, "best_of_k")[1], "- fusion: Compute several operators in one pass", "- split_reduction: ")
        code, out, err = asked(problem, "kernelband", "--variant", "v1")
        assert code == 0, err
        check(out, "Strategy: ", "tl.")
        # Without features of PyTorch on a device, those of Triton are not offered.
        out = asked(scripted_problem(pathlib.Path(folder), "y = w x"), "best_of_k")[1]
        check(out, "- fusion: ")
        assert "split_reduction" not in out


def with_torch(python):
    module = ROOT / "examples" / "torch" / "linear_gelu.py"
    os.environ["KERNELSEARCH_PYTHON"] = python
    every_system(
        module, "\n- PyTorch ", "\n- kernels of your own: ", "\n- input f32[64, 256], from ", "\n- output f32[64, 256]\n",
        "operator 1: addmm -> f32[64, 256]: 394.2 kB, 8.389 Mop", "operator 2: gelu -> f32[64, 256]: 131.1 kB",
        "all operators move 525.3 kB, a single kernel for all needs to move 394.2 kB",
        "shares of the bytes: addmm 75 %, gelu 25 %", "(torch.profiler): ", "super().__init__()", "0.0001 |expected|",
    )  # fmt: skip
    ran = subprocess.run([python, __file__, COMMAND, "--explain"])
    assert ran.returncode == 0


def module_of(modules, text, peaks=None, seconds=1.0, learned=lambda: None):
    """What the reference says of a module; `learned` is called before that."""
    types = ("f16", "bf16", "f32", "f64", "u8", "i64", "bool")
    reference = modules.Reference(
        {"module": text, "class": "Model", "tolerances": {one: [1e-4, 1e-4] for one in types}, "seed": 7,
         "shapes": [{"name": "module", "variables": {}}]}
    )  # fmt: skip
    learned()
    told = {"shapes": [0], "threads": 1, "seconds": seconds, "peaks": peaks or {}}
    return reference.explain(told)["facts"], reference


HEAD = "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x, *others):\n        "


def explains():
    """What `explain` says, in a Python with PyTorch."""
    from with_torch import modules, torch

    # Views and memory without contents are left out, equal neighbours are one line, and a row that is read by all is counted once.
    text = HEAD + "return x.t().view(-1)[:6].reshape(2, 3).relu().relu().relu() + torch.empty(3) * 0 + others[0].expand(2, 3)\n"
    text += "\n\ndef get_inputs():\n    return [torch.rand(1, 6) + 1, torch.rand(1, 1)]\n"
    facts, reference = module_of(modules, text.replace("torch.empty(3) * 0", "torch.zeros(3) * 0"))
    rows = [one for one in facts if one.startswith("operator")]
    assert rows[0] == "operators 1 to 3: relu -> f32[2, 3]: 48 B each", rows
    assert rows[-1] == "operator 7: add -> f32[2, 3]: 52 B", rows  # 24 B in, 4 B of one element, 24 B out
    check("\n".join(facts), "operator 4: zeros -> f32[3]: 12 B")
    assert not any(" view " in one or " t " in one or "expand" in one for one in rows)
    check("\n".join(facts), "all operators move 292 B", "shares of the bytes: relu 49 %, add 38 %, mul 8 %, zeros 4 %")

    # What changes its input is no view, and many outputs leave room for the bytes.
    text = HEAD + "return torch._foreach_mul([(x + 1).relu_()] * 30, 2)\n\n\ndef get_inputs():\n    return [torch.rand(2, 3, 4)]\n"
    facts, _ = module_of(modules, text)
    rows = [one for one in facts if one.startswith("operator")]
    assert rows[1] == "operator 2: relu_ -> f32[2, 3, 4]: 192 B", rows
    assert rows[2].startswith("operator 3: _foreach_mul -> f32[2, 3, 4], f32[2, 3, 4], ") and rows[2].endswith("...: 2.976 kB"), rows
    assert all(len(one) <= modules.LONGEST_LINE for one in facts)

    # The roofline: bytes over the bandwidth, or operations over the peak of the type.
    text = HEAD + "return x @ x.t()\n\n\ndef get_inputs():\n    return [torch.rand(64, 128)]\n"
    peaks = {"bandwidth": 1e9, "f32": 1e12, "f16": 1e10}
    facts, _ = module_of(modules, text, peaks)
    check("\n".join(facts), "operator 1: mm -> f32[64, 64]: 81.92 kB, 1.049 Mop, at best 81.92 us",
          "at best 81.92 us one after the other, 49.15 us as one kernel")  # fmt: skip
    facts, _ = module_of(modules, text, {"bandwidth": 1e12, "f32": 1e9})
    check("\n".join(facts), "at best 1.049 ms one after the other")
    half = text.replace("x @ x.t()", "x.half() @ x.half().t()")
    check("\n".join(module_of(modules, half, peaks)[0]), "operator 3: mm -> f16[64, 64]: 40.96 kB, 1.049 Mop, at best 104.9 us")
    assert "at best" not in "\n".join(module_of(modules, text)[0])
    assert "at best" not in "\n".join(module_of(modules, text, {"f32": 1e12})[0])

    # A long module is cut: what moves most stays, in its order, and the rest is counted.
    body = "".join(f"x = (x * {i + 1}).{'exp' if i % 2 else 'neg'}()\n        " for i in range(40))
    text = HEAD + body + "return torch.cat([x, x]).sum()[None]\n\n\ndef get_inputs():\n    return [torch.rand(8)]\n"
    facts, _ = module_of(modules, text)
    rows = [one for one in facts if one.startswith("operator")]
    assert len(rows) == modules.OPERATORS_SHOWN and all(len(one) <= modules.LONGEST_LINE for one in facts)
    check("\n".join(facts), "operator 81: cat -> f32[16]: 96 B", "further operators move ")

    # What a call takes too long for is left out with the reason: here each takes a tenth of a second by a clock of its own.
    clock = sys.modules["clock"] = types.SimpleNamespace(now=0.0)
    slow = HEAD.replace("import torch\n", "import clock\nimport torch\n", 1) + "clock.now += 0.1\n        return x * 2\n"
    slow += "\n\ndef get_inputs():\n    return [torch.rand(8)]\n"
    before, modules.time = modules.time, types.SimpleNamespace(monotonic=lambda: clock.now)
    ends = {0.15: "a call takes too long", 0.45: "a call takes 100 ms: too long", 1.0: None}
    for seconds, reason in ends.items():
        clock.now = 0.0
        facts, _ = module_of(modules, slow, seconds=seconds, learned=lambda: setattr(clock, "now", 0.0))
        if reason is None:
            check(facts[-1], "(torch.profiler): mul ")
            assert clock.now < 1.05, clock.now
        else:
            assert facts[-1] == f"its time by operator is not known: {reason}", facts
    modules.time = before

    # Seeds and contents are not told.
    facts, reference = module_of(modules, text)
    numbers = {repr(float(one)) for one in reference.drawn(reference.shapes[0], 0)[1][0]}
    assert not any(number in fact for number in numbers for fact in facts)

    # Bytes that fall are not sorted, although their differences wrap.
    sample = [torch.tensor([[9, 3, 200, 1]], dtype=torch.uint8), torch.tensor([[8, 4, 2, 100]], dtype=torch.uint8)]
    promise = modules.Promise(sample)
    assert not promise.ascending and not promise.descending
    rising = [torch.tensor([[1, 3, 200, 201]], dtype=torch.uint8), torch.tensor([[0, 3, 4, 100]], dtype=torch.uint8)]
    assert modules.Promise(rising).ascending
    assert modules.Promise([one.flip(-1) for one in rising]).descending


def torch_python():
    """A Python that has PyTorch."""
    for python in (os.environ.get("KERNELSEARCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    return None


if "--explain" in sys.argv:
    explains()
    sys.exit(0)
names_all_systems()
without_torch()
python = torch_python()
if python is None:
    print("skipped: no PyTorch; name a Python that has it in KERNELSEARCH_PYTHON (the part without it passed)")
    sys.exit(77)
with_torch(python)
