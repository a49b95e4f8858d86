# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search for Helion's kernels in place of Helion's own: docs/python.md#helion-kernels.

    import kernelsearch.helion

    @helion.kernel(autotuner_fn=kernelsearch.helion.autotuner())
    def kernel(x: torch.Tensor) -> torch.Tensor: ...

Helion compiles, checks and caches as it does for its own searches. A policy of kernelsearch chooses the configurations, and the loop of
`kernelsearch.triton` measures them in turns with the best so far. Importing this module imports neither Helion nor torch.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import pathlib
import random
import re
import statistics
import time
from collections import deque

from ._library import _plain
from .triton import Failed, Measured, Outcome, _launch_in_turns, _search, write_recording

__all__ = ["FlatSpace", "Measured", "Outcome", "autotuner", "register"]

_TRIALS = {"quick": 20}  # by Helion's effort; else:
_FULL = 64
_INITIAL = 16  # configurations before the policy is asked: seeds of Helion's, the best of earlier recordings, random ones of Helion's
_OF_EARLIER = 3  # how many of each earlier recording are measured
_AHEAD = 8  # compiled ahead of what is measured: a policy that has seen more proposes better
_REPEATS = 1000  # proposals in a row that are known already, after which the space counts as exhausted
# A configuration has failed if it compiles for this many times the median (once this many were compiled) and for at least this many seconds.
_COMPILE_TIMES, _COMPILED, _COMPILE_LEAST = 5, 8, 4.0
_EQUAL = 1.003  # what is that near the best is equal to it; of equals the one nearest to Helion's default wins
_MOST_VALUES = 1 << 16  # of one fragment
_TILE = 1 << 21  # the product of the block sizes; Helion draws up to half of that at random
_KEPT = 8  # kernels that the process that measures keeps loaded
_LAUNCH_MS = 0.2  # what the host takes for a launch; the device waits this long for each, so that it never waits for the host


# ------------------------------------------------------------------------------------------------- Helion's spaces


def _kind(fragment):
    """The class of Helion's that the fragment is of. By name, so that this module needs no Helion."""
    known = ("ListOf", "PermutationFragment", "BooleanFragment", "EnumFragment", "NumThreadsFragment", "PowerOfTwoFragment", "IntegerFragment")
    for cls in type(fragment).__mro__:
        if cls.__name__ in known:
            return cls.__name__
    return None


def _values_of(fragment, name):
    """What a search tries of a fragment that is not a list of others, as Helion writes it."""
    kind = _kind(fragment)
    if kind == "BooleanFragment":
        return [False, True]
    if kind == "EnumFragment":
        return list(fragment.choices if getattr(fragment, "search_choices", None) is None else fragment.search_choices)
    if kind == "PermutationFragment":
        from ._spaces import permutation

        return [list(order) for order in permutation(fragment.length)]
    if kind == "NumThreadsFragment":
        return [0] + [1 << bit for bit in range(fragment.high.bit_length())]
    if kind == "PowerOfTwoFragment":
        return [1 << bit for bit in range(fragment.low.bit_length() - 1, fragment.high.bit_length())]
    if kind == "IntegerFragment":
        if fragment.high - fragment.low >= _MOST_VALUES:
            raise ValueError(f"kernelsearch: {name} has {fragment.high - fragment.low + 1} values; give a range of at most {_MOST_VALUES}, or "
                             "powers of two (PowerOfTwoFragment)")  # fmt: skip
        return list(range(fragment.low, fragment.high + 1))
    raise ValueError(f"kernelsearch: {name} is a {type(fragment).__name__}, a kind of fragment that kernelsearch.helion does not know; use one of "
                     "Helion's searches for this kernel (leave autotuner_fn out), or fix the value with autotune_config_overrides")  # fmt: skip


def _coded(values):
    """The same as values of a tunable, all of one kind: orders as tuples, mixed ones as their texts."""
    if all(isinstance(value, list) for value in values):
        return [tuple(value) for value in values]
    if all(type(value) is type(values[0]) for value in values) and type(values[0]) in (bool, int, float, str):
        return list(values)
    return [repr(value) for value in values]


