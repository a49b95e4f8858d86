# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every program of examples/python ends well and prints what it should; every program of docs/python.md runs."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import kernelsearch._kernelsearch as module

PRINTS = {
    "first_search": r"[0-9]+ configurations, 40 trials, [1-9][0-9]* failed\nbest: \{'block': 128, 'tile': 8.*'vector': True\}, 1\.[0-9]+ ms",
    "ask_and_tell": r"best: \{'block': 32, 'stages': 2\} at 0\.8825",
    "own_policy": r"mine +P@60 +0\.[0-9]+ .*\nrandom .*\nbayesian +P@60 +0\.[0-9]+ ",
    "in_an_event_loop": r"60 trials, the trial budget is spent; best: \{'rows': [0-9]+, 'columns': [0-9]+\}",
    "tune_a_problem": r"<TunedTrial 0: .*\n(.*\n)*run 1: the trial budget is spent\nbest: \{'LANES'",
}


def needs_runs():
    if not hasattr(module, "tune"):
        pytest.skip("built without KERNELSEARCH_PYTHON_RUN")
    if shutil.which("bwrap") is None or shutil.which("g++") is None:
        pytest.skip("there is no bubblewrap or g++")


def test_all_are_here(source):
    assert {f.stem for f in (source / "examples/python").glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_example(name, source, tmp_path):
    arguments = []
    if name == "tune_a_problem":
        needs_runs()
        arguments = [source / "tests/fixtures/problems/dot", "2", tmp_path / "runs.db"]
    run = subprocess.run([sys.executable, source / f"examples/python/{name}.py", *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.match(PRINTS[name], run.stdout), run.stdout


def test_the_programs_of_the_page(source, tmp_path, monkeypatch):
    """The blocks of docs/python.md follow one another in one program; those that need runs or files of the reader's are marked `# yours`."""
    monkeypatch.chdir(tmp_path)
    text = (source / "docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 8
    run = [block for block in blocks if not block.startswith("# yours")]
    assert len(blocks) - len(run) <= 4  # kernels, saved runs, Triton and Helion
    names = {"__name__": "page"}
    for block in run:
        exec(compile(block, str(pathlib.Path("docs/python.md")), "exec"), names)
    assert names["result"].best is not None
