#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of examples/triton by the commands of their problems, for GPUs that need not be there: the defaults, and
each tunable at its other ends. Exits with 77 where no python3 has Triton; KERNELSEARCH_TEST_TRITON names the folder of one."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "triton"
FOLDERS = os.environ.get("KERNELSEARCH_TEST_TRITON", "")


def read_problem(path: Path) -> dict:
    return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))


def run(folder: Path, words: list) -> subprocess.CompletedProcess:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def compile_at(problem: dict, folder: Path, values: dict, architecture: str) -> subprocess.CompletedProcess:
    own = {"READABLE": FOLDERS, "SOURCE": problem["kernel"]["device"], "LIBRARY": "output.o", "ARCH": architecture, "NAME": problem["function"]}
    texts = {**own, **{name: str(value) for name, value in values.items()}}
    for made in ("output.o", "output.o.json"):
        (folder / made).unlink(missing_ok=True)
    words = [re.sub(r"\$\{(\w+)\}", lambda name: texts[name[1]], word) for word in problem["build"]["command"]]
    return run(folder, words)


def configurations(tunables: dict) -> list:
    ends, default = {}, {}
    for name, given in tunables.items():
        values = given["values"] if isinstance(given, dict) else given
        default[name] = given.get("default", values[0]) if isinstance(given, dict) else values[0]
        ends[name] = {values[0], values[-1]} - {default[name]}
    return [default] + [{**default, name: value} for name, others in ends.items() for value in sorted(others)]


def check(condition: bool, what: str, finished: subprocess.CompletedProcess) -> None:
    if not condition:
        sys.exit(f"{what}: exit code {finished.returncode}\n{finished.stderr}")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "problem"
        shutil.copytree(EXAMPLES, folder)
        probe = run(folder, ["sh", "build.sh", FOLDERS, "compile.py", "--version"])
        if "there is no python3 with Triton" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
        check(probe.returncode == 0 and "Triton 3." in probe.stdout and "ptxas" in probe.stdout, "the versions", probe)
        count = 0
        for path in sorted(EXAMPLES.glob("*.json")):
            problem = read_problem(path)
            for values in configurations(problem["tunables"]):
                made = compile_at(problem, folder, values, "sm_90a")
                what = f"{path.name} at {values}"
                check(made.returncode == 0, what, made)
                check((folder / "output.o").read_bytes()[:4] == b"\x7fELF", what + ": no cubin", made)
                launch = json.loads((folder / "output.o.json").read_text())
                expected = {"function": problem["function"], "block": [32 * values["WARPS"]], "shared": launch["shared"]}
                check(launch == expected and 0 <= launch["shared"], what + f": {launch}", made)
                count += 1
            # What cannot be compiled is said in one line that begins with the word.
            wrong = compile_at(problem, folder, configurations(problem["tunables"])[0], "gfx90a")
            check(wrong.returncode == 1 and wrong.stderr.startswith("error: gfx90a is no architecture of CUDA"), "gfx90a", wrong)
            problem["build"]["command"] = [re.sub(r",i32.*", ",i32", word) for word in problem["build"]["command"]]
            wrong = compile_at(problem, folder, configurations(problem["tunables"])[0], "sm_90a")
            check(wrong.returncode == 1 and "parameters that are no constants" in wrong.stderr, "too few types", wrong)
        print(f"{count} configurations compiled")


if __name__ == "__main__":
    main()
