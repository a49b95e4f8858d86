# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several objectives, what is pickled and saved, and what misuse is told."""
import copy
import pickle

import pytest
from conftest import Shuffled, time_of

import kernelsearch as ks


def both(config):
    return {"time": 2.0 ** -config["tile"] * config["block"], "joules": 2.0 ** config["tile"] * config["block"]}


def test_objectives_are_values_and_a_front(space):
    optimizer = ks.Optimizer(space, "nsga2", seed=3, objectives="time; maximize per_joule = 1 / joules")
    result = optimizer.minimize(both, trials=150)
    assert optimizer.objectives == "time; maximize per_joule = 1 / joules"
    best = result.best
    assert best.values["time"] == both(best.config)["time"] and best.values["per_joule"] == 1 / both(best.config)["joules"]
    assert best.value == pytest.approx((best.values["time"] / best.values["per_joule"]) ** 0.5)
    front = result.front
    assert len(front) > 4
    for trial in front:
        for other in result.trials:
            assert not (other.values["time"] < trial.values["time"] and other.values["per_joule"] > trial.values["per_joule"])
    # One objective, of which more is better; a time with features is a result too.
    more = ks.minimize(lambda c: (time_of(c), {"rate": c["tile"]}), space, 60, policy="genetic", objectives="maximize rate")
    assert more.best.values == {"rate": 16.0} and more.best.value == 1 / 16
    assert [t.config["tile"] for t in more.front] == [16]


def test_what_an_objective_lacks_is_said(space):
    with pytest.raises(ks.ConfigError, match="did you mean joules"):
        ks.minimize(both, space, 5, objectives="time; joule")
    with pytest.raises(ks.ConfigError, match="which the result lacks"):
        ks.minimize(lambda c: {"joules": 1.0}, space, 5, objectives="time; joules")
    with pytest.raises(ks.ConfigError, match="above 0"):
        ks.minimize(lambda c: {"joules": 0.0}, space, 5, objectives="joules")
    with pytest.raises(ks.ConfigError, match="not understood"):
        ks.Optimizer(space, objectives="time joules")
    with pytest.raises(TypeError, match="objectives="):
        ks.minimize(lambda c: (1.0, 2.0), space, 5)


def test_spaces_and_trials_are_pickled(space):
    again = pickle.loads(pickle.dumps(space))
    assert again.count == space.count and again.checksum() == space.checksum() and again.default == space.default
    assert copy.deepcopy(space) is space
    full = ks.Space({"a": [(0, 1), (1, 0)], "b": [1, 2], "c": ["x", "y"]}, ["b == 1 or c == 'x'"], defaults={"b": 2}, active_if={"c": "b > 1"}, roles={"b": "tile"})
    again = pickle.loads(pickle.dumps(full))
    assert again.checksum() == full.checksum() and again.default == full.default and again.values == full.values
    listed = ks.Space.listed({"a": [1, 2, 3], "b": [1, 2, 3]}, [{"a": 1, "b": 2}, {"a": 3, "b": 3}])
    with pytest.raises(ks.ConfigError, match="Space.listed"):
        pickle.dumps(listed)
    optimizer = ks.Optimizer(space, "random", seed=1)
    one, two, three = optimizer.ask(3)
    optimizer.tell(one, 2.0, {"registers": 40})
    optimizer.tell(two, ks.Failed("compile", "no such register"))
    for trial in (one, two, three):
        other = pickle.loads(pickle.dumps(trial))
        for name in ("config", "number", "told", "ok", "value", "verdict", "reason", "features", "key"):
            assert getattr(other, name) == getattr(trial, name), name
    with pytest.raises(ks.ConfigError, match="another optimizer"):
        optimizer.tell(pickle.loads(pickle.dumps(three)), 1.0)
    optimizer.tell(pickle.loads(pickle.dumps(three)).number, 1.0)


@pytest.mark.parametrize("policy", ["bayesian", "genetic(population=6)", "nsga2"])
def test_a_search_goes_on_where_it_was_saved(space, tmp_path, policy):
    optimizer = ks.Optimizer(space, policy, seed=4, objectives="time; joules" if policy == "nsga2" else "")
    optimizer.add({"block": 64, "tile": 4, "vector": True}, both({"block": 64, "tile": 4}) if policy == "nsga2" else 3e-3)
    for i in range(14):
        trial = optimizer.ask()
        optimizer.tell(trial, ks.Failed("wrong", "half", 0.5) if i == 5 else both(trial.config) if policy == "nsga2" else (time_of(trial.config)), {"seen": i})
    optimizer.revise(optimizer.trials[3], ks.Failed("crash"))
    pending = optimizer.ask(2)
    optimizer.save(tmp_path / "search.json")
    for again in (ks.Optimizer.load(tmp_path / "search.json"), pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        assert [t.config for t in again.trials] == [t.config for t in optimizer.trials]
        assert [(t.value, t.verdict, t.reason, t.features) for t in again.trials] == [(t.value, t.verdict, t.reason, t.features) for t in optimizer.trials]
        assert [t.config for t in again.pending] == [t.config for t in pending]
        assert again.best.config == optimizer.best.config
    again = ks.Optimizer.load(tmp_path / "search.json")
    for _ in range(10):
        one, other = optimizer.ask(), again.ask()
        assert one.config == other.config
        result = both(one.config) if policy == "nsga2" else time_of(one.config)
        optimizer.tell(one, result)
        again.tell(other, result)
    result = optimizer.minimize(lambda c: both(c) if policy == "nsga2" else time_of(c), trials=1)
    assert pickle.loads(pickle.dumps(result)).best.config == result.best.config


def test_what_cannot_be_saved_is_said(space, tmp_path):
    with pytest.raises(TypeError, match="object of Python"):
        ks.Optimizer(space, Shuffled).save(tmp_path / "a")
    with pytest.raises(ks.ConfigError, match="function cannot be saved"):
        ks.Optimizer(ks.Space({"a": [1, 2]}, [lambda a: a > 1])).save(tmp_path / "a")
    (tmp_path / "other").write_text("{}")
    with pytest.raises(ks.ConfigError, match="no saved search"):
        ks.Optimizer.load(tmp_path / "other")
    assert [p.name for p in tmp_path.iterdir()] == ["other"]


def test_misuse_gets_a_sentence(space):
    for values, words in (({"lr": (0.0, 1.0)}, "`lr` are a tuple of two floats"), ({"tile": 4}, "`tile` are not a list: 4"), ({"a": [1, "a"]}, "texts and numbers")):
        with pytest.raises(TypeError, match=words):
            ks.Space(values)
    assert ks.Space({"lr": [0.0, 1.0]}).count == 2
    with pytest.raises(ks.ConfigError, match="no tunables"):
        ks.Space({})
    with pytest.raises(TypeError, match="trials is a whole number or None, not 1.5"):
        ks.minimize(time_of, space, trials=1.5)
    with pytest.raises(TypeError, match="seed is a whole number, not None"):
        ks.Optimizer(space, seed=None)
    with pytest.raises(ValueError, match="no failure of that name: 'compil'.*compile"):
        ks.Failed("compil")
    with pytest.raises(TypeError, match="trails"):
        ks.minimize(time_of, space, trails=3)
    for result in (None, "fast", [1.0]):
        with pytest.raises(TypeError, match="is a number, lower is better"):
            ks.minimize(lambda c: result, space, 3)
