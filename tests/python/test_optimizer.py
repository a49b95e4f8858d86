# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import asyncio
import math
import threading
import time

import numpy as np
import pytest
from conftest import Shuffled, time_of

import kernelsearch as ks


def test_ask_and_tell_in_any_order(space):
    optimizer = ks.Optimizer(space, "genetic", seed=1)
    assert optimizer.best is None and len(optimizer) == 0
    first, second, third = optimizer.ask(3)
    assert [t.number for t in (first, second, third)] == [0, 1, 2] and optimizer.pending == [first, second, third]
    assert first.verdict == "pending" and first.value is None and not first.told and "pending" in repr(first)
    assert optimizer.tell(third, 3.0) is third
    optimizer.tell(0, np.float32(2.0))  # by number, from elsewhere
    optimizer.tell(second, ks.Failed("compile", "no such register"))
    assert optimizer.trials == [third, first, second] and optimizer.pending == []
    assert optimizer.best is first and first.ok and first.value == 2.0 and first["tile"] == first.config["tile"]
    assert (second.verdict, second.reason, second.value, second.ok) == ("build_failed", "no such register", None, False)
    with pytest.raises(ks.ConfigError, match="told twice"):
        optimizer.tell(first, 1.0)
    with pytest.raises(ks.ConfigError, match="no trial of that number"):
        optimizer.tell(99, 1.0)
    with pytest.raises(ks.ConfigError, match="another optimizer"):
        ks.Optimizer(space, "random").tell(optimizer.ask(), 1.0)
    with pytest.raises(TypeError, match="ask.. returned"):
        optimizer.tell(first.config, 1.0)


def test_what_comes_from_elsewhere_is_learned_and_not_proposed(space):
    optimizer = ks.Optimizer(space, "random", seed=2)
    known = [c for c in space if c["tile"] > 2]
    for config in known:
        optimizer.add(config, time_of(config))
    assert optimizer.trials[0].number is None and optimizer.best.value == min(map(time_of, known))
    seen = []
    while (trial := optimizer.ask()) is not None:
        assert trial.config["tile"] <= 2
        seen.append(trial)
        optimizer.tell(trial, 1.0)
    assert len(seen) == space.count - len(known) and optimizer.ended
    with pytest.raises(ks.ConfigError, match="constraint forbids"):
        optimizer.add({"block": 64, "tile": 16, "vector": True}, 1.0)


def test_revising_changes_the_best(space):
    optimizer = ks.Optimizer(space, "bayesian", seed=2)
    one, two, three = optimizer.ask(3)
    for trial, value in ((one, 3.0), (two, 1.0), (three, 2.0)):
        optimizer.tell(trial, value)
    assert optimizer.best is two
    optimizer.revise(two, ks.Failed("wrong", "after all", 0.5))
    assert optimizer.best is three and len(optimizer) == 3 and two.verdict == "wrong_result"
    optimizer.revise(one, 0.5)
    assert optimizer.best is one
    with pytest.raises(ks.ConfigError, match="only what was told"):
        optimizer.revise(optimizer.ask(), 1.0)


def test_values_that_are_none(space):
    optimizer = ks.Optimizer(space, "random")
    for value, verdict in ((math.nan, "wrong_result"), (math.inf, "wrong_result"), (7, "ok"), (np.int64(3), "ok"), (-4.5, "ok")):
        assert optimizer.tell(optimizer.ask(), value).verdict == verdict
    assert optimizer.best.value == -4.5
    trial = optimizer.ask()
    for wrong in ("fast", None, True, [1.0]):
        with pytest.raises(TypeError, match="what a trial came to"):
            optimizer.tell(trial, wrong)
    with pytest.raises(ks.ConfigError, match="-inf"):
        optimizer.tell(trial, -math.inf)
    with pytest.raises(ks.ConfigError, match="no failure of that name.*timed_out"):
        optimizer.tell(trial, ks.Failed("tired"))
    assert optimizer.tell(trial, 1.0, {"registers": 40}).features == {"registers": 40.0}  # still outstanding


@pytest.mark.parametrize("short, name", [("compile", "build_failed"), ("launch", "launch_failed"), ("crash", "crashed"),
                                         ("timeout", "timed_out"), ("wrong", "wrong_result"), ("rejected", "rejected")])