class _Leaf:
    """One tunable: its name, Helion's values and ours, in the same order; the place of the default."""

    def __init__(self, name, fragment, default):
        self.name = name
        self.values = _values_of(fragment, name)
        if not any(_same(default, value) for value in self.values):
            self.values.append(default)
            if all(type(value) is int for value in self.values):
                self.values.sort()
        self.codes = _coded(self.values)
        self.default = self.place(default)
        self.is_block = any(cls.__name__ == "BlockSizeFragment" for cls in type(fragment).__mro__)

    def place(self, value):
        """Where Helion's value is in the list; None: nowhere."""
        return next((i for i, one in enumerate(self.values) if _same(one, value)), None)

    def nearest(self, text):
        """The place of the value that a recording calls `text`, or of the nearest number; the default's where there is none."""
        for i, code in enumerate(self.codes):
            if _same(_plain(code), text):
                return i
        if type(text) is int and all(type(value) is int for value in self.values):
            return min(range(len(self.values)), key=lambda i: abs(self.values[i] - text))
        return self.default


def _same(a, b):
    return type(a) is type(b) and a == b


class FlatSpace:
    """Helion's flat configurations, lists with a value for each fragment, as configurations of a Space.

    fragments: Helion's `flat_spec`. names: one for each, distinct. default: a flat configuration. fixed: places of fragments that keep their default.
    """

    def __init__(self, fragments, names, default, fixed=()):
        self.fragments, self.default = list(fragments), list(default)
        self._leaves = []  # of each fragment
        for i, (fragment, name, value) in enumerate(zip(self.fragments, names, self.default)):
            self._leaves.append([] if i in fixed else _leaves_of(fragment, name, value))
        self.leaves = [leaf for leaves in self._leaves for leaf in leaves]
        free = [leaf for leaf in self.leaves if len(leaf.values) > 1] or self.leaves[:1]
        if not free:
            raise ValueError("kernelsearch: nothing to tune: every field of this kernel is fixed; leave an override out, or set autotune_effort='none'")
        self._free = {leaf.name: leaf for leaf in free}

    def space(self):
        """The Space: a tunable for each leaf with more than one value."""
        from . import Space

        blocks = [leaf for leaf in self._free.values() if leaf.is_block]
        limit = max(_TILE, math.prod(leaf.values[leaf.default] for leaf in blocks))
        constraints = [f"{' * '.join(leaf.name for leaf in blocks)} <= {limit}"] if len(blocks) > 1 else []
        return Space({leaf.name: leaf.codes for leaf in self._free.values()}, constraints,
                     defaults={leaf.name: leaf.codes[leaf.default] for leaf in self._free.values()})  # fmt: skip

    def flat(self, config):
        """A configuration of the Space as Helion writes it."""
        flat = []
        for fragment, leaves, default in zip(self.fragments, self._leaves, self.default):
            if not leaves:
                flat.append(_copy(default))
                continue
            values = iter([leaf.values[leaf.codes.index(config[leaf.name]) if leaf.name in self._free else leaf.default] for leaf in leaves])
            flat.append(_fill(fragment, values))
        return flat

    def config(self, flat):
        """A flat configuration as one of the Space; None where it has a value that the space lacks."""
        named = self._places(flat)
        if any(place is None for leaf, place in named if leaf.name in self._free):
            return None
        return {leaf.name: leaf.codes[place] for leaf, place in named if leaf.name in self._free}

    def described(self, flat):
        """The same for a recording: the names and plain values of all leaves."""
        values = [value for fragment, leaves, one in zip(self.fragments, self._leaves, flat) if leaves for value in _spread(fragment, one)]
        return {leaf.name: _plain(leaf.codes[place] if place is not None else repr(value))
                for (leaf, place), value in zip(self._places(flat), values)}  # fmt: skip

    def nearest(self, described):
        """A recorded configuration, perhaps of another shape, as one of the Space: what it lacks has its default."""
        return {name: leaf.codes[leaf.nearest(described[name]) if name in described else leaf.default] for name, leaf in self._free.items()}

    def _places(self, flat):
        named = []
        for fragment, leaves, value in zip(self.fragments, self._leaves, flat):
            if leaves:
                named += [(leaf, leaf.place(one)) for leaf, one in zip(leaves, _spread(fragment, value))]
        return named


def _leaves_of(fragment, name, default):
    if _kind(fragment) == "ListOf":
        return [leaf for i in range(fragment.length) for leaf in _leaves_of(fragment.inner, f"{name}_{i}", default[i])]
    return [_Leaf(name, fragment, default)]


