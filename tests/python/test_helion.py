# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kernelsearch.helion: its spaces and its loop with stand-ins of Helion's fragments, which have the names and attributes of Helion's classes and
nothing else of them; and with Helion itself where it and torch are installed (no GPU is needed)."""

import json
import random
import subprocess
import sys
import types

import pytest

import kernelsearch as ks
import kernelsearch.helion as kh
import kernelsearch.triton as kt


class BooleanFragment:
    pass


class PowerOfTwoFragment:
    def __init__(self, low, high):
        self.low, self.high = low, high


class BlockSizeFragment(PowerOfTwoFragment):
    pass


class NumWarpsFragment(PowerOfTwoFragment):
    pass


class IntegerFragment:
    def __init__(self, low, high):
        self.low, self.high = low, high


class EnumFragment:
    def __init__(self, choices, search_choices=None):
        self.choices, self.search_choices = choices, search_choices


class PermutationFragment:
    def __init__(self, length):
        self.length = length


class NumThreadsFragment:
    def __init__(self, high):
        self.high = high


class ListOf:
    def __init__(self, inner, length):
        self.inner, self.length = inner, length


def value_of(fragment, draw):
    """A value that Helion's fragment of that name can have."""
    kind = type(fragment).__name__
    if kind == "BooleanFragment":
        return draw.choice([False, True])
    if kind == "IntegerFragment":
        return draw.randint(fragment.low, fragment.high)
    if isinstance(fragment, PowerOfTwoFragment):
        return 1 << draw.randrange(fragment.low.bit_length() - 1, fragment.high.bit_length())
    if kind == "EnumFragment":
        return draw.choice(fragment.search_choices or fragment.choices)
    if kind == "PermutationFragment":
        return draw.sample(range(fragment.length), fragment.length)
    if kind == "NumThreadsFragment":
        return draw.choice([0] + [1 << bit for bit in range(fragment.high.bit_length())])
    return [value_of(fragment.inner, draw) for _ in range(fragment.length)]


def fragment_of(draw, depth=0):
    kind = draw.randrange(9 if depth < 2 else 8)
    if kind == 0:
        return BooleanFragment()
    if kind in (1, 2, 3):
        low = draw.randrange(4)
        return (PowerOfTwoFragment, BlockSizeFragment, NumWarpsFragment)[kind - 1](1 << low, 1 << (low + draw.randrange(5)))
    if kind == 4:
        low = draw.randint(-3, 3)
        return IntegerFragment(low, low + draw.randrange(6))
    if kind == 5:
        choices = draw.choice([(None, False, True), ("", "first", "last"), ("flat",), (None, 32, 64), (1, 2, 3), (1, True)])
        return EnumFragment(choices, draw.choice([None, choices[-1:]]))
    if kind == 6:
        return PermutationFragment(draw.randint(1, 4))
    if kind == 7:
        return NumThreadsFragment(1 << draw.randrange(6))
    return ListOf(fragment_of(draw, depth + 1), draw.randrange(4))


@pytest.mark.parametrize("seed", range(60))
def test_flat_configurations_survive_the_way_to_the_space_and_back(seed):
    draw = random.Random(seed)
    fragments = [BooleanFragment(), *(fragment_of(draw) for _ in range(draw.randint(1, 6)))]
    names = [f"f{i}" for i in range(len(fragments))]
    space = kh.FlatSpace(fragments, names, [value_of(f, draw) for f in fragments])
    for _ in range(20):
        flat = [value_of(fragment, draw) for fragment in fragments]
        again = space.flat(space.config(flat))
        assert again == flat and repr(again) == repr(flat)  # True is not 1
    made = space.space()
    for config in made.sample(10, seed=seed):
        assert space.config(space.flat(config)) == config
    assert made.default == space.config(space.default)


