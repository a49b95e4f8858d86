# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same seed gives the sequence of C++, for every policy; and of the command, for comparisons."""
import json
import os
import subprocess

import pytest

import kernelsearch as ks


def sequence(name, seed, options=None):
    space = ks.Space(
        {"block": ks.powers_of_two(1, 256), "tile": range(1, 33), "vector": [False, True], "order": ks.permutation(3)},
        ["block * tile <= 2048"],
        defaults={"block": 32},
    )
    optimizer = ks.Optimizer(space, name, seed, budget=60, options=options)
    keys = []
    while len(optimizer) < 60:
        trials = optimizer.ask(3)
        if not trials:
            break
        for trial in reversed(trials):
            c = trial.config
            if c["block"] * c["tile"] == 1024:
                optimizer.tell(trial, ks.Failed("compile", "no registers"))
            else:
                optimizer.tell(trial, 1 + c["block"] / 256 + c["tile"] / 64 - c["vector"] / 8)
        keys += [trial.key.replace(", ", ",_") for trial in trials]
    return keys


@pytest.fixture(scope="module")
def of_cpp():
    text = subprocess.run([os.environ["KERNELSEARCH_TEST_SEQUENCES"], "7"], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}


@pytest.mark.parametrize("name", sorted(ks.policies()))
def test_a_seed_gives_the_sequence_of_cpp(name, of_cpp):
    assert set(of_cpp) == set(ks.policies())
    here = sequence(name, 7)
    assert here == of_cpp[name] and len(here) >= 60  # a batch may go beyond
    if name != "exhaustive":
        assert sequence(name, 8) != here


@pytest.mark.parametrize("name", sorted(ks.policies()))
def test_standard_options_are_those_of_the_registry(name):
    options = ks.policy_options(name)
    assert options.get("default_first") is None  # the space decides
    assert (name == "exhaustive") == (not ks.policy_options(name))
    if options:
        assert sequence(name, 3, options) == sequence(name, 3)


def test_options_in_the_name_and_beside_it_are_the_same():
    assert sequence("genetic(population=5, crossover=0.5)", 3) == sequence("genetic", 3, {"population": 5, "crossover": 0.5})
    assert sequence("genetic(population=9, crossover=0.5)", 3, {"population": 5}) == sequence("genetic", 3, {"population": 5, "crossover": 0.5})


def test_options_matter():
    assert sequence("genetic", 3, {"population": 5}) != sequence("genetic", 3)
    assert sequence("tabu", 3, {"neighbourhood": "hamming"}) != sequence("tabu", 3)
    assert sequence("hierarchical_ucb", 3, {"prior": "explore"}) != sequence("hierarchical_ucb", 3)


def test_comparisons_are_those_of_the_command(recording, tmp_path):
    names = ["random", "genetic(population=4,patience=9)", "tpe", "iterated_local_search"]
    recording.write(tmp_path / "made.json")
    subprocess.run(
        [os.environ["KERNELSEARCH_TEST_COMMAND"], "compare", tmp_path / "made.json", "--policies", ",".join(names), "--repeats", "3",
         "--seed", "5", "--budget", "40", "--quiet", "--out", tmp_path / "out"], check=True, capture_output=True,
    )
    told = [json.loads(line) for line in (tmp_path / "out/traces.jsonl").read_text().splitlines()]
    comparison = ks.compare(tmp_path / "made.json", names, repeats=3, seed=5, budget=40)
    read = ks.read_recording(tmp_path / "made.json")
    keys = [read.space.key(read.config(i)) for i in range(len(read))]
    here = {(run["policy"], run["repeat"]): [keys[i] for i in run["evaluations"]] for run in comparison.runs}
    assert len(told) == len(here) == 12
    assert here == {(trace["strategy"], trace["repeat"]): trace["evals"] for trace in told}
