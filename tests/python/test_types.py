# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first program of a reader passes type checkers, and what is misspelt does not."""
import subprocess
import sys

import pytest

WRONG = """
import kernelsearch as ks
ks.minimize(lambda config: 1.0, ks.Space({"a": [1, 2]}), trails=3)
"""


def checked(path, tmp_path):
    pytest.importorskip("mypy")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", path], capture_output=True, text=True)


def test_first_program_passes_mypy_strict(source, tmp_path):
    run = checked(source / "examples/python/first_search.py", tmp_path)
    assert run.returncode == 0, run.stdout


def test_an_unknown_keyword_does_not(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    run = checked(tmp_path / "wrong.py", tmp_path)
    assert run.returncode == 1 and "trails" in run.stdout, run.stdout