def _spread(fragment, value):
    """The values of the leaves, in their order."""
    if _kind(fragment) == "ListOf":
        return [one for part in value for one in _spread(fragment.inner, part)]
    return [value]


def _fill(fragment, values):
    """The inverse."""
    if _kind(fragment) == "ListOf":
        return [_fill(fragment.inner, values) for _ in range(fragment.length)]
    return _copy(next(values))


def _copy(value):
    return [_copy(one) for one in value] if isinstance(value, list) else value


def names_of(layout, count):
    """A name for each of `count` fragments. layout: Helion's `flat_key_layout()`, tuples of a key, how many fragments it has, and whether it is a
    sequence of these."""
    names = []
    for key, fragments, is_sequence in layout:
        word = re.sub(r"\W", "_", key)
        names += [f"{word}_{i}" for i in range(fragments)] if is_sequence else [word] * fragments
    if len(names) != count or len(set(names)) != count:
        return [f"field_{i}" for i in range(count)]
    return names


class Proposals:
    """Asks a policy for flat configurations and numbers them; `ask` and `tell` are what the loop of `kernelsearch.triton` calls.

    flat_space: a FlatSpace. resolve(flat): the configuration as Helion runs it, the flat form of that, and what it is known by; raises where it is not
    one. first: flat configurations, of which the first one is told before any other is given. earlier: recordings of the same space.
    """

    def __init__(self, flat_space, resolve, first, policy, seed, budget, earlier=()):
        from . import Failed as Failure
        from . import Optimizer

        self._failure = Failure
        self._flat_space, self._resolve = flat_space, resolve
        self._space = flat_space.space()
        self._first = deque(first)
        if policy == "additive":
            from ._additive import Additive as policy
        options = {"first_points": 0} if isinstance(policy, str) and policy.split("(")[0] == "bayesian" and "first_points" not in policy else {}  # what is in `first` takes their place
        self._optimizer = Optimizer(self._space, policy, seed, budget=budget, earlier=earlier, try_default=False, options=options)
        self.configs, self.flats = [], []
        self._number, self._results, self._waiting = {}, {}, {}
        self.rejected = 0

    def ask(self, n):
        given, repeats = [], 0
        while len(given) < n and repeats < _REPEATS:
            trial = None
            if self._first:
                flat = self._first.popleft()
            elif not self._results:
                break  # nothing to learn from yet
            else:
                trial = self._optimizer.ask()
                if trial is None:
                    break
                flat = self._flat_space.flat(trial.config)
            try:
                config, flat, key = self._resolve(flat)
            except Exception as error:
                self.rejected += 1
                repeats += 1
                if trial is not None:
                    self._optimizer.tell(trial, self._failure("rejected", f"{type(error).__name__}: {error}"[:500]))
                continue
            index = self._number.get(key)
            if index is not None:  # another way to write what is known
                repeats += 1
                if trial is None:
                    continue
                if index in self._results:
                    self._optimizer.tell(trial, self._results[index])
                else:
                    self._waiting[index].append(trial)
                continue
            index = len(self.configs)
            self.configs.append(config)
            self.flats.append(flat)
            self._number[key] = index
            self._waiting[index] = [] if trial is None else [trial]
            given.append(index)
        return given if given or self._waiting else None

    def tell(self, index, value, reason=""):
        result = self._failure("launch", reason) if value is None else value
        self._results[index] = result
        trials = self._waiting.pop(index)
        for trial in trials:
            self._optimizer.tell(trial, result)
        if not trials:
            config = self._flat_space.config(self.flats[index])
            if config is not None and config in self._space:
                self._optimizer.add(config, result)

    def place(self, index):
        """The fixed order of equals: the fewest fields that differ from the default, then the text."""
        differ = sum(not _same(a, b) for a, b in zip(self.flats[index], self.flats[0]))
        return differ, json.dumps(self.flats[index], default=repr)


# ----------------------------------------------------------------------------------------------- earlier recordings


def _earlier_files(earlier, kernel):
    """The recordings to learn from: files as they are, of folders those of this kernel."""
    files = []
    for given in [earlier] if isinstance(earlier, (str, os.PathLike)) else earlier:
        path = pathlib.Path(given)
        if path.is_dir():
            files += [one for one in sorted(path.glob("*.t4.json")) if _read_earlier(one)[0] == kernel]
        elif path.is_file():
            files.append(path)
        else:
            raise ValueError(f"kernelsearch: no recording {path}; give a file that ends in .t4.json, or a folder of such files")
    return files