def test_failures_have_names(space, short, name):
    optimizer = ks.Optimizer(space, "random")
    assert optimizer.tell(optimizer.ask(), ks.Failed(short, "why")).verdict == name
    assert str(ks.Failed(short, "why")) == f"{name}: why"


def test_policies_and_options_by_name(space):
    assert "exhaustive" in ks.policies() and ks.policies()["random"].startswith("uniform draws")
    assert ks.policy_options("genetic")["population"] == 20 and ks.policy_options("genetic")["default_first"] is None
    assert ks.policy_options("genetic(population=3)")["population"] == 3
    assert ks.policy_options("helion_lfbo(block_sizes=[a, 'b c'])")["block_sizes"] == ["a", "b c"]
    with pytest.raises(ks.ConfigError, match="did you mean bayesian"):
        ks.Optimizer(space, "bayesan")
    with pytest.raises(ks.ConfigError, match="did you mean population"):
        ks.Optimizer(space, "genetic", poplation=3)
    with pytest.raises(ks.ConfigError, match="population of genetic is out of bounds: -1; give a number from 2 to 1000000"):
        ks.Optimizer(space, "genetic", population=-1)
    with pytest.raises(ks.ConfigError, match="population of genetic is of another type: much; give a whole number"):
        ks.Optimizer(space, "genetic", population="much")
    with pytest.raises(TypeError, match="option population of genetic"):
        ks.Optimizer(space, "genetic", population=object())
    with pytest.raises(ks.ConfigError, match="did you mean population"):
        ks.Optimizer(space, "genetic", poplation=None)
    with pytest.raises(ks.ConfigError, match=r"not closed: genetic\(population=3, character 21"):
        ks.Optimizer(space, "genetic(population=3")
    with pytest.raises(ks.ConfigError, match="there are hamming, adjacent"):
        ks.Optimizer(space, "tabu", neighbourhood="none")
    with pytest.raises(ks.ConfigError, match="exhaustive has no options"):
        ks.Optimizer(space, "exhaustive", population=3)
    with pytest.raises(ks.ConfigError, match="no policy of that name"):
        ks.policy_options("none")


@pytest.mark.parametrize("policy", sorted(ks.policies()))
def test_every_policy_finishes_a_small_space(policy):
    space = ks.Space({"a": range(6), "b": [0, 1, 2]}, ["a + b < 7"])
    result = ks.minimize(lambda c: ks.Failed("compile") if c["a"] == 3 else c["a"] + c["b"] - 5, space, policy=policy, seed=1)
    assert result.reason == "the space is exhausted" and len({t.key for t in result.trials}) == space.count == 17
    assert result.best.config == {"a": 0, "b": 0} and result.best.value == -5


def test_limits_of_minimize(space):
    optimizer = ks.Optimizer(space, "random", seed=1)
    assert optimizer.minimize(time_of, 10).reason == "the trial budget is spent" and len(optimizer) == 10
    assert optimizer.minimize(time_of, 5, repeats=3).reason == "the trial budget is spent" and len(optimizer) == 15
    assert optimizer.minimize(time_of, seconds=0).reason == "the time is spent" and len(optimizer) == 15
    values = [time_of(config) for config in space]
    at = next(i for i in range(20, len(space)) if values[i] < min(values[:i]))  # at the target itself, not only below it
    result = ks.minimize(time_of, space, policy="exhaustive", target=values[at])
    assert result.reason == "the target is reached" and len(result.trials) == at + 1
    told = [ks.minimize(time_of, space, 40, policy="lfbo", seed=1), ks.Optimizer(space, "lfbo", 1, budget=40).minimize(time_of, 40)]
    assert [t.key for t in told[0].trials] == [t.key for t in told[1].trials]  # the policy knows the budget
    assert [t.key for t in told[0].trials] != [t.key for t in ks.Optimizer(space, "lfbo", 1).minimize(time_of, 40).trials]
    result = ks.minimize(lambda c: 1.0, space, policy="random", patience=7)
    assert result.reason == "no gain in 7 trials" and len(result.trials) == 8
    result = ks.minimize(time_of, space, callback=lambda trial: trial.number == 4)
    assert result.reason == "the callback ended it" and len(result.trials) == 5
    with pytest.raises(ValueError, match="limit below 0"):
        ks.minimize(time_of, space, -1)


