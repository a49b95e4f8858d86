# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kernelsearch.triton: its loop with a scripted device, and Triton itself where it is installed (no GPU is needed)."""

import json
import os
import random
import time
import types

import pytest

import kernelsearch.triton as kt
from kernelsearch import _library


class Compiler:
    """Compiles at once; `broken` never."""

    def __init__(self, broken=()):
        self.broken, self.waiting, self.most = set(broken), [], 0

    def start(self, index):
        self.waiting.append(index)
        self.most = max(self.most, len(self.waiting))

    def pending(self):
        return len(self.waiting)

    def ready(self, wait):
        done, self.waiting = self.waiting[:1], self.waiting[1:]
        return [(i, "CompilationError: no" if i in self.broken else "", 0.5) for i in done]


class Clock:
    """A device whose speed drifts, with noise; configuration i takes ms[i]."""

    def __init__(self, ms, seed=0, noise=0.01, drift=0.001, cannot=()):
        self.ms, self.noise, self.drift, self.cannot = ms, noise, drift, set(cannot)
        self.random, self.speed = random.Random(seed), 1.0
        self.launches = [0] * len(ms)

    def warm(self, index):
        if index in self.cannot:
            raise kt.Failed("OutOfResources: shared memory")

    def batch(self, indices, rounds):
        samples = {index: [] for index in indices}
        for order in kt._in_turns(indices, rounds):
            for index in order:
                self.speed *= 1 + self.drift * self.random.random()
                self.launches[index] += 1
                samples[index].append(self.ms[index] * self.speed * self.random.gauss(1, self.noise))
        return samples