def _read_earlier(path):
    """The kernel's name and [(described configuration, milliseconds or None), ...] of a recording."""
    try:
        text = json.loads(pathlib.Path(path).read_text())
        rows = []
        for result in text["results"]:
            times = [one["value"] for one in result["measurements"] if one["name"] == "time"]
            rows.append((dict(result["configuration"]), float(times[0]) if times else None))
        return text.get("metadata", {}).get("kernel", ""), rows
    except (UnicodeDecodeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"kernelsearch: {path} is not a recording, or is damaged ({error!r}); give a file that write_recording wrote") from error


def _warm_starts(flat_space, files):
    """Recordings of this space to learn from, and the flat configurations of their best."""
    from . import Failed as Failure
    from . import Recording

    space, recordings, first = flat_space.space(), [], []
    for path in files:
        _, rows = _read_earlier(path)
        told = {}
        for described, ms in sorted(rows, key=lambda row: (row[1] is None, row[1])):
            config = flat_space.nearest(described)
            if config in space:  # of those that fall together here the fastest counts
                told.setdefault(tuple(config.values()), (config, Failure("launch", "failed there") if ms is None else 1e-3 * ms))
        kept = [value for value in told.values()]
        first += [flat_space.flat(config) for config, value in kept[:_OF_EARLIER] if not isinstance(value, Failure)]
        if len(kept) > 1:
            recordings.append(Recording.of(pathlib.Path(path).name, space, kept))
    return recordings, first


# ------------------------------------------------------------------------------------------- compiling and measuring


class _Precompiler:
    """Helion's own compilation in parallel processes (its PrecompileFuture), as the loop asks for it."""

    def __init__(self, provider, configs, seconds):
        self._provider, self._configs, self._seconds = provider, configs, seconds
        self._jobs = min(_AHEAD, max(1, provider._jobs))
        self._waiting, self._busy, self._done = deque(), {}, deque()
        self._taken = []  # the seconds of those that were compiled
        self._first_is_out = False
        self.functions = {}

    def start(self, index):
        self._waiting.append(index)
        self._feed()

    def pending(self):
        return len(self._waiting) + len(self._busy) + len(self._done)

    def ready(self, wait):
        from multiprocessing import connection

        self._feed()
        self._collect()
        while wait and self._busy and not self._out():
            left = min(self._left(future) for future, _ in self._busy.values())
            connection.wait([future.process.sentinel for future, _ in self._busy.values()], max(0.0, left))
            self._collect()
        done = self._out()
        for one in done:
            self._done.remove(one)
        self._first_is_out = self._first_is_out or bool(done)
        self._feed()
        return done

    def _out(self):
        """What is done and may be told: the default before all others, since it is measured first."""
        return [one for one in self._done if self._first_is_out or one[0] == 0]

    def _left(self, future):
        """The seconds that one may still take: what takes far longer than the others is seldom worth it."""
        if len(self._taken) < _COMPILED:
            return future.seconds_left()
        limit = max(_COMPILE_LEAST, _COMPILE_TIMES * statistics.median(self._taken))
        return min(future.seconds_left(), limit - future.elapsed)

    def close(self):
        for future, _ in self._busy.values():
            future.cancel()
        self._waiting, self._busy, self._done = deque(), {}, deque()

    def _collect(self):
        for index, (future, begin) in list(self._busy.items()):
            if future.is_alive() and self._left(future) > 0:
                continue
            del self._busy[index]
            if future.is_alive():
                future.cancel()
                error = f"timeout: it was not compiled after {future.elapsed:.1f} s"
            else:
                error = "" if future._mark_complete() else _compile_error(future)
                self._taken.append(future.elapsed)
            self._finish(index, error, time.monotonic() - begin)

    def _finish(self, index, error, seconds):
        if error:
            self._provider._record_compile_failure(self._configs[index])
        self._done.append((index, error, seconds))

    def _feed(self):
        while self._waiting and len(self._busy) < self._jobs:
            index = self._waiting.popleft()
            begin = time.monotonic()
            try:
                self.functions[index] = self._provider.kernel.compile_config(self._configs[index], allow_print=False)
                future = self._provider._create_precompile_future(self._configs[index], self.functions[index])
            except Exception as error:
                from helion.autotuner.logger import match_unrecoverable_runtime_error

                error.__traceback__ = None
                if match_unrecoverable_runtime_error(error):
                    raise
                self._finish(index, f"{type(error).__name__}: {error}"[:2000], time.monotonic() - begin)
                continue
            if future.ok is not None:
                self._finish(index, "" if future.ok else "it cannot be compiled", time.monotonic() - begin)
                continue
            future.timeout = min(future.timeout, self._seconds)
            future.start()
            self._busy[index] = (future, begin)


