# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import Shuffled, heed_ctrl_c, time_of

import kernelsearch as ks

NAMES = ["x.json", "x.t4.json", "x.jsonl", "x.csv", "x.json.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_recordings_are_written_and_read(recording, tmp_path, name):
    recording.write(tmp_path / name)
    read = ks.read_recording(tmp_path / name)
    assert len(read) == len(recording) and read.space.count == recording.space.count
    assert {read.space.key(read.config(i)): s for i, s in enumerate(read.seconds) if s == s} == pytest.approx(
        {recording.space.key(recording.config(i)): s for i, s in enumerate(recording.seconds) if s == s})
    assert np.isnan(read.seconds).sum() == np.isnan(recording.seconds).sum() == sum(c["tile"] == 13 for c in recording.space)


def test_recordings_as_arrays_and_frames(recording, space):
    assert recording.seconds.dtype == np.float64 and recording.positions.shape == (space.count, 3)
    assert recording.positions.dtype == np.uint32 and space.decode(recording.positions) == list(space)
    assert recording.samples(0).tolist() == [recording.seconds[0]] and recording.recorded_seconds.shape == (space.count,)
    assert (recording.name, recording.kernel, recording.device) == ("made", "kernel", "device")
    pytest.importorskip("pandas")
    frame = recording.to_pandas()
    assert frame["seconds"].isna().sum() == (frame["verdict"] == "launch_failed").sum() == (frame["tile"] == 13).sum()
    best = frame.loc[frame["seconds"].idxmin()]
    assert (best["block"], best["tile"], bool(best["vector"])) == (32, 6, True)
    assert set(frame.loc[frame["tile"] == 13, "reason"]) == {"no 13"}
    with pytest.raises(IndexError):
        recording.config(space.count)


def test_recordings_that_cannot_be(space, tmp_path):
    with pytest.raises(ks.ConfigError, match="without trials"):
        ks.Recording.of("x", space, [])
    with pytest.raises(ks.ConfigError, match="seconds above 0"):
        ks.Recording.of("x", space, [(space[0], -1.0)])
    with pytest.raises(TypeError, match="tuples"):
        ks.Recording.of("x", space, [space[0]])
    with pytest.raises(ks.ConfigError, match="nothing.json"):
        ks.read_recording(tmp_path / "nothing.json")


def test_results_become_recordings_to_learn_from(space):
    known = ks.minimize(time_of, space, 60, policy="genetic").recording("first")
    assert len(known) == 60
    learned = ks.minimize(time_of, space, 8, seed=3, earlier=[known])
    alone = ks.minimize(time_of, space, 8, seed=3)
    assert [t.key for t in learned.trials] != [t.key for t in alone.trials] and learned.best.value <= alone.best.value
    with pytest.raises(ks.ConfigError, match="nothing to learn from"):
        ks.Optimizer({"other": [1, 2]}, earlier=[known])


@pytest.fixture(scope="module")
def comparison(recording):
    return ks.compare(recording, {"mine": Shuffled, "random": "random", "small": ("genetic", {"population": 6})}, repeats=5, seed=1, budget=50)


def test_comparisons(comparison, recording):
    runs = comparison.runs
    assert len(runs) == 15 and {run["policy"] for run in runs} == {"mine", "random", "small"}
    for run in runs:
        assert len(run["evaluations"]) == len(run["value"]) == len(run["best"]) == 50 and len(set(run["evaluations"])) == 50
        assert np.array_equal(run["value"], recording.seconds[run["evaluations"]], equal_nan=True)
        known = np.where(np.isnan(run["value"]), np.inf, run["value"])
        assert np.array_equal(np.minimum.accumulate(known), np.where(np.isnan(run["best"]), np.inf, run["best"]))
    again = ks.compare(recording, {"mine": Shuffled, "random": "random"}, repeats=5, seed=1, budget=50, threads=1)
    chosen = [run for run in runs if run["policy"] != "small"]
    assert all(np.array_equal(a["evaluations"], b["evaluations"]) for a, b in zip(chosen, again.runs)) and len(chosen) == len(again.runs)
    plain = ks.compare(recording, ["genetic"], repeats=5, seed=1, budget=50).runs
    assert any(not np.array_equal(a["evaluations"], b["evaluations"]) for a, b in zip([r for r in runs if r["policy"] == "small"], plain))


def test_scores_are_frames(comparison):
    pytest.importorskip("pandas")
    scores = comparison.scores(bootstrap=50)
    assert list(scores.index) == [(p, s) for p in ("mine", "random", "small") for s in ("made", "mean")]
    assert (scores["P_low"] <= scores["P"]).all() and (scores["P"] <= scores["P_high"]).all()
    assert comparison.summary(20).index[0] == comparison.summary(20)["P"].idxmax()
    differences = comparison.differences("random")
    assert set(differences.index.get_level_values("policy")) == {"mine", "small"} and (differences["p"] <= 1).all()
    best = comparison.summary(0).index[0]
    assert comparison.differences().equals(comparison.differences(best)) and best not in comparison.differences().index.get_level_values("policy")
    assert len(comparison.traces()) == 750 and comparison.spaces().loc["made", "configurations"] == 184


def test_all_policies_take_part_where_none_is_named(recording):
    runs = ks.compare(recording, repeats=1, seed=1, budget=12).runs
    assert {run["policy"] for run in runs} == set(ks.policies()) - {"exhaustive"}


def test_learning_from_recordings(recording):
    runs = [ks.compare(recording, ["bayesian"], repeats=2, seed=1, budget=12, learn_from=given).runs for given in ([], [recording])]
    assert any(not np.array_equal(a["evaluations"], b["evaluations"]) for a, b in zip(*runs))
    assert sum(r["best"][-1] for r in runs[1]) <= sum(r["best"][-1] for r in runs[0])


def test_what_goes_wrong_in_comparisons(recording):
    class Broken(Shuffled):
        def ask(self, n):
            raise LookupError("not found")

    class Unmakeable:
        def __init__(self, space, seed):
            raise LookupError("not made")

    class Repeats(Shuffled):
        def ask(self, n):
            return [self.space[0]]

    with pytest.raises(ks.ConfigError, match=r"(?s)Broken on made, repeat 0, evaluation 1.*LookupError: not found"):
        ks.compare(recording, [Broken], repeats=1)
    with pytest.raises(ks.ConfigError, match="(?s)could not be made.*LookupError: not made"):
        ks.compare(recording, [Unmakeable], repeats=1)
    with pytest.raises(ks.ConfigError, match="Repeats"):
        ks.compare(recording, [Repeats], repeats=1, strict=True)
    with pytest.raises(TypeError, match="needs a fresh one"):
        ks.compare(recording, {"x": Shuffled(recording.space)})

    def progress(finished, runs):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ks.compare(recording, ["random"], repeats=5, progress=progress)
    calls = []
    ks.compare(recording, ["random"], repeats=3, progress=lambda finished, runs: calls.append((finished, runs)))
    assert calls[-1] == (3, 3)


def test_ctrl_c_ends_a_comparison(tmp_path):
    program = textwrap.dedent("""
        import kernelsearch as ks, sys
        space = ks.Space({"a": range(60), "b": range(60)})
        made = ks.Recording.of("made", space, [(c, 1.0 + c["a"] + c["b"]) for c in space])
        def begun(finished, runs):
            print("begun", flush=True)
        try:
            ks.compare(made, ["random", "bayesian"], repeats=500, progress=begun, threads=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(3)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=heed_ctrl_c) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=120)[0]
    assert process.returncode == 3 and rest.splitlines()[-1] == "interrupted"


def test_plots(recording, comparison, space):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = ks.minimize(lambda c: ks.Failed("launch") if c["tile"] == 13 else time_of(c), space, 60, policy="random")
    axes = ks.plots.progress(result)
    assert axes.get_xlabel() == "trial" and len(axes.lines) == 3
    assert len(ks.plots.times(recording).lines[0].get_xdata()) == np.isfinite(recording.seconds).sum()
    lines = ks.plots.curves(comparison).lines
    assert [line.get_label() for line in lines] == ["mine", "random", "small"] and min(lines[0].get_ydata()) >= 1
    mine = sorted(run["best"][30] for run in comparison.runs if run["policy"] == "mine")
    middle = lines[0].get_ydata()[30] * np.nanmin(recording.seconds)
    assert mine[1] < mine[2] < mine[3] and middle == pytest.approx(mine[2], rel=1e-12)  # of five runs
    with pytest.raises(ValueError, match="there are made"):
        ks.plots.curves(comparison, "other")


def test_importing_is_light():
    program = "import sys, kernelsearch; print(sorted(m for m in sys.modules if m in {'numpy', 'pandas', 'matplotlib', 'asyncio', 'typing', 'json'}))"
    run = subprocess.run([sys.executable, "-S", "-c", "import sys; sys.path[:0] = " + repr(sys.path) + "; " + program], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stdout + run.stderr


def test_only_the_entry_leaves_the_module():
    import kernelsearch._kernelsearch as module

    try:
        listed = subprocess.run(["nm", "-D", "--defined-only", module.__file__], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("there is no nm")
    assert [line.split()[-1] for line in listed.splitlines()] == ["PyInit__kernelsearch"]


def test_stubs_name_what_there_is():
    import ast

    import kernelsearch._kernelsearch as module

    folder = os.path.dirname(ks.__file__)
    tree = ast.parse(open(os.path.join(folder, "_kernelsearch.pyi")).read())
    stubbed = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(module) if not name.startswith("_")}
    assert there <= stubbed and os.path.exists(os.path.join(folder, "py.typed"))
    for name in ks.__all__:
        assert getattr(ks, name).__doc__ or name == "__version__", name