def test_repeats_tell_the_median_and_stop_at_a_failure(space):
    values, calls = iter([5.0, 1.0, 3.0, 2.0, 9.0]), []
    result = ks.minimize(lambda c: next(values), space, 1, repeats=3)
    assert result.best.value == 3.0

    def fails(config):
        calls.append(config)
        raise ks.Failed("timeout")

    assert ks.minimize(fails, space, 1, repeats=3).trials[0].verdict == "timed_out" and len(calls) == 1
    assert ks.minimize(lambda c: (2.0, {"spills": 3}), space, 1).trials[0].features == {"spills": 3.0}


def test_exceptions_are_raised_or_failures(space):
    def broken(config):
        if config["vector"]:
            raise ZeroDivisionError("by zero")
        return 1.0

    optimizer = ks.Optimizer(space, "random", seed=1)
    with pytest.raises(ZeroDivisionError):
        optimizer.minimize(broken, 20)
    assert len(optimizer.pending) == 1
    result = optimizer.minimize(broken, 20, on_error="fail")
    failed = [t for t in result.trials if not t.ok]
    assert failed and all(t.verdict == "crashed" and t.reason == "ZeroDivisionError: by zero" for t in failed)
    with pytest.raises(ValueError, match="'raise' or 'fail'"):
        optimizer.minimize(broken, 1, on_error="ignore")


def test_threads_measure_at_a_time(space):
    running, most, lock = set(), [0], threading.Lock()

    def slow(config):
        with lock:
            running.add(threading.get_ident())
            most[0] = max(most[0], len(running))
        time.sleep(0.01)
        with lock:
            running.discard(threading.get_ident())
        return time_of(config)

    optimizer, pending = ks.Optimizer(space, "genetic"), []
    result = optimizer.minimize(slow, 24, workers=4, callback=lambda trial: pending.append(len(optimizer.pending)))
    assert max(pending) < 4  # beside the one just told
    assert len(result.trials) == 24 and 2 <= most[0] <= 4 and len({t.key for t in result.trials}) == 24
    with pytest.raises(KeyError, match="mine"):
        ks.minimize(lambda c: {}["mine"], space, 24, workers=4)


def test_several_threads_ask_and_tell_one_optimizer(space):
    optimizer = ks.Optimizer(space, "lfbo", seed=1)
    faults = []

    def work():
        try:
            for _ in range(15):
                trial = optimizer.ask()
                optimizer.tell(trial, time_of(trial.config))
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and len(optimizer) == 60 and len({t.key for t in optimizer.trials}) == 60
    assert sorted(t.number for t in optimizer.trials) == list(range(60))


def test_the_policy_thinks_without_the_lock_of_python(space):
    """While one thread is inside ask, another one of Python goes on: it counts between the moments of one ask."""
    optimizer = ks.Optimizer({f"x{i}": range(50) for i in range(12)}, "bayesian", seed=1)
    for trial in optimizer.ask(150):
        optimizer.tell(trial, sum(trial.config.values()) + 1.0)
    stop, counts = threading.Event(), []

    def count():
        while not stop.is_set():
            counts.append(time.perf_counter())
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    for _ in range(3):
        optimizer.tell(optimizer.ask(), 1.0)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(begin < moment < end for moment in counts) > 10


def test_asyncio(space):
    at_once, most = [0], [0]

    async def measure(config):
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        await asyncio.sleep(0.002)
        at_once[0] -= 1
        if config["tile"] == 3:
            raise ks.Failed("crash", "three")
        return time_of(config)

    optimizer = ks.Optimizer(space, "genetic", seed=1)
    result = asyncio.run(optimizer.minimize_async(measure, 30, parallel=4))
    assert len(result.trials) == 30 and most[0] == 4 and not optimizer.pending
    plain = asyncio.run(ks.Optimizer(space, "random", seed=1).minimize_async(time_of, 12, parallel=2, patience=5))
    assert 5 < len(plain.trials) <= 12
    alone = asyncio.run(ks.Optimizer(space, "genetic", seed=4).minimize_async(time_of, 25))
    assert [t.key for t in alone.trials] == [t.key for t in ks.Optimizer(space, "genetic", seed=4).minimize(time_of, 25).trials]

    async def broken(config):
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        asyncio.run(optimizer.minimize_async(broken, 5, parallel=3))
    failed = asyncio.run(ks.Optimizer(space, "random").minimize_async(broken, 5, parallel=3, on_error="fail"))
    assert [t.reason for t in failed.trials] == ["OSError: gone"] * 5 and failed.best is None

    ended = []

    async def endless(config):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(config)
            raise

    async def cancelled():
        task = asyncio.ensure_future(optimizer.minimize_async(endless, parallel=2))
        while len(optimizer.pending) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        assert task.cancelled() and len(ended) == 2

    optimizer = ks.Optimizer(space, "random")
    asyncio.run(cancelled())