def _compile_error(future):
    error = future.remote_error
    if error is None:
        return f"the compiling process failed ({future.failure_reason})"
    return f"{error.exc_type}: {'; '.join(str(one) for one in error.exc_args)}"[:2000]


_loaded = {}  # in the process that measures: kernels by their source


def _load(spec):
    from helion.autotuner.benchmark_job import _load_compiled_fn_for_worker
    from helion.autotuner.precompile_future import _unload_compiled_fn

    key = (spec.function_name, spec.source_code)
    function = _loaded.pop(key, None) or _load_compiled_fn_for_worker(spec)
    _loaded[key] = function
    return function, lambda: [_unload_compiled_fn(_loaded.pop(one)) for one in list(_loaded)[:-_KEPT]]


@dataclasses.dataclass
class _Turns:
    """A job for Helion's worker process: {index: [milliseconds, ...]} of kernels that are timed in turns."""

    specs: dict
    args_path: str
    rounds: int

    def __call__(self):
        from helion.autotuner.kernel_args import load_trusted_kernel_args
        from helion.autotuner.logger import capture_output

        with capture_output():
            unload = None
            functions = {}
            for index, spec in self.specs.items():
                functions[index], unload = _load(spec)
            try:
                return _time_in_turns(functions, load_trusted_kernel_args(self.args_path), self.rounds)
            finally:
                unload()


def _time_in_turns(functions, args, rounds):
    import torch
    from triton.runtime import driver

    def launch(index, start, end):
        start.record()
        functions[index](*args)
        end.record()

    for function in functions.values():
        function(*args)
    sleep = getattr(torch.cuda, "_sleep", None) if torch.cuda.is_available() else None
    if sleep is not None:  # else short kernels would be timed with the host's work between their events
        torch.cuda.synchronize()
        sleep(int(_LAUNCH_MS * 1.5e6 * len(functions) * min(rounds, 20)))
    cache = driver.active.get_empty_cache_for_benchmark()
    return _launch_in_turns(driver.active, cache, list(functions), rounds, launch)


class _Timer:
    """Times in Helion's worker process where Helion would, else in this one. Each configuration is checked by Helion first."""

    def __init__(self, provider, configs, functions):
        self._provider, self._configs, self._functions = provider, configs, functions
        self._args = None

    def warm(self, index):
        function = self._functions.get(index)
        if function is None:
            raise Failed("it was not compiled")
        self._provider.reason = ""
        if not math.isfinite(self._provider._benchmark_function(self._configs[index], function)):
            raise Failed(self._provider.reason or "Helion's check failed")

    def batch(self, indices, rounds):
        from helion.autotuner.benchmark_worker import BenchmarkSubprocessError, BenchmarkWorkerUnkillable
        from helion.autotuner.precompile_future import _serialize_compiled_fn

        functions = {index: self._functions[index] for index in indices}
        provider = self._provider
        try:
            if provider._subprocess_benchmark_enabled() and provider._precompile_args_path is not None:
                job = _Turns({index: _serialize_compiled_fn(function) for index, function in functions.items()}, provider._precompile_args_path, rounds)
                return provider.worker().run(job, timeout=float(provider.settings.autotune_benchmark_timeout))
            if self._args is None:
                self._args = provider.own_args()
            return _time_in_turns(functions, self._args, rounds)
        except BenchmarkWorkerUnkillable:
            raise
        except (BenchmarkSubprocessError, RuntimeError) as error:
            error.__traceback__ = None
            raise Failed(f"{type(error).__name__}: {error}"[:2000]) from error


_classes = None