def test_values_of_each_fragment():
    fragments = [BlockSizeFragment(16, 64), IntegerFragment(2, 4), EnumFragment((None, 1), None), NumThreadsFragment(4), PermutationFragment(2),
                 ListOf(EnumFragment(("a", "b")), 2), EnumFragment(("p", "q", "r"), ("q", "r"))]  # fmt: skip
    space = kh.FlatSpace(fragments, ["b", "i", "e", "t", "o", "x", "s"], [16, 2, None, 0, [0, 1], ["a", "b"], "p"]).space()
    values = {name: list(listed) for name, listed in space.values.items()}
    assert values == {"b": [16, 32, 64], "i": [2, 3, 4], "e": ["None", "1"], "t": [0, 1, 2, 4], "o": [(0, 1), (1, 0)], "x_0": ["a", "b"],
                      "x_1": ["a", "b"], "s": ["q", "r", "p"]}  # fmt: skip
    assert space.default["s"] == "p" and space.default["o"] == (0, 1)


def test_true_is_not_one():
    space = kh.FlatSpace([EnumFragment((1, True)), BooleanFragment()], ["e", "b"], [1, False])
    assert repr(space.flat(space.config([True, True]))) == "[True, True]" and repr(space.flat(space.config([1, True]))) == "[1, True]"


def test_tiles_are_bounded_but_hold_the_default():
    fragments = [BlockSizeFragment(16, 4096), BlockSizeFragment(16, 4096)]
    space = kh.FlatSpace(fragments, ["m", "n"], [16, 16]).space()
    assert {"m": 512, "n": 4096} in space and {"m": 1024, "n": 4096} not in space
    space = kh.FlatSpace(fragments, ["m", "n"], [4096, 4096]).space()
    assert {"m": 4096, "n": 4096} in space


class TensorMapFragment:
    pass


def test_errors_name_the_fragment_and_the_way_out():
    with pytest.raises(ValueError, match="maps_0 is a TensorMapFragment.*leave autotuner_fn out.*autotune_config_overrides"):
        kh.FlatSpace([BooleanFragment(), ListOf(TensorMapFragment(), 2)], ["b", "maps"], [False, [0, 0]])
    with pytest.raises(ValueError, match="n has 100000 values; give a range of at most 65536"):
        kh.FlatSpace([IntegerFragment(1, 100_000)], ["n"], [1])
    with pytest.raises(ValueError, match="every field of this kernel is fixed"):
        kh.FlatSpace([BooleanFragment()], ["b"], [False], fixed={0})


def test_what_is_overridden_keeps_its_default():
    space = kh.FlatSpace([BooleanFragment(), IntegerFragment(1, 3)], ["b", "i"], [True, 2], fixed={0})
    assert list(space.space().values) == ["i"]
    assert space.flat({"i": 3}) == [True, 3]


def test_names_come_from_the_layout():
    assert kh.names_of([("block_sizes", 2, True), ("num_warps", 1, False), ("a.b", 1, True)], 4) == ["block_sizes_0", "block_sizes_1", "num_warps", "a_b_0"]
    assert kh.names_of([("a", 2, False)], 2) == ["field_0", "field_1"]
    assert kh.names_of([("a", 1, False)], 2) == ["field_0", "field_1"]


# ------------------------------------------------------------------------------------------------------------- the loop


class Compiler:
    """Compiles at once; `broken` says which configurations never."""

    def __init__(self, proposals, broken=lambda config: False):
        self.proposals, self.broken, self.waiting = proposals, broken, []

    def start(self, index):
        self.waiting.append(index)

    def pending(self):
        return len(self.waiting)

    def ready(self, wait):
        done, self.waiting = self.waiting[:1], self.waiting[1:]
        return [(i, "CompilationError: no" if self.broken(self.proposals.configs[i]) else "", 0.1) for i in done]


class Clock:
    """A scripted device."""

    def __init__(self, proposals, cost, seed=0, noise=0.003):
        self.proposals, self.cost, self.noise, self.random = proposals, cost, noise, random.Random(seed)

    def warm(self, index):
        pass

    def batch(self, indices, rounds):
        return {i: [self.cost(self.proposals.configs[i]) * self.random.gauss(1, self.noise) for _ in range(rounds)] for i in indices}