def made_up(n=90):
    configs = [{"BM": 16 << (i % 5), "BN": 16 << (i // 5 % 6), "num_warps": (4, 8, 2)[i // 30]} for i in range(n)]
    ms = [1 + abs(i % 5 - 3) * 0.3 + abs(i // 5 % 6 - 2) * 0.2 + (i // 30) * 0.15 for i in range(n)]
    return configs, ms


def test_finds_the_best_though_the_device_drifts():
    configs, ms = made_up()
    winners = set()
    for seed in range(10):
        clock = Clock(ms, seed)
        outcome = kt.search(configs, Compiler(), clock, policy="in order")
        winners.add(outcome.best)
        assert len(outcome.trials) == 90
    assert winners == {min(range(90), key=ms.__getitem__)}


def test_a_device_that_slows_down_does_not_favour_the_first():
    configs, _ = made_up(30)
    ms = [1.1] * 29 + [1.0]
    assert kt.search(configs, Compiler(), Clock(ms, drift=0.01), policy="in order").best == 29


def test_what_is_clearly_slower_is_given_up():
    configs, ms = made_up()
    ms = [m if i == 0 else 3 * m for i, m in enumerate(ms)]
    ms[0] = 1
    clock = Clock(ms)
    outcome = kt.search(configs, Compiler(), clock, policy="in order")
    assert outcome.best == 0
    assert max(trial.pairs for trial in outcome.trials) == 3
    assert all(launches == 3 for launches in clock.launches[1:])


def test_equals_have_one_winner():
    configs, _ = made_up(8)
    for seed in range(10):
        assert kt.search(configs, Compiler(), Clock([1.0] * 8, seed, noise=0.0005), policy="in order").best == 0


def most_frequent(ms, runs=10, **options):
    """The winner of most runs and how many had it."""
    configs, _ = made_up(len(ms))
    winners = [kt.search(configs, Compiler(), Clock(ms, seed, drift=1e-5, **options), policy="in order").best for seed in range(runs)]
    return max((winners.count(index), index) for index in winners)


@pytest.mark.parametrize("ties", [{0: 1.002, 20: 1}, {3: 1.004, 7: 1.002, 20: 1}, {0: 1, 4: 1.007, 8: 1.006, 20: 1.0055},
                                  {2: 1.0045, 5: 1.0015, 9: 1}, {i: 1.001 + 0.0002 * i for i in range(20)}])  # fmt: skip
def test_the_same_winner_where_configurations_cannot_be_told_apart(ties):
    """Ties of 0.2 to 0.7 % under a scatter of 1 %: the first that is equal to the best, in nine of ten runs."""
    ms = [0.05 * ties.get(i, 1.02 + 0.01 * i) for i in range(30)]
    same, winner = most_frequent(ms)
    assert same >= 9
    assert winner == min(ties) and ms[winner] <= 1.007 * min(ms)


def test_what_is_told_apart_is_not_called_equal():
    same, winner = most_frequent([0.05 * (1 if i == 9 else 1.011) for i in range(10)])
    assert (same, winner) == (10, 9)


def test_comparing_the_last_few_has_a_limit():
    """1200 launches, or 200 where each takes long, and the rest of some rounds."""
    for ms, most in ((0.05, 1200 + 250), (20.0, 200 + 250)):
        trials = {i: kt.Measured(i, ms, ms, ms) for i in range(60)}
        clock = Clock([ms] * 60)
        kt._final(5, [i for i in trials if i != 5], trials, clock)
        assert 200 <= sum(clock.launches) < most


def test_orders_of_rounds():
    orders = list(kt._in_turns([0, 1, 2, 3], 10))
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert all(after == before[::-1] for before, after in zip(orders[::2], orders[1::2]))
    assert len({tuple(order) for order in orders}) > 4
    assert list(kt._in_turns([8, 3], 3)) == [[8, 3], [3, 8], [8, 3]]


def test_failures_cost_one_configuration_each():
    configs, ms = made_up(12)
    best = min(range(12), key=ms.__getitem__)
    outcome = kt.search(configs, Compiler(broken=[best]), Clock(ms, cannot=[0, 1]), policy="in order")
    failed = {t.index: t.reason for t in outcome.trials if t.ms is None}
    assert failed == {best: "CompilationError: no", 0: "OutOfResources: shared memory", 1: "OutOfResources: shared memory"}
    assert outcome.best not in failed
    with pytest.raises(ValueError, match="none of 12 configurations runs: CompilationError: no"):
        kt.search(configs, Compiler(broken=range(12)), Clock(ms), policy="in order")


def test_compiles_ahead_and_stays_in_the_budget():
    configs, ms = made_up()
    compiler = Compiler()
    outcome = kt.search(configs, compiler, Clock(ms), policy="in order", budget=20, ahead=6)
    assert len(outcome.trials) == 20 and compiler.most == 6
    with pytest.raises(ValueError, match="budget 0"):
        kt.search(configs, Compiler(), Clock(ms), budget=0)


try:
    from kernelsearch import _kernelsearch  # noqa: F401

    has_extension = True
except ImportError:  # a copy of the sources for another Python than the wheel's: the library of C alone
    has_extension = False
needs_extension = pytest.mark.skipif(not has_extension, reason="the package's extension is not there")


def searchers():
    made = [_library.PackageSearch] if has_extension else []
    if _library.find_library() is not None:
        made.append(_library.LibrarySearch)
    return made


@pytest.mark.parametrize("make", searchers())
@pytest.mark.parametrize("policy", ["random", "bayesian", "genetic"])
def test_a_policy_is_asked(make, policy):
    configs, ms = made_up(40)
    configs[3]["only_here"] = None
    asked = make(configs, policy, 1, 40)
    seen = []
    while (given := asked.ask(4)) is not None:
        assert given
        for index in reversed(given):
            seen.append(index)
            asked.tell(index, None if index == 7 else ms[index], "failed" if index == 7 else "")
    assert sorted(seen) == list(range(40))
    assert seen != list(range(40))


@needs_extension
def test_the_same_by_the_extension_and_by_the_library_of_c():
    if _library.find_library() is None:
        pytest.skip("there is no libkernelsearch.so; KERNELSEARCH_LIBRARY names it")
    configs, ms = made_up(40)
    sequences = []
    for make in (_library.PackageSearch, _library.LibrarySearch):
        asked, seen = make(configs, "random", 3, None), []
        while (given := asked.ask(3)) is not None:
            seen += given
            for index in given:
                asked.tell(index, ms[index])
        sequences.append(seen)
    assert sorted(sequences[0]) == sorted(sequences[1]) == list(range(40))


@pytest.mark.skipif(not searchers(), reason="there is neither the extension nor the library of C")
def test_half_of_the_space_is_enough_for_a_policy():
    configs, ms = made_up()
    outcome = kt.search(configs, Compiler(), Clock(ms), policy="bayesian", budget=45, seed=1, ahead=4)
    assert len(outcome.trials) == 45
    assert ms[outcome.best] <= 1.01 * min(ms)
    assert {trial.index for trial in outcome.trials} != set(range(45))


def test_compiling_processes():
    there = os.getpid()

    def compile(index):
        assert os.getpid() != there
        if index == 1:
            raise RuntimeError("no")
        if index == 2:
            os.kill(os.getpid(), 9)
        time.sleep(0.01)

    compiler = kt.ProcessCompiler(compile, jobs=3)
    try:
        for index in range(8):
            compiler.start(index)
        done = {}
        while compiler.pending():
            for index, error, seconds in compiler.ready(wait=True):
                done[index] = error
                assert seconds >= 0
    finally:
        compiler.close()
    assert done.pop(1) == "RuntimeError: no"
    assert done.pop(2) == "the compiling process was ended by signal 9"
    assert done == {i: "" for i in (0, 3, 4, 5, 6, 7)}


def test_files_of_others(tmp_path):
    sizes = {16: {"BLOCK_SIZE_M": 16, "num_warps": 4, "num_stages": 3}, 1: {"BLOCK_SIZE_M": 32, "num_warps": 8, "num_stages": 2}}
    kt.write_vllm_json(tmp_path / "E=8,N=1024.json", sizes, "3.6.0")
    text = json.loads((tmp_path / "E=8,N=1024.json").read_text())
    assert list(text) == ["triton_version", "1", "16"]
    assert kt.read_vllm_json(tmp_path / "E=8,N=1024.json") == sizes


@needs_extension
def test_a_recording_is_read_by_the_library(tmp_path):
    import kernelsearch as ks

    configs, ms = made_up(12)
    outcome = kt.search(configs, Compiler(broken=[4]), Clock(ms), policy="in order")
    kt.write_recording(tmp_path / "made.t4.json", configs, outcome, "matmul", "a clock")
    recording = ks.read_recording(tmp_path / "made.t4.json")
    assert recording.seconds.shape == (12,)
    assert sum(value == value for value in recording.seconds) == 11


# ------------------------------------------------------------------------------------------------- with Triton

triton = None
try:
    import triton
    import triton.language as tl
except ImportError:
    pass
needs_triton = pytest.mark.skipif(triton is None, reason="triton is not installed")


class Tensor:
    """What Triton asks of an argument."""

    def __init__(self, dtype="fp32"):
        self.dtype = dtype
        self.log = []

    def data_ptr(self):
        return 4096

    def zero_(self):
        self.log.append("zero")

    def clone(self):
        return self

    def copy_(self, other):
        self.log.append("copy")


class StandIn(kt._Device):
    """A driver for an H100 that is not there."""

    def get_device_interface(self):
        return self

    def get_device_name(self):
        return "stand-in"


if triton is not None:

    @triton.jit
    def add_one(x, y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@pytest.fixture
def tuned(tmp_path, monkeypatch):
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KERNELSEARCH_TRITON_CACHE", str(tmp_path / "kept"))
    driver.set_active(StandIn(0, GPUTarget("cuda", 90, 32)))
    calls = []

    class Launcher(Clock):
        def __init__(self, tuner, args, kwargs, configs):
            order = [256, 64, 128, 512]
            super().__init__([1 + order.index(config.kwargs["BLOCK"]) for config in configs])
            self.tuner, self.configs = tuner, configs
            calls.append(self)

    def make(configs=None, **options):
        configs = configs or [triton.Config({"BLOCK": block}, num_warps=4) for block in (64, 128, 256, 512)]
        tuner = kt.autotune(configs, key=["n"], measurer=Launcher, jobs=2, **options)(add_one)
        launched = []
        real = tuner.fn.run
        tuner.launch = lambda n: tuner[(1,)](Tensor(), Tensor(), n)

        class Fn:
            fn = add_one

            def __getattr__(self, name):
                return getattr(add_one, name)

            def run(self, *args, **kwargs):
                if kwargs.get("warmup"):
                    return real(*args, **kwargs)
                launched.append(kwargs["BLOCK"])

        tuner.fn = Fn()
        tuner.launched, tuner.calls = launched, calls
        return tuner

    return make


@needs_triton
def test_triton_kernels_are_compiled_in_processes_and_the_best_is_launched(tuned, tmp_path):
    tuner = tuned(policy="in order")
    tuner.launch(1000)
    assert tuner.launched == [256] and tuner.best_config.kwargs == {"BLOCK": 256}
    assert len(list((tmp_path / "cache").rglob("*.cubin"))) == 4
    assert all(trial.reason == "" for trial in tuner.outcome.trials)
    tuner.launch(1000)
    assert len(tuner.calls) == 1  # known by its key
    tuner.launch(2000)
    assert len(tuner.calls) == 2


@needs_triton
def test_kept_by_content(tuned, tmp_path):
    tuned(policy="in order").launch(1000)
    again = tuned(policy="in order")
    again.launch(1000)
    assert again.launched == [256] and len(again.calls) == 1
    other = tuned([triton.Config({"BLOCK": block}, num_warps=4) for block in (64, 128)], policy="in order")
    other.launch(1000)
    assert other.launched == [64] and len(other.calls) == 2
    key, timings, winner = kt.read_autotune_json(next((tmp_path / "kept").glob("add_one-*.autotune.json")))
    assert key[0] == 1000 and len(timings) in (2, 4) and winner["kwargs"]["BLOCK"] in (64, 256)
    without = tuned(policy="in order", keep=False)
    without.launch(1000)
    assert len(without.calls) == 3


DAMAGED = {
    "empty": "", "cut": '{"key": [1], "configs_timings": [[{"kwargs"', "another": '{"a": 1}', "a list": "[1, 2]", "a text": '"x"', "null": "null",
    "no times": '{"key": [1], "configs_timings": []}', "bytes": "\xff\xfe",
    "infinite": '{"key": [1], "configs_timings": [[{"kwargs": {"BLOCK": 64}}, [Infinity, Infinity, Infinity]]]}',
    "NaN": '{"key": [1], "configs_timings": [[{"kwargs": {"BLOCK": 64}}, [NaN, NaN, NaN]]]}',
    "times as texts": '{"key": [1], "configs_timings": [[{"kwargs": {"BLOCK": 64}}, ["fast"]]]}',
    "a winner that is none": '{"key": [1], "configs_timings": [[{"kwargs": {"BLOCK": 64}}, [1.0, 1.0, 1.0]]], "kernelsearch_winner": 7}',
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_of_results_is_a_miss_with_a_warning(what, tmp_path):
    # Before, every launch of the kernel failed with what the reader stumbled over.
    path = tmp_path / "add_one.autotune.json"
    path.write_bytes(DAMAGED[what].encode("latin-1"))
    with pytest.raises(ValueError, match="remove it"):
        kt.read_autotune_json(path)
    with pytest.warns(UserWarning, match="not used"):
        assert kt._kept_index(path, []) is None


def test_a_file_of_results_with_one_that_failed_or_of_other_configurations(tmp_path):
    path = tmp_path / "kept.autotune.json"
    entry = {"kwargs": {"BLOCK": 64}, "num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
    other = {**entry, "kwargs": {"BLOCK": 128}}
    text = {"key": [1], "configs_timings": [[other, [float("inf")] * 3], [entry, [2.0, 1.9, 2.1]]]}
    path.write_text(json.dumps(text))
    assert kt.read_autotune_json(path)[2] == entry  # the least time of those that ran
    config = types.SimpleNamespace(**entry)
    assert kt._kept_index(path, [types.SimpleNamespace(**other), config]) == 1
    with pytest.warns(UserWarning, match="other configurations"):
        assert kt._kept_index(path, [types.SimpleNamespace(**other)]) is None


@needs_triton
def test_what_triton_kept_and_was_damaged_is_measured_anew(tuned, tmp_path):
    tuned(policy="in order", keep=False, cache_results=True).launch(1000)
    (written,) = (tmp_path / "cache").rglob("add_one.autotune.json")
    for text in ("{", '{"configs_timings": []}', written.read_text().replace('"BLOCK": ', '"BLOCK": 1')):
        written.write_text(text)
        again = tuned(policy="in order", keep=False, cache_results=True)
        with pytest.warns(UserWarning, match="not used"):
            again.launch(1000)
        assert again.launched == [256]


@needs_triton
def test_triton_reads_what_we_write_and_we_what_it_reads(tuned, tmp_path):
    tuned(policy="in order", keep=False, cache_results=True).launch(1000)
    again = tuned(policy="in order", keep=False, cache_results=True)
    again.launch(1000)
    assert again.launched == [256] and len(again.calls) == 1
    written = list((tmp_path / "cache").rglob("add_one.autotune.json"))
    assert len(written) == 1
    _, timings, winner = kt.read_autotune_json(written[0])
    assert winner["kwargs"] == {"BLOCK": 256} and len(timings) == 4


@needs_triton
def test_what_triton_kept_is_not_written_for_another_key(tuned, tmp_path):
    tuned(policy="in order", keep=False, cache_results=True).launch(2000)
    tuner = tuned(policy="in order", cache_results=True, record=tmp_path / "made.t4.json")
    tuner.launch(1000)
    (tmp_path / "made.t4.json").unlink()
    kept = set((tmp_path / "kept").glob("*"))
    tuner.launch(2000)  # from Triton's file: nothing was measured
    assert tuner.outcome is None and tuner.launched[-1] == 256
    assert set((tmp_path / "kept").glob("*")) == kept and not (tmp_path / "made.t4.json").exists()


@needs_triton
def test_says_what_it_chose_where_triton_would(tuned, monkeypatch, capsys):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    tuned(policy="in order").launch(1000)
    assert "best config selected: BLOCK: 256, num_warps: 4" in capsys.readouterr().out


@needs_triton
def test_arguments_are_taken_or_refused_by_name(tuned, tmp_path):
    for name, value in (("warmup", 25), ("rep", 100), ("use_cuda_graph", True), ("do_bench", print)):
        with pytest.raises(ValueError, match=name):
            tuned(**{name: value})
    tuner = tuned({"BLOCK": [64, 256], "num_warps": [4, 8]}, policy="in order", record=tmp_path / "made.t4.json")
    assert len(tuner.configs) == 4 and tuner.configs[1].num_warps == 8
    tuner.launch(1000)
    assert len(json.loads((tmp_path / "made.t4.json").read_text())["results"]) == 4
    pruned = tuned(policy="in order", prune_configs_by={"early_config_prune": lambda configs, named, **kw: configs[:2]})
    pruned.launch(1000)
    assert len(pruned.outcome.trials) == 2


@needs_triton
def test_hooks_are_called_and_not_timed(tuned):
    log = []

    class Event:
        def __init__(self, enable_timing):
            pass

        def record(self):
            log.append("event")

        def elapsed_time(self, other):
            return 1.0

    tuner = tuned(reset_to_zero=["y"], restore_value=["x"])
    x, y = Tensor(), Tensor()
    x.log = y.log = log
    timer = kt._Timer.__new__(kt._Timer)
    tuner.nargs = {"x": x, "y": y, "n": 8}
    hooked = triton.Config({"BLOCK": 64}, pre_hook=lambda named: log.append(named["BLOCK"]))
    timer._tuner, timer._args, timer._kwargs, timer._configs = tuner, (x, y, 8), {"grid": (1,), "warmup": False}, [hooked]
    timer._launch(hooked, Event(True), Event(True))
    assert log == [64, "zero", "event", "event", "copy"]