def _helion_classes():
    """Defined when they are first used, since importing Helion takes seconds."""
    global _classes
    if _classes is not None:
        return _classes
    try:
        import helion  # noqa: F401
        from helion.autotuner.base_search import BaseSearch
        from helion.autotuner.benchmark_provider import LocalBenchmarkProvider, _clone_args
        from helion.autotuner.benchmark_worker import BenchmarkWorker
    except ModuleNotFoundError as error:
        if error.name != "helion":
            raise
        raise ImportError("kernelsearch.helion needs Helion, which is not installed: pip install helion") from error
    except ImportError as error:
        raise ImportError(f"Helion cannot be imported: {error}; its version does not fit that of torch or Triton (Helion 1.5.1 asks for "
                          "IntelGPUError, which torch 2.11 lacks): install versions that fit each other") from error  # fmt: skip

    class Provider(LocalBenchmarkProvider):
        """Helion's, without its timing of single configurations: what is left is compiling, launching once, and the check of the results."""

        reason = ""

        def worker(self):
            if self._benchmark_worker is None:
                self._benchmark_worker = BenchmarkWorker(device=None)
            return self._benchmark_worker

        def own_args(self):
            if not self.mutated_arg_indices:
                return self.args
            return _clone_args(self.args, self.kernel.env.process_group_name, idx_to_clone=self.mutated_arg_indices)

        def _run_subprocess_benchmark_job(self, fn, **how):
            if self._subprocess_accuracy_check_enabled() and self._precompile_args_path is not None:
                return 1.0  # the check that follows launches it
            with self._kept():
                return super()._run_subprocess_benchmark_job(fn, **dict(how, rep=1))

        def _run_subprocess_accuracy_check_job(self, fn):
            with self._kept():
                result = super()._run_subprocess_accuracy_check_job(fn)
            if result is not None and not result.ok:
                self.reason = f"accuracy: {result.message}"[:2000]
            return result

        def _record_accuracy_failure(self, config):
            self.reason = self.reason or "accuracy: the results differ from the baseline's"
            super()._record_accuracy_failure(config)

        def _record_worker_failure(self, config, status):
            self.reason = self.reason or f"the process that measures ended with {status}"
            super()._record_worker_failure(config, status)

        def _kept(self):
            return _Kept(self)

    class KernelsearchSearch(BaseSearch):
        """The search of kernelsearch among Helion's: see `kernelsearch.helion.autotuner`."""

        def __init__(self, kernel, args, *, policy=None, seed=None, trials=None, seconds=None, record=None, earlier=None, initial=None,
                     compile_seconds=None, measurer=None, compiler=None, on_outcome=None):  # fmt: skip
            super().__init__(kernel, args, benchmark_provider_cls=Provider)
            self._how = _options(policy=policy, seed=seed, trials=trials, seconds=seconds, record=record, earlier=earlier, initial=initial,
                                 compile_seconds=compile_seconds)  # fmt: skip
            self._measurer, self._compiler, self._on_outcome = measurer, compiler, on_outcome
            self.config_gen = None
            _check_kernel(self)

        def _algorithm_cache_policy(self):
            how = self._how
            return {"kernelsearch_version": 1, "policy": how.policy, "seed": how.seed, "trials": how.trials, "seconds": how.seconds,
                    "initial": how.initial}  # fmt: skip

        def _generation_invalid_config_count(self):
            return 0 if self.config_gen is None else self.config_gen.invalid_config_count

        def _autotune(self):
            begin, how, settings = time.monotonic(), self._how, self.settings
            generation = self.config_gen = self.config_spec.create_config_generation(
                overrides=settings.autotune_config_overrides or None, advanced_controls_files=settings.autotune_search_acf or None,
                process_group_name=self.kernel.env.process_group_name)  # fmt: skip
            own = self._compiler is None and self._measurer is None
            if own and self.benchmark_provider._subprocess_benchmark_enabled():
                self.benchmark_provider.worker()._start()  # it imports torch while the first ones are compiled
            layout = self.config_spec.flat_key_layout(advanced_controls_files=settings.autotune_search_acf or None)
            flat_space = FlatSpace(generation.flat_spec, names_of(layout, len(generation.flat_spec)), generation.default_flat(),
                                   generation.overridden_flat_indices)  # fmt: skip
            kernel = self._autotune_metrics.kernel_name or "kernel"
            recordings, best_of = _warm_starts(flat_space, _earlier_files(how.earlier or (), kernel))
            random.seed(how.seed)
            drawn = generation.random_population_flat(1 + how.initial, user_seed_configs=list(self._autotune_seed_configs()), log_func=self.log)
            first = [*drawn[:1], *best_of, *drawn[1:]][: 1 + max(how.initial, len(best_of))]
            trials = how.trials or _TRIALS.get(settings.autotune_effort, _FULL)

            def resolve(flat):
                flat, config = generation.canonicalize_flat(flat)
                kept, _ = self._apply_config_filter([config])
                if not kept:
                    raise ValueError("autotune_config_filter leaves it out")
                return kept[0], flat, kept[0]

            proposals = Proposals(flat_space, resolve, first, how.policy, how.seed, max(1, trials - len(first)), recordings)
            compiler = self._compiler or _Precompiler(self.benchmark_provider, proposals.configs, how.compile_seconds)
            measurer = (self._measurer or _Timer)(self.benchmark_provider, proposals.configs, getattr(compiler, "functions", {}))
            measured, outcome = [], None

            def heard(trial):
                measured.append(trial)
                if trial.ms is not None and trial.ms < self.best_perf_so_far:
                    self.best_perf_so_far = trial.ms
                    self.log(f"configuration {len(measured)} of {trials}: {trial.ms:.4f} ms")

            def stop():
                late = how.seconds is not None and time.monotonic() - begin > how.seconds
                return bool(measured) and (late or self._autotune_budget_exceeded())

            try:
                outcome = _search(proposals, compiler, measurer, trials, _AHEAD, heard, begin=begin, stop=stop, order=proposals.place, equal=_EQUAL)
            except ValueError as error:
                if any(trial.ms is not None for trial in measured):
                    raise
                from helion import exc

                raise exc.NoConfigFound from error
            finally:
                if hasattr(compiler, "close"):
                    compiler.close()
                described = [flat_space.described(flat) for flat in proposals.flats]
                if how.record is not None:
                    write_recording(_record_path(how.record, kernel, self._autotune_metrics), described,
                                    Outcome(-1 if outcome is None else outcome.best, measured, time.monotonic() - begin), kernel,
                                    self._autotune_metrics.hardware)  # fmt: skip
            config = proposals.configs[outcome.best]
            if self._on_outcome is not None:
                self._on_outcome(self, config, outcome, proposals, described)
            return config

    _classes = Provider, KernelsearchSearch
    return _classes


