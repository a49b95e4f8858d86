# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of a problem folder; skipped where the package was built without, or there is no sandbox."""
import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest
from conftest import Shuffled, heed_ctrl_c

import kernelsearch as ks
import kernelsearch._kernelsearch as module

pytestmark = [
    pytest.mark.skipif(not hasattr(module, "tune"), reason="built without KERNELSEARCH_PYTHON_RUN"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++"),
]


def test_options_of_a_policy_are_stored_and_come_back(source, tmp_path):
    problem, store = source / "tests/fixtures/problems/dot", tmp_path / "runs.db"
    given = {"policy": "genetic(population=3)", "policy_options": {"mutations": 2, "patience": None}}
    first = ks.tune(problem, 2, **given, seed=1, store=store, out=tmp_path / "best", samples=3)
    with contextlib.closing(sqlite3.connect(store)) as runs:
        assert runs.execute("SELECT policy FROM runs").fetchall() == [("genetic(population=3, mutations=2.0)",)]
    assert len(ks.tune(problem, 3, resume=first.run, store=store, out=tmp_path / "best", samples=3).trials) == 3
    with pytest.raises(ks.ConfigError, match="population of genetic is out of bounds: 1; give a number from 2"):
        ks.tune(problem, 2, policy="genetic", policy_options={"population": 1}, store=store)


def test_a_run(source, tmp_path):
    problem, store, heard, messages = source / "tests/fixtures/problems/dot", tmp_path / "runs.db", [], []
    result = ks.tune(problem, 2, policy=Shuffled, seed=1, store=store, out=tmp_path / "best", samples=3, on_trial=heard.append, on_message=messages.append)
    assert result.reason == "the trial budget is spent" and not result.stopped and result.problem == "dot"
    assert [t.config for t in heard] == [t.config for t in result.trials] and len(heard) == 2
    space = ks.Space.from_problem(problem)
    order = Shuffled(space, 1)
    assert [t.config for t in result.trials] == order.ask(1) + order.ask(1)
    right = [t for t in result.trials if t.ok]
    assert right and result.best.config in [t.config for t in right] and result.best.seconds > 0
    assert all(t.interval[0] <= t.interval[1] for t in right) and result.files["source"].startswith(str(tmp_path / "best"))
    page = result.report_html()
    assert page.startswith("<!DOCTYPE html>") and "dot" in page and page.count("<script") == 2
    shown = result._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"') and shown.count("<") == 2 and "&lt;script" in shown  # nothing but the frame is markup
    pytest.importorskip("pandas")
    assert set(result.to_pandas().columns) >= {"number", *space.names, "seconds", "verdict"}

    stopped = ks.tune(problem, 9, policy="random", store=store, reuse=True, samples=3, on_trial=lambda t: True)
    assert stopped.stopped and 1 <= len(stopped.trials) < 9  # what was under way is told
    again = ks.tune(problem, 9, resume=stopped.run, policy="random", store=store, on_trial=lambda t: True)
    known = len(stopped.trials)
    assert again.run == stopped.run and known < len(again.trials) < 9
    assert [t.config for t in again.trials[:known]] == [t.config for t in stopped.trials]

    def broken(trial):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        ks.tune(problem, 9, policy="random", store=store, on_trial=broken)
    with pytest.raises(TypeError, match="no option of a run: budjet; did you mean budget"):
        ks.tune(problem, budjet="30s")
    with pytest.raises(TypeError, match="the option jobs of a run is of another type: two; give a whole number"):
        ks.tune(problem, 1, jobs="two")
    with pytest.raises(ks.ConfigError, match="the option proposals of a run is out of bounds: 65; give a number from 1 to 64"):
        ks.tune(problem, 1, proposals=65)
    with pytest.raises(ks.ConfigError, match="the option cache of a run has no such value: cool; there are warm, cold"):
        ks.tune(problem, 1, cache="cool")
    assert ks.run_options()["seed"]["minimum"] == 0 and ks.run_options()["cache"]["enum"] == ["warm", "cold"]
    with pytest.raises(ks.ConfigError, match="problem.json"):
        ks.tune(tmp_path, 1)


def test_ctrl_c_ends_a_run_and_keeps_its_trials(source, tmp_path):
    program = textwrap.dedent(f"""
        import kernelsearch as ks, sys
        try:
            ks.tune({str(source / "tests/fixtures/problems/dot")!r}, budget="all", policy="random", store="runs.db", samples=3,
                    on_trial=lambda t: print("trial", flush=True))
        except KeyboardInterrupt:
            sys.exit(3)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=heed_ctrl_c) as process:
        assert process.stdout.readline() == "trial\n"
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=120)[0]
    assert process.returncode == 3
    kept = ks.read_recording(f"{tmp_path / 'runs.db'}:latest")
    assert len(kept) == 1 + rest.count("trial") < ks.Space.from_problem(source / "tests/fixtures/problems/dot").count
