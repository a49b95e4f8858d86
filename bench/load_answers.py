#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports answers and has the loaders of the tools that they are for load them.

    load_answers.py path/to/kernelsearch [--kernelbench REPO] [--tritonbench REPO] [--gpumode REPO]

REPO: copies of KernelBench, TritonBench and GPU MODE's reference-kernels. A task in each tool's form is tuned with a
budget of one trial, exported, and given to functions of the tool's own files: `load_custom_model` and
`load_custom_model_with_tempfile` of KernelBench's src/kernelbench/eval.py; `get_test` and `run_code` of TritonBench's
EVAL/eval_G/0_call_acc.py; `_run_single_test` of problems/pmpp_v2/eval.py. Needs PyTorch in the Python that runs this, and
no device: without one, `torch.cuda.synchronize` does nothing. flashinfer-bench's loader is asked in the test test_report.
Prints a table in Markdown; ends with 1 where an answer is not loaded, with 77 where no copy is named.
"""
import argparse
import contextlib
import dataclasses
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TRITONBENCH = ("import torch\n\n\ndef scale(x):\n    return x * 2\n\n\n" + "#" * 146 + "\n\n\ndef test_scale():\n"
               "    torch.manual_seed(0)\n    return {'case': scale(torch.rand(64))}\n\n\nresult_gold = test_scale()\n")  # fmt: skip
GPUMODE = {
    "task.yml": "files:\n  - {\"name\": \"reference.py\", \"source\": \"reference.py\"}\nbenchmarks:\n  - {\"size\": 256, \"seed\": 1}\n",
    "reference.py": "import torch\n\n\ndef ref_kernel(data):\n    return data * 2\n\n\ndef generate_input(size, seed):\n"
                    "    made = torch.Generator().manual_seed(seed)\n    return torch.rand(size, generator=made)\n\n\n"
                    "def check_implementation(data, output):\n    good = torch.allclose(output, ref_kernel(data))\n"
                    "    return good, '' if good else 'mismatch'\n",
}  # fmt: skip
MODULE = ("import torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
          "        self.linear = torch.nn.Linear(n, n)\n\n    def forward(self, x):\n        return self.linear(x)\n\n\n"
          "def get_inputs():\n    return [torch.rand(8, 16)]\n\n\ndef get_init_inputs():\n    return [16]\n")  # fmt: skip


def functions_of(path, names, known):
    """Functions of a file as they are in it, and nothing else of it: the rest may need a newer Python, or a device."""
    texts = re.split(r"^(?=\S)", path.read_text(), flags=re.MULTILINE)
    for name in names:
        found = [text for text in texts if text.startswith(f"def {name}(")]
        if not found:
            raise SystemExit(f"load_answers.py: {path} has no function {name}")
        exec(compile(found[-1], str(path), "exec"), known)
    return [known[name] for name in names]


def exported(command, task, form, folder):
    """The answer of a run of one trial."""
    store = str(folder / "runs.db")
    for words in (["tune", str(task), "--budget", "1", "--quiet", "--store", store, "--out", str(folder / "out")],
                  ["export", "latest", "--format", form, "--store", store, "-o", str(folder / "answer")]):  # fmt: skip
        done = subprocess.run([command, *words], capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise SystemExit(f"load_answers.py: kernelsearch {words[0]}: {done.stderr.strip()[-600:]}")
    return (folder / "answer").read_text()


def kernelbench(command, repository, folder):
    import torch

    task = folder / "task.py"
    task.write_text(MODULE)
    answer = exported(command, task, "modelnew", folder)
    known = {"nn": torch.nn, "os": os, "tempfile": tempfile, "importlib": importlib}
    plain, by_file = functions_of(repository / "src" / "kernelbench" / "eval.py", ["load_custom_model", "load_custom_model_with_tempfile"], known)
    original = {}
    exec(MODULE, original)
    loaded, file = by_file(answer)
    os.unlink(file.name)
    for kind in (plain(answer, {}), loaded):
        torch.manual_seed(42)
        model = original["Model"](*original["get_init_inputs"]())
        torch.manual_seed(42)
        new = kind(*original["get_init_inputs"]())
        inputs = original["get_inputs"]()
        if not torch.allclose(model(*inputs), new(*inputs)):
            return "another result"
    return ""


def tritonbench(command, repository, folder):
    task = folder / "scale.py"
    task.write_text(TRITONBENCH)
    answer = exported(command, task, "tritonbench", folder)
    known = {"os": os, "subprocess": subprocess, "py_interpreter": sys.executable}
    get_test, run_code = functions_of(repository / "EVAL" / "eval_G" / "0_call_acc.py", ["get_test", "run_code"], known)
    (folder / "answers").mkdir()
    (folder / "answers" / "scale.py").write_text(answer)
    tests = get_test(str(folder / "answers"), ["scale.py"])
    with contextlib.redirect_stdout(io.StringIO()) as said:
        run_code([answer.split("#" * 146)[0]], tests, ["scale.py"], str(folder / "run"))
    return "" if "Correct execution rate: 100.00%" in said.getvalue() else said.getvalue()[-500:]


def gpumode(command, repository, folder):
    import torch

    task = folder / "task"
    task.mkdir()
    for name, text in GPUMODE.items():
        (task / name).write_text(text)
    (folder / "submission.py").write_text(exported(command, task, "submission", folder))
    if not torch.cuda.is_available():
        torch.cuda.synchronize = lambda: None
    sys.path.insert(0, str(folder))
    known = {"torch": torch, "dataclasses": dataclasses, "TestCase": object}
    exec(GPUMODE["reference.py"], known)
    test, _ = functions_of(repository / "problems" / "pmpp_v2" / "eval.py", ["_run_single_test", "_clone_data"], known)
    good, message = test(argparse.Namespace(args={"size": 64, "seed": 3}))
    return "" if good else message or "its check refuses it"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command")
    tools = {"kernelbench": (kernelbench, "modelnew"), "tritonbench": (tritonbench, "tritonbench"), "gpumode": (gpumode, "submission")}
    for name in tools:
        options.add_argument(f"--{name}", type=pathlib.Path, metavar="REPO")
    chosen = options.parse_args()
    asked = [name for name in tools if getattr(chosen, name) is not None]
    if not asked:
        print("skipped: no copy of a tool's repository is named", file=sys.stderr)
        return 77
    code = 0
    print("| tool | format | its loader |\n|---|---|---|")
    for name in asked:
        load, form = tools[name]
        with tempfile.TemporaryDirectory() as folder:
            fault = load(chosen.command, getattr(chosen, name), pathlib.Path(folder))
        print(f"| {name} | {form} | {'loads and runs it' if not fault else ' '.join(fault.split())} |", flush=True)
        code = 1 if fault else code
    return code


if __name__ == "__main__":
    sys.exit(main())