class _Kept:
    """Keeps the text of an exception for the record of the failure."""

    def __init__(self, provider):
        self._provider = provider

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self._provider.reason = f"{kind.__name__}: {error}"[:2000]
        return False


def _check_kernel(search):
    """ValueError for kernels that the loop cannot measure."""
    backend = getattr(search.config_spec, "backend", None)
    if backend is not None and backend.get_do_bench() is not None and search._measurer is None:
        raise ValueError(f"kernelsearch.helion times kernels of Triton, and this one's backend is {backend.name}: leave autotuner_fn out")
    if type(search.args).__name__ == "_MultiShapeAutotuneArgs":
        raise ValueError("kernelsearch.helion tunes one shape at a time, and autotune_multi was asked for: leave HELION_AUTOTUNER out, or tune each shape")
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        raise ValueError("kernelsearch.helion tunes in one process, and torch.distributed is initialized: leave autotuner_fn out")


def _record_path(record, kernel, metrics):
    path = pathlib.Path(record)
    if path.name.endswith(".t4.json"):
        return path
    digest = hashlib.sha256(json.dumps([metrics.input_shapes, metrics.dtypes, metrics.hardware]).encode()).hexdigest()
    return path / f"{re.sub(r'[^A-Za-z0-9_]', '_', kernel)[:100]}-{digest[:16]}.t4.json"


# ------------------------------------------------------------------------------------------------------- what users call


@dataclasses.dataclass
class _Options:
    policy: str = "additive"
    seed: int = 0
    trials: int | None = None
    seconds: float | None = None
    record: str | os.PathLike | None = None
    earlier: object = None
    initial: int = _INITIAL
    compile_seconds: float = 15.0