FRAGMENTS = [BlockSizeFragment(16, 256), BlockSizeFragment(16, 256), NumWarpsFragment(1, 16), EnumFragment((None, False, True)), BooleanFragment()]
NAMES = ["m", "n", "warps", "flatten", "tma"]
DEFAULT = [16, 16, 4, None, False]


def cost(config):
    m, n, warps, flatten, tma = config
    return 1 + abs(m.bit_length() - 8) * 0.3 + abs(n.bit_length() - 8) * 0.2 + abs(warps.bit_length() - 4) * 0.1 + (flatten is True) * 0.3 + (not tma) * 0.1


def as_it_is(flat):
    return tuple(flat), list(flat), tuple(flat)


def tuned(resolve=as_it_is, cost=cost, policy="bayesian", seed=0, trials=60, broken=lambda config: False, first=(), earlier=(), **more):
    space = kh.FlatSpace(FRAGMENTS, NAMES, DEFAULT)
    draw = random.Random(seed)
    first = [DEFAULT, *first] if first else [DEFAULT, *([value_of(f, draw) for f in FRAGMENTS] for _ in range(8))]
    proposals = kh.Proposals(space, resolve, first, policy, seed, trials, earlier)
    outcome = kt._search(proposals, Compiler(proposals, broken), Clock(proposals, cost, seed), trials, 4, order=proposals.place, equal=kh._EQUAL, **more)
    return proposals, outcome


@pytest.mark.parametrize("policy", ["bayesian", "additive"])
def test_finds_a_good_one_and_measures_the_default_first(policy):
    for seed in range(3):
        proposals, outcome = tuned(policy=policy, seed=seed)
        assert outcome.trials[0].index == 0 and proposals.flats[0] == DEFAULT
        assert len(outcome.trials) == 60 == len(set(proposals.configs))
        assert cost(proposals.configs[outcome.best]) <= 1.11


def test_what_normalises_to_the_same_is_measured_once():
    def resolve(flat):
        flat = [*flat[:3], None, flat[4]]
        return tuple(flat), flat, tuple(flat)

    proposals, outcome = tuned(resolve, trials=200, policy="random")
    assert len(set(proposals.configs)) == len(proposals.configs) == len(outcome.trials) == 200
    proposals, outcome = tuned(lambda flat: (tuple(DEFAULT), DEFAULT, 0), trials=10, policy="random")
    assert len(outcome.trials) == 1  # all are the default: it ends


def test_what_cannot_be_written_is_rejected_and_costs_nothing():
    def resolve(flat):
        if flat[2] == 8:
            raise ValueError("too many warps")
        return as_it_is(flat)

    proposals, outcome = tuned(resolve)
    assert proposals.rejected > 0 and all(config[2] != 8 for config in proposals.configs)
    assert len(outcome.trials) == 60


def test_the_policy_hears_of_everything():
    space = kh.FlatSpace(FRAGMENTS, NAMES, DEFAULT)
    proposals = kh.Proposals(space, as_it_is, [DEFAULT], "random", 0, 60)
    assert proposals.ask(4) == [0] and proposals.ask(4) == []  # nothing to learn from yet
    proposals.tell(0, 1.0)
    assert len(proposals._optimizer) == 1 and proposals._optimizer.best.config == space.config(DEFAULT)
    assert proposals.ask(4) == [1, 2, 3, 4] and len(proposals._optimizer.pending) == 4


def test_another_way_to_write_what_is_measured_is_told_with_it():
    space = kh.FlatSpace(FRAGMENTS, NAMES, DEFAULT)
    proposals = kh.Proposals(space, lambda flat: (flat[0], flat, flat[0]), [DEFAULT], "random", 0, 60)  # of five kinds
    proposals.ask(1)
    proposals.tell(0, 1.0)
    given = proposals.ask(4)
    assert len(given) == 4 and proposals.ask(1) == []
    aliases = len(proposals._optimizer.pending) - 4
    assert aliases > 0
    for index in given:
        proposals.tell(index, 2.0)
    assert proposals._optimizer.pending == [] and proposals.ask(1) is None