def test_policies_of_python(space):
    told = []
    result = ks.minimize(time_of, space, 30, policy=Shuffled, seed=3, options={"told": told})
    assert [t.config for t in result.trials] == [config for _, config, _, _ in told] and [n for n, *_ in told] == list(range(30))
    assert [value for _, _, value, _ in told] == [time_of(t.config) for t in result.trials]
    same = ks.Optimizer(space, Shuffled(space, 3)).minimize(time_of, 30)
    assert [t.key for t in same.trials] == [t.key for t in result.trials]
    everything = ks.minimize(time_of, space, policy=Shuffled)
    assert everything.reason == "the space is exhausted" and len(everything.trials) == space.count

    class Wrong(Shuffled):
        def ask(self, n):
            return [{"block": 3, "tile": 1, "vector": False}]

    class Raises(Shuffled):
        def ask(self, n):
            raise LookupError("nothing")

    class Greedy(Shuffled):
        def ask(self, n):
            return super().ask(n + 1)

    class Silent:
        def __init__(self, space, seed):
            pass

        def ask(self, n):
            return None

    with pytest.raises(ks.ConfigError, match="`block` has no value 3"):
        ks.minimize(time_of, space, 3, policy=Wrong)
    with pytest.raises(LookupError, match="nothing"):
        ks.minimize(time_of, space, 3, policy=Raises)
    with pytest.raises(ks.ConfigError, match="2 instead of 1"):
        ks.minimize(time_of, space, 3, policy=Greedy)
    with pytest.raises(TypeError, match="needs tell"):
        ks.minimize(time_of, space, 3, policy=Silent)
    with pytest.raises(TypeError, match="a policy is a name"):
        ks.Optimizer(space, 7)


def test_a_policy_of_ours_inside_one_of_python(space):
    class Wrapped:
        def __init__(self, space, seed):
            self.inner = ks.Optimizer(space, "genetic", seed)
            self.open = {}

        def ask(self, n):
            trials = self.inner.ask(n)
            for trial in trials:
                self.open[trial.key] = trial
            return [trial.config for trial in trials]

        def tell(self, trials):
            for trial in trials:
                self.inner.tell(self.open.pop(trial.key), trial.value)

    wrapped = ks.minimize(time_of, space, 40, policy=Wrapped, seed=5)
    assert [t.key for t in wrapped.trials] == [t.key for t in ks.minimize(time_of, space, 40, policy="genetic", seed=5).trials]


def test_results_as_arrays_and_frames(space):
    pandas = pytest.importorskip("pandas")
    result = ks.minimize(lambda c: ks.Failed("launch", "odd") if c["tile"] % 2 else (time_of(c), {"regs": c["tile"]}), space, 30, policy="random")
    result.optimizer.add(space[0], 9.0)
    arrays, frame = result.to_numpy(), result.to_pandas()
    assert arrays["value"].shape == (31,) and arrays["positions"].shape == (31, 3)
    assert [np.isnan(v) for v in arrays["value"]] == [not t.ok for t in result.trials]
    right = [t.value for t in result.trials if t.ok]
    assert np.nanmin(arrays["best"]) == min(right) == arrays["best"][-1] and np.all(np.diff(arrays["best"][~np.isnan(arrays["best"])]) <= 0)
    assert list(frame.columns) == ["number", "block", "tile", "vector", "value", "best", "verdict", "reason", "regs"] and len(frame) == 31
    assert frame["number"].isna().sum() == 1 and set(frame["verdict"]) == {"ok", "launch_failed"}
    assert isinstance(frame, pandas.DataFrame) and frame.loc[frame["value"].idxmin(), "tile"] == result.best["tile"]