def _options(**given):
    """What was given, else what the environment says (KERNELSEARCH_HELION_POLICY, ...), else the standard values."""
    readers = {"policy": str, "seed": int, "trials": int, "seconds": float, "record": str, "earlier": lambda text: text.split(os.pathsep),
               "initial": int, "compile_seconds": float}  # fmt: skip
    values = {}
    for name, read in readers.items():
        if given.get(name) is not None:
            values[name] = given[name]
            continue
        variable = f"KERNELSEARCH_HELION_{name.upper()}"
        text = os.environ.get(variable)
        if text:
            try:
                values[name] = read(text)
            except ValueError:
                raise ValueError(f"kernelsearch: {variable} is {text!r}; give a number") from None
    options = _Options(**values)
    for name, least in (("trials", 1), ("initial", 0), ("seconds", 0), ("compile_seconds", 0)):
        value = getattr(options, name)
        if value is not None and not value >= least:
            raise ValueError(f"kernelsearch: {name} is {value!r}; give at least {least}")
    return options


class Autotuner:
    """What `autotuner` returns, for Helion to call. After a search: `outcome` (see `kernelsearch.triton.Outcome`), `configs` (those that were tried, in
    the order of their numbers), `described` (the same as a recording has them) and `best`; None before."""

    def __init__(self, options):
        self._given = options
        self.outcome = self.configs = self.described = self.best = None

    def __call__(self, bound_kernel, args, **more):
        from helion.autotuner import cache_classes

        _, cls = _helion_classes()

        def heard(search, config, outcome, proposals, described):
            self.outcome, self.configs, self.described, self.best = outcome, proposals.configs, described, config

        def factory():
            return cls(bound_kernel, args, **{**self._given, **more, "on_outcome": heard})

        name = bound_kernel.settings.autotune_cache
        if name not in cache_classes:
            raise ValueError(f"Unknown HELION_AUTOTUNE_CACHE value: {name}, valid options are: {', '.join(cache_classes)}")
        return cache_classes[name](factory(), autotuner_factory=factory)


def autotuner(policy=None, *, seed=None, trials=None, seconds=None, record=None, earlier=None, initial=None, compile_seconds=None,
              measurer=None, compiler=None):  # fmt: skip
    """For `@helion.kernel(autotuner_fn=...)`.

    policy: a name of `kernelsearch.policies()`, with options where some are given; left out, "additive", a Gaussian process of the effects of single fields and of their combinations (it needs NumPy, as Helion does). seed: of every random choice (0).
    trials: configurations to try; left out, 64 (20 at Helion's effort "quick"). seconds: after that long no further one is measured; Helion's own
        `autotune_budget_seconds` ends it too.
    record: a file whose name ends in `.t4.json` for what was measured, or a folder that gets one for each kernel, shapes and device.
    earlier: recordings to learn from, of this kernel for other shapes or devices: files, or folders, of which those of the kernel are taken.
    initial: how many configurations are measured before the policy is asked: Helion's seeds, the best of earlier recordings, random ones (16).
    compile_seconds: what takes longer to compile has failed (15, and never more than Helion's own limit).
    measurer, compiler: as `kernelsearch.triton.search` has them; the measurer is called as `measurer(provider, configs, functions)`.

    What is left out is taken from KERNELSEARCH_HELION_POLICY, _SEED, _TRIALS, _SECONDS, _RECORD, _EARLIER, _INITIAL and _COMPILE_SECONDS where set.
    """
    given = dict(policy=policy, seed=seed, trials=trials, seconds=seconds, record=record, earlier=earlier, initial=initial,
                 compile_seconds=compile_seconds)  # fmt: skip
    _options(**given)  # errors here, not at the first call
    return Autotuner({**given, "measurer": measurer, "compiler": compiler})


def register():
    """Makes HELION_AUTOTUNER=Kernelsearch choose this search, for kernels that name no `autotuner_fn`. Its options: KERNELSEARCH_HELION_POLICY, ...

    `python -m kernelsearch.helion PROGRAM ARGUMENTS...` runs a program so, without a line changed in it.
    """
    _, cls = _helion_classes()
    from helion.autotuner import search_algorithms

    search_algorithms["Kernelsearch"] = cls


def _main():
    import runpy
    import sys

    if len(sys.argv) < 2:
        sys.exit("usage: python -m kernelsearch.helion PROGRAM ARGUMENTS...: runs a Python program whose Helion kernels kernelsearch tunes")
    os.environ["HELION_AUTOTUNER"] = "Kernelsearch"
    from kernelsearch.helion import register as register_it  # not __main__'s: its classes are pickled by name

    register_it()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