def test_what_is_rejected_is_told():
    def resolve(flat):
        if flat != DEFAULT:
            raise ValueError("no")
        return as_it_is(flat)

    proposals = kh.Proposals(kh.FlatSpace(FRAGMENTS, NAMES, DEFAULT), resolve, [DEFAULT], "random", 0, 60)
    proposals.ask(1)
    proposals.tell(0, 1.0)
    assert proposals.ask(1) is None
    assert proposals._optimizer.pending == [] and {t.reason for t in proposals._optimizer.trials if not t.ok} == {"ValueError: no"}


def test_failures_have_their_reasons():
    proposals, outcome = tuned(broken=lambda config: config[4])
    failed = [t for t in outcome.trials if t.ms is None]
    assert failed and {t.reason for t in failed} == {"CompilationError: no"}
    assert not proposals.configs[outcome.best][4]
    assert all(proposals.configs[t.index][4] for t in failed)


def test_equals_go_to_the_one_nearest_to_the_default_in_every_order():
    """All that have m = 256 are equal: the winner has no other field that differs from the default's."""
    for seed in range(4):
        proposals, outcome = tuned(cost=lambda c: 1.0 if c[0] == 256 else 2.0, policy="random", seed=seed, first=[[256, 64, 8, True, True], [256, 16, 4, None, False]])
        assert proposals.configs[outcome.best] == (256, 16, 4, None, False)


def test_ends_when_it_is_told_to():
    seen = []
    _, outcome = tuned(on_trial=seen.append, stop=lambda: len(seen) >= 7)
    assert len(outcome.trials) == 7


def test_a_recording_is_compared_and_starts_the_next_shape(tmp_path):
    proposals, outcome = tuned(broken=lambda config: config[2] == 16)
    space = kh.FlatSpace(FRAGMENTS, NAMES, DEFAULT)
    path = tmp_path / "one.t4.json"
    kt.write_recording(path, [space.described(flat) for flat in proposals.flats], outcome, "rows", "scripted")
    recording = ks.read_recording(str(path))
    assert sorted(recording.space.values) == sorted(NAMES)
    assert len(recording.seconds) == 60
    results = json.loads(path.read_text())["results"]
    assert {result.get("reason") for result in results if not result["correctness"]} == {"CompilationError: no"}
    assert not any("reason" in result for result in results if result["correctness"])
    comparison = ks.compare([recording], ["random"], repeats=2, seed=1)
    assert len(comparison.runs) == 2
    # another shape: half of the blocks, so that the best of the recording has no twin
    smaller = kh.FlatSpace([BlockSizeFragment(16, 64), *FRAGMENTS[1:]], NAMES, DEFAULT)
    (tmp_path / "other.t4.json").write_text(path.read_text().replace('"rows"', '"columns"'))
    files = kh._earlier_files(tmp_path, "rows")
    assert files == [path]
    recordings, first = kh._warm_starts(smaller, files)
    best = proposals.flats[outcome.best]
    assert first[0] == [64, *best[1:]] and len(first) == 3
    assert len(recordings) == 1 and sorted(recordings[0].space.values) == sorted(NAMES)
    again, found = tuned(policy="bayesian", first=[best], earlier=kh._warm_starts(space, files)[0], trials=12)
    assert cost(again.configs[found.best]) <= 1.01 * cost(tuple(best))


def test_what_is_no_recording_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no recording .*; give a file that ends in .t4.json"):
        kh._earlier_files([tmp_path / "none.t4.json"], "k")
    (tmp_path / "bad.t4.json").write_text("{")
    with pytest.raises(ValueError, match="bad.t4.json is not a recording, or is damaged"):
        kh._earlier_files(tmp_path, "k")


class Future:
    """Of Helion's PrecompileFuture what the compiler asks; it runs `seconds` by a real process."""

    def __init__(self, seconds, ok=True, limit=60.0):
        self.seconds, self.works, self.timeout, self.ok, self.remote_error = seconds, ok, limit, None, None
        self.failure_reason, self.cancelled = None, False

    def start(self):
        self.began = kh.time.monotonic()
        self.process = types.SimpleNamespace(child=subprocess.Popen(["sleep", str(self.seconds)]))
        import os

        self.process.sentinel = os.pidfd_open(self.process.child.pid)

    @property
    def elapsed(self):
        return kh.time.monotonic() - self.began

    def is_alive(self):
        return self.process.child.poll() is None

    def seconds_left(self):
        return self.timeout - self.elapsed

    def _mark_complete(self):
        self.failure_reason = "ok" if self.works else "error"
        return self.works

    def cancel(self):
        self.cancelled = True
        self.process.child.kill()
        self.process.child.wait()


def compiled_by(futures, seconds=15.0):
    failures = []
    provider = types.SimpleNamespace(_jobs=4, kernel=types.SimpleNamespace(compile_config=lambda config, allow_print: config),
                                     _create_precompile_future=lambda config, function: futures[config], _record_compile_failure=failures.append)  # fmt: skip
    compiler = kh._Precompiler(provider, list(range(len(futures))), seconds)
    for i in range(len(futures)):
        compiler.start(i)
    done = []
    while compiler.pending():
        done += compiler.ready(wait=True)
    return done, failures, compiler


def test_the_default_is_out_first_though_others_are_compiled_sooner():
    done, failures, compiler = compiled_by([Future(0.4), Future(0), Future(0, ok=False)])
    assert [index for index, _, _ in done][0] == 0 and len(done) == 3
    assert {index: error for index, error, _ in done} == {0: "", 1: "", 2: "the compiling process failed (error)"}
    assert failures == [2]
    assert compiler.functions == {0: 0, 1: 1, 2: 2}


def test_what_compiles_too_long_is_ended():
    futures = [Future(0), Future(30)]
    done, failures, _ = compiled_by(futures, seconds=0.5)
    assert dict((i, e) for i, e, _ in done)[1].startswith("timeout: it was not compiled after 0.")
    assert futures[1].cancelled and failures == [1]


def test_what_takes_far_longer_than_the_others_is_ended(monkeypatch):
    monkeypatch.setattr(kh, "_COMPILE_LEAST", 0.3)
    futures = [*(Future(0.01) for _ in range(9)), Future(8)]
    done, _, _ = compiled_by(futures, seconds=60)
    assert [i for i, error, _ in done if error] == [9] and futures[9].cancelled


# ---------------------------------------------------------------------------------------------------------- the options


def test_options_come_from_the_call_and_else_the_environment(monkeypatch):
    assert (kh._options().policy, kh._options().trials) == ("additive", None)
    monkeypatch.setenv("KERNELSEARCH_HELION_TRIALS", "33")
    monkeypatch.setenv("KERNELSEARCH_HELION_POLICY", "tpe")
    options = kh._options(policy="genetic")
    assert (options.policy, options.trials, options.seed) == ("genetic", 33, 0)
    monkeypatch.setenv("KERNELSEARCH_HELION_SECONDS", "soon")
    with pytest.raises(ValueError, match="KERNELSEARCH_HELION_SECONDS is 'soon'; give a number"):
        kh.autotuner()
    monkeypatch.delenv("KERNELSEARCH_HELION_SECONDS")
    with pytest.raises(ValueError, match="trials is 0; give at least 1"):
        kh.autotuner(trials=0)
    with pytest.raises(ValueError, match="seconds is -1; give at least 0"):
        kh.autotuner(seconds=-1)


def test_records_go_into_folders_by_kernel_and_shapes(tmp_path):
    metrics = types.SimpleNamespace(input_shapes="[(8, 8)]", dtypes="[f16]", hardware="a device")
    one = kh._record_path(tmp_path, "a/b", metrics)
    assert one.parent == tmp_path and one.name.startswith("a_b-") and one.name.endswith(".t4.json")
    metrics.input_shapes = "[(8, 16)]"
    assert kh._record_path(tmp_path, "a/b", metrics) != one
    assert kh._record_path(tmp_path / "x.t4.json", "a/b", metrics) == tmp_path / "x.t4.json"


def test_importing_it_imports_neither_helion_nor_torch():
    code = "import sys, kernelsearch, kernelsearch.helion as kh; kh.autotuner(); print([m for m in ('helion', 'torch', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_helion_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "helion", None)
    monkeypatch.setattr(kh, "_classes", None)
    with pytest.raises(ImportError, match="pip install helion"):
        kh.register()


# ----------------------------------------------------------------------------------------------------- the policy of sums


def test_the_additive_policy_proposes_all_of_a_small_space_once():
    space = ks.Space({"a": [1, 2, 4, 8], "b": ["x", "y", "z"], "c": [False, True]}, ["a <= 4 or not c"])
    result = ks.minimize(lambda c: ks.Failed("launch", "no") if c["b"] == "z" else c["a"] + c["c"], space, policy=_additive(), seed=3)
    keys = [trial.key for trial in result.trials]
    assert len(keys) == len(set(keys)) == space.count == 21
    assert result.best.config["a"] == 1 and result.best.config["c"] is False


def test_the_additive_policy_puts_effects_together():
    """Of 4^10 configurations: each tunable adds its own; random search is far off after as many trials."""
    space = ks.Space({f"t{i}": [0, 1, 2, 3] for i in range(10)})

    def value(config):
        return 1.0 + sum(0.3 * (config[f"t{i}"] != i % 4) for i in range(10))

    def best(policy, seed):
        return ks.minimize(value, space, 60, policy=policy, seed=seed).best.value

    ours, drawn = [sum(best(policy, seed) for seed in range(4)) / 4 for policy in (_additive(), "random")]
    assert ours < drawn - 0.5


def test_the_additive_policy_combines_what_it_learned_of_several_tunables():
    """Each of five changes helped alone; the next proposal makes at least three of them."""
    space = ks.Space({f"t{i}": [0, 1] for i in range(5)})
    policy = _additive()(space, 0)
    base = {name: 0 for name in space.values}

    def told(config, value):
        return types.SimpleNamespace(config=config, value=value, ok=True)

    policy.tell([told(base, 2.0), *(told({**base, name: 1}, 1.5) for name in space.values)])
    (config,) = policy.ask(1)
    assert sum(config.values()) >= 3


def test_the_additive_policy_learns_which_tunables_matter():
    space = ks.Space({f"t{i}": [0, 1, 2, 3] for i in range(6)})
    policy = _additive()(space, 0)
    policy.tell([types.SimpleNamespace(config=c, value=1.0 + c["t2"], ok=True) for c in space.sample(40, seed=1)])
    policy.ask(3)
    assert max(range(6), key=lambda i: policy._weights[i]) == 2


def _additive():
    pytest.importorskip("numpy")
    from kernelsearch._additive import Additive

    return Additive


# --------------------------------------------------------------------------------------------------------- Helion itself


@pytest.fixture(scope="module")
def helion():
    """The package itself; where torch lacks the name that 1.5.1 imports, that is put in."""
    pytest.importorskip("torch", reason="torch is not installed")
    compat = pytest.importorskip("torch._inductor.runtime.triton_compat", reason="torch has no inductor")
    if not hasattr(compat, "IntelGPUError"):
        compat.IntelGPUError = type("IntelGPUError", (Exception,), {})
    return pytest.importorskip("helion", reason="Helion is not installed", exc_type=ImportError)


def test_all_of_helions_fragments_are_known(helion):
    from helion.autotuner import config_fragment as cf

    made = {
        "PermutationFragment": cf.PermutationFragment(3), "PowerOfTwoFragment": cf.PowerOfTwoFragment(1, 8), "IntegerFragment": cf.IntegerFragment(0, 4),
        "EnumFragment": cf.EnumFragment((None, "a", 3)), "BooleanFragment": cf.BooleanFragment(), "BlockSizeFragment": cf.BlockSizeFragment(16, 64),
        "NumWarpsFragment": cf.NumWarpsFragment(1, 32), "NumThreadsFragment": cf.NumThreadsFragment(64),
        "ListOf": cf.ListOf(cf.ListOf(cf.EnumFragment(("x", "y")), 2), 2),
    }  # fmt: skip
    classes = {name for name, cls in vars(cf).items() if isinstance(cls, type) and issubclass(cls, cf.ConfigSpecFragment)}
    assert classes - {"ConfigSpecFragment", "BaseIntegerFragment"} == set(made)
    space = kh.FlatSpace(made.values(), made.keys(), [fragment.default() for fragment in made.values()])
    random.seed(1)
    for _ in range(200):
        flat = [fragment.random() for fragment in made.values()]
        assert space.flat(space.config(flat)) == flat


def test_a_kernel_of_no_gpu_is_searched_by_helions_machinery(helion, tmp_path):
    """UserConfigSpec, Helion's interface for kernels that are not its own: its baseline, its check of the results and its log, with a scripted clock."""
    import torch
    from helion.autotuner.config_fragment import BlockSizeFragment, EnumFragment, IntegerFragment
    from helion.autotuner.external import _ExternalKernelAdapter, create_user_config_spec

    def compiled(config):
        return lambda x: x + (2 if config["wrong"] == "yes" else 1)

    class Timer(kh._Timer):
        def batch(self, indices, rounds):
            return {i: [1e-2 * self._configs[i]["depth"] + 1.0 / self._configs[i]["block"]] * rounds for i in indices}

    class Immediate(Compiler):
        def __init__(self):
            self.waiting, self.functions = [], {}

        def ready(self, wait):
            done, self.waiting = self.waiting[:1], self.waiting[1:]
            self.functions.update((i, compiled(self.configs[i])) for i in done)
            return [(i, "", 0.0) for i in done]

    compiler = Immediate()

    def timer(provider, configs, functions):
        compiler.configs = configs
        return Timer(provider, configs, functions)

    x = torch.ones(4)
    spec = create_user_config_spec({"block": BlockSizeFragment(16, 256), "depth": IntegerFragment(1, 4), "wrong": EnumFragment(("no", "yes"))})
    adapter = _ExternalKernelAdapter(spec, compiled, (x,), device=torch.device("cpu"), autotune_benchmark_subprocess=False)
    kept = {}
    _, cls = kh._helion_classes()
    monkey = pytest.MonkeyPatch()
    monkey.setattr("helion.autotuner.benchmark_provider.do_bench", lambda fn, **how: 1.0)
    try:
        search = cls(adapter, (x,), trials=40, record=tmp_path, compiler=compiler, measurer=timer, on_outcome=lambda *all_of_it: kept.update(all=all_of_it))
        config = search.autotune()
    finally:
        monkey.undo()
    assert config.config == {"block": 256, "depth": 1, "wrong": "no"}
    outcome = kept["all"][2]
    failed = [trial for trial in outcome.trials if trial.ms is None]
    assert len(outcome.trials) == 40 and len(failed) == 20  # the space has 40
    (path,) = tmp_path.glob("*.t4.json")
    results = json.loads(path.read_text())["results"]
    assert len(results) == 40 and {r["configuration"]["wrong"] for r in results if not r["correctness"]} == {"yes"}


def test_the_environment_names_it(helion, monkeypatch):
    from helion.autotuner import search_algorithms

    monkeypatch.delitem(search_algorithms, "Kernelsearch", raising=False)
    kh.register()
    assert search_algorithms["Kernelsearch"] is kh._helion_classes()[1]


def test_what_helion_draws_and_normalises_has_its_place_in_the_space(helion):
    from helion.autotuner.config_fragment import BlockSizeFragment, NumWarpsFragment
    from helion.autotuner.external import create_user_config_spec

    spec = create_user_config_spec({"bm": BlockSizeFragment(16, 128), "num_warps": NumWarpsFragment(1, 8)})
    generation = spec.create_config_generation()
    space = kh.FlatSpace(generation.flat_spec, kh.names_of(spec.flat_key_layout(), 2), generation.default_flat())
    for flat in generation.random_population_flat(20):
        config = generation.unflatten(flat)
        assert space.flat(space.config(generation.flatten(config))) == generation.flatten(config)
