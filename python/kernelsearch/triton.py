# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A drop-in for `triton.autotune`: docs/python.md#triton-kernels.

    import kernelsearch.triton

    @kernelsearch.triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), ...], key=["n"])
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr): ...

Configurations are compiled in parallel processes and asked of a search policy; each is measured in turns with the best so
far and given up once it is clearly slower; the best few are compared once more. `search` is that loop by itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import os
import pathlib
import random
import select
import signal
import statistics
import sys
import time
import warnings
from collections import deque

from ._library import searcher

__all__ = ["Measured", "Outcome", "ProcessCompiler", "autotune", "read_autotune_json", "read_vllm_json", "search",
           "write_autotune_json", "write_recording", "write_vllm_json"]  # fmt: skip

_CLEARLY = 1.02  # every pair slower than that: given up
_EQUAL = 1.007  # what is that near the best is equal to it, and of equals the first in the list wins
_FINALISTS, _NEAR = 24, 1.02  # at most so many; whose interval reaches so near the best
# What comparing these may take: so many launches, of long kernels as many as fit in that time but 200, and so many rounds.
_FINAL_LAUNCHES, _FINAL_MS, _FINAL_LEAST, _FINAL_ROUNDS = 1200, 1000, 200, 600
_BESIDE_MS = 0.2  # what a launch takes on the device besides the kernel: emptying the cache, launching


@dataclasses.dataclass
class Measured:
    """One configuration: `index` in the list, `ms` (None: it failed, for `reason`), `low` and `high` of the middle of its
    samples, how many `pairs` with the best it took, and the seconds that `building` and `measuring` it took."""

    index: int
    ms: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    pairs: int = 0
    building: float = 0.0
    measuring: float = 0.0


@dataclasses.dataclass
class Outcome:
    """What a search found: the position of the `best` configuration, `trials` in the order in which they were measured, and
    the seconds it took."""

    best: int
    trials: list[Measured]
    seconds: float

    def timings(self, configs):
        """As Triton keeps them: a dict of configurations and their [median, low, high] in milliseconds."""
        infinity = [float("inf")] * 3
        return {configs[t.index]: infinity if t.ms is None else [t.ms, t.low, t.high] for t in self.trials}


class Failed(Exception):
    """Raised by a measurer: the configuration cannot run, for the reason given."""


class ProcessCompiler:
    """Compiles in `jobs` processes, forked from this one where it stands; they never touch a device.

    compile(index): compiles in the child, into a cache that this process reads; raises where that fails. `prepare()` is
    called once in each child. A child that dies fails the configuration that it was at, and is replaced.
    """

    def __init__(self, compile, jobs=None, prepare=lambda: None):
        self._compile, self._prepare = compile, prepare
        self._jobs = jobs or max(1, len(os.sched_getaffinity(0)) - 1)
        self._idle, self._busy, self._waiting = [], {}, deque()

    def start(self, index):
        self._waiting.append(index)
        self._feed()

    def pending(self):
        return len(self._waiting) + len(self._busy)

    def ready(self, wait):
        """Those that are done: tuples of index, error text (empty: none) and seconds. With `wait` at least one, if any is
        under way."""
        done = []
        while self._busy and not done:
            readable, _, _ = select.select([worker["results"] for worker in self._busy.values()], [], [], None if wait else 0)
            for index, worker in list(self._busy.items()):
                if worker["results"] not in readable:
                    continue
                line = worker["results"].readline()
                del self._busy[index]
                if line:
                    error, seconds = json.loads(line)
                    self._idle.append(worker)
                else:
                    error, seconds = "the compiling process " + _end(worker), time.monotonic() - worker["began"]
                    _close(worker)
                done.append((index, error, seconds))
            if not wait:
                break
        self._feed()
        return done

    def close(self):
        for worker in [*self._idle, *self._busy.values()]:
            os.kill(worker["pid"], signal.SIGKILL)
            _end(worker)
            _close(worker)
        self._idle, self._busy, self._waiting = [], {}, deque()

    def _feed(self):
        while self._waiting and (self._idle or len(self._busy) < self._jobs):
            worker = self._idle.pop() if self._idle else self._fork()
            index = self._waiting.popleft()
            worker["began"] = time.monotonic()
            worker["requests"].write(f"{index}\n")
            worker["requests"].flush()
            self._busy[index] = worker

    def _fork(self):
        request_out, request_in = os.pipe()
        result_out, result_in = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads: see _work
            pid = os.fork()
        if pid == 0:
            os.close(request_in)
            os.close(result_out)
            for other in [*self._idle, *self._busy.values()]:  # else their pipes would stay open with us
                os.close(other["requests"].fileno())
            _work(request_out, result_in, self._prepare, self._compile)
        os.close(request_out)
        os.close(result_in)
        return {"pid": pid, "requests": os.fdopen(request_in, "w"), "results": os.fdopen(result_out), "began": 0.0}


def _work(requests, results, prepare, compile):
    """The child: it shares what this process had loaded, and ends without running any of its exit handlers."""
    status = 1
    try:
        prepare()
        with os.fdopen(requests) as lines, os.fdopen(results, "w") as out:
            for line in lines:
                begin, error = time.monotonic(), ""
                try:
                    compile(int(line))
                except Exception as caught:
                    error = f"{type(caught).__name__}: {caught}"[:2000]
                out.write(json.dumps([error, time.monotonic() - begin]) + "\n")
                out.flush()
        status = 0
    finally:
        os._exit(status)


def _end(worker):
    _, status = os.waitpid(worker["pid"], 0)
    if os.WIFSIGNALED(status):
        return f"was ended by signal {os.WTERMSIG(status)}"
    return f"ended with exit code {os.WEXITSTATUS(status)}"


def _close(worker):
    for end in ("requests", "results"):
        try:
            worker[end].close()
        except OSError:
            pass


def _interval(values):
    """The middle of the sorted values that holds their median at about 95 % (order statistics)."""
    values = sorted(values)
    if len(values) < 6:
        return values[0], values[-1]
    cut = int(max(0, len(values) / 2 - 0.98 * len(values) ** 0.5))
    return values[cut], values[-1 - cut]


def _in_turns(indices, rounds):
    """The order of each round: some order and then its reverse, so that each goes first as often and has all others as
    neighbours: what one leaves behind meets all alike."""
    order = list(indices)
    for round_ in range(rounds):
        if round_ % 2 == 0 and len(order) > 2:
            random.Random(round_).shuffle(order)
        yield order[:] if round_ % 2 == 0 else order[::-1]


def search(configs, compiler, measurer, *, policy="bayesian", seed=0, budget=None, ahead=None, on_trial=None):
    """The best of `configs`, dicts of names and values.

    compiler: `start(index)`, `ready(wait)`, `pending()`, as ProcessCompiler has them. measurer: `warm(index)` makes the
    configuration ready to be timed and raises Failed where it cannot run; `batch(indices, rounds)` times each of them once
    a round, in turns, and returns {index: [milliseconds, ...]}. policy: a name of `policies()`, or "in order".
    budget: configurations to try; None: all of up to 100, else the greater of 100 and half of them. ahead: how many are
    compiled ahead of what is measured. on_trial: called with each Measured. ValueError where none runs.
    """
    begin = time.monotonic()
    if budget is None:
        budget = len(configs) if len(configs) <= 100 else max(100, len(configs) // 2)
    budget = min(budget, len(configs))
    if budget < 1:
        raise ValueError(f"no configuration to try: {len(configs)} configurations, budget {budget}; give at least one")
    return _search(searcher(configs, policy, seed, budget), compiler, measurer, budget, ahead, on_trial, begin=begin)


def _search(search_, compiler, measurer, budget, ahead=None, on_trial=None, *, begin=None, stop=lambda: False, order=None,
            equal=_EQUAL):  # fmt: skip
    """The loop of `search`, for a searcher of any kind: `ask(n)` returns at most n numbers of configurations, [] when there are none now and None at
    the end; `tell(index, ms or None, reason)`. begin: since when the seconds count. stop: asked before each configuration; True ends the search and
    leaves what is being compiled. order: a key of the fixed order in which equals stand; left out, their numbers. equal: what is that near the best is equal to it."""
    begin = time.monotonic() if begin is None else begin
    ahead = ahead or 2 * getattr(compiler, "_jobs", 4)
    trials, known, ready = [], {}, deque()
    best, asked, exhausted, building = None, 0, False, {}
    # The least that each may be, and the best's, in times of the first: by ends of intervals, since medians of what was once
    # faster than the best, again and again, fall by themselves.
    bounds, least = {}, 1.0

    def told(trial):
        trials.append(trial)
        known[trial.index] = trial
        search_.tell(trial.index, None if trial.ms is None else trial.ms, trial.reason)
        if on_trial is not None:
            on_trial(trial)

    while not stop():
        room = min(ahead - compiler.pending() - len(ready), budget - asked)
        if room > 0 and not exhausted:
            given = search_.ask(room)
            exhausted = given is None
            for index in given or []:
                asked += 1
                compiler.start(index)
        if not ready and not compiler.pending():
            if exhausted or asked >= budget or not given:
                break
            continue
        for index, error, seconds in compiler.ready(wait=not ready):
            building[index] = seconds
            if error:
                told(Measured(index, reason=error, building=seconds))
            else:
                ready.append(index)
        if not ready:
            continue
        index = ready.popleft()
        trial, before = Measured(index, building=building[index]), best
        started = time.monotonic()
        try:
            measurer.warm(index)
            best = _measure(trial, best, known, measurer)
            scale = trial.ms if before is None else known[before].ms
            bounds[index] = least * trial.low / scale
            if best == index and before is not None:
                least *= min(1.0, trial.high / scale)
        except Failed as failed:
            trial.ms, trial.reason = None, str(failed)
        trial.measuring = time.monotonic() - started
        told(trial)
    if best is None:
        reasons = "; ".join(dict.fromkeys(t.reason for t in trials))[:1000]
        raise ValueError(f"none of {len(trials)} configurations runs: {reasons}")
    near = sorted((index for index in bounds if bounds[index] <= _NEAR * least and index != best), key=bounds.get)
    return Outcome(_final(best, near, known, measurer, order, equal), trials, time.monotonic() - begin)


def _measure(trial, best, known, measurer):
    """Times it in turns with the best, whose position is returned, as it is then."""
    if best is None:
        samples = measurer.batch([trial.index], 10)[trial.index]
        trial.ms = statistics.median(samples)
        trial.low, trial.high = _interval(samples)
        return trial.index
    ratios = []
    while True:
        samples = measurer.batch([best, trial.index], 3)
        ratios += [ours / theirs for ours, theirs in zip(samples[trial.index], samples[best])]
        low, high = _interval(ratios)
        if min(ratios) > _CLEARLY or len(ratios) >= 21:
            break
        if len(ratios) >= 9 and (low > 1 or high < 1):
            break
    trial.pairs = len(ratios)
    scale = known[best].ms
    ratio = statistics.median(ratios)
    trial.ms, trial.low, trial.high = scale * ratio, scale * low, scale * high
    return trial.index if ratio < 1 and (high < 1 or len(ratios) >= 21) else best


def _ratio(ours, theirs):
    """Of two lists of times, taken in the same rounds: the mean of their ratios without the outer fifths, and its standard
    error (Yuen's)."""
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    count, cut = len(ratios), len(ratios) // 5
    kept = ratios[cut : count - cut]
    low, high = kept[0], kept[-1]
    spread = statistics.stdev(min(max(ratio, low), high) for ratio in ratios)
    return statistics.fmean(kept), spread / ((1 - 2 * cut / count) * count**0.5)


def _final(best, near, known, measurer, order=None, within=_EQUAL):
    """The first in the list (by `order`, where it is given) of those that are equal to the best: no slower than the fastest by more than `within`. near: those
    that may be, besides `best`, the likeliest first.

    All that may be are timed in turns, a few rounds at a time. Left out is what is surely slower, and what stands behind one
    that is surely equal and is not faster than the best itself; so the rounds go to those on which the answer depends. That
    ends when it is known, or at a limit, 0.3 s for kernels of 50 us; then what was seen so far decides.
    """
    if len(near) > _FINALISTS:  # half for the least time, the others for the first place
        near = near[: _FINALISTS // 2] + sorted(near[_FINALISTS // 2 :], key=order)[: _FINALISTS // 2]
    alive = sorted({best, *near}, key=order)
    place = {index: i for i, index in enumerate(alive)}
    if len(alive) == 1:
        return best
    samples = {index: [] for index in alive}
    rounds = launches = 0
    most = max(_FINAL_LEAST, min(_FINAL_LAUNCHES, int(_FINAL_MS / (_BESIDE_MS + known[best].ms))))
    while True:
        now = 10 if rounds else max(6, min(20, most // len(alive)))  # few do not tell their spread
        for index, times in measurer.batch(alive, now).items():
            samples[index] += times
        rounds, launches = rounds + now, launches + now * len(alive)
        least = min(alive, key=lambda index: _ratio(samples[index], samples[alive[0]])[0])
        ratios = {index: (1.0, 0.0) if index == least else _ratio(samples[index], samples[least]) for index in alive}
        equal = next(index for index, (ratio, error) in ratios.items() if ratio + 3 * error <= within)  # at the latest the least
        left = [index for index, (ratio, error) in ratios.items()
                if index in (least, equal) or (ratio - 3 * error <= within and (place[index] < place[equal] or ratio - 2 * error < 0.998))]  # fmt: skip
        if set(left) == {least, equal} or rounds >= _FINAL_ROUNDS or launches >= most:
            break
        alive = left
    scale = statistics.median(samples[least])
    for index, times in samples.items():
        ratio, error = ratios[least] if index == least else _ratio(times, samples[least])
        known[index].ms, known[index].low, known[index].high = (scale * (ratio + k * error) for k in (0, -2, 2))
    known[least].low, known[least].high = _interval(samples[least])
    return next(index for index in alive if ratios[index][0] <= within)


# ---------------------------------------------------------------------------------------------- files of others


def _fields(config):
    """What tells a configuration of Triton from others, as a dict."""
    return config if isinstance(config, dict) else config.all_kwargs()


def write_autotune_json(path, key, timings, winner=None):
    """Triton's own file of results: `timings` maps triton.Config to [median, low, high] in milliseconds. Triton takes the
    configuration of the least median; `winner`, where it is given, stands beside and is for us."""
    listed = [(config.__dict__, times) for config, times in timings.items() if not config.pre_hook]
    text = {"key": key, "configs_timings": listed}
    if winner is not None:
        text["kernelsearch_winner"] = winner.__dict__
    _replace(path, json.dumps(text))


def read_autotune_json(path):
    """The key, a list of (config, [median, low, high]) and the winner's config of such a file. A config is a dict: `kwargs`,
    `num_warps`, `num_stages`, ... Times of failed ones are infinite. A ValueError says what is wrong with a file that is
    damaged, of something else, or without any configuration that has a time."""
    try:
        text = json.loads(pathlib.Path(path).read_text())
        timings = [(config, times) for config, times in text["configs_timings"]]
        key, winner = text["key"], text.get("kernelsearch_winner")
        timed = [entry for entry in timings if _is_timed(entry)]
    except (UnicodeDecodeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is no file of Triton's autotuner, or is damaged ({error!r}): remove it") from error
    if not timed:
        raise ValueError(f"{path} has no configuration with a time: remove it")
    if winner is None:
        winner = min(timed, key=lambda entry: entry[1])[0]
    elif not isinstance(winner, dict):
        raise ValueError(f"{path} names no configuration as the winner: remove it")
    return key, timings, winner


def _is_timed(entry):
    """Whether that configuration of a file ran: it is a dict, and its times are numbers, the first of them finite."""
    config, times = entry
    listed = times if isinstance(times, list) else [times]
    if not isinstance(config, dict) or not listed or not all(isinstance(time, (int, float)) for time in listed):
        raise ValueError("an entry is no configuration with its times")
    return math.isfinite(listed[0])


def _kept_index(path, configs):
    """The place of what such a file says is best; None, with a warning, where it is damaged or of other configurations: then
    it is as if there were none, rather than an error of every launch."""
    try:
        winner = read_autotune_json(path)[2]
        index = next((i for i, c in enumerate(configs) if _same(c, winner)), None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        warnings.warn(f"what was kept is not used: {error}", stacklevel=2)
        return None
    if index is None:
        warnings.warn(f"what was kept is not used: {path} is of other configurations", stacklevel=2)
    return index


def write_vllm_json(path, configs, triton_version=None):
    """The file in which vLLM keeps the configurations of its fused kernels: `configs` maps a batch size (int) to a dict or a
    triton.Config."""
    text = {} if triton_version is None else {"triton_version": triton_version}
    for size in sorted(configs):
        fields = {k: v for k, v in _fields(configs[size]).items() if v is not None and k not in ("num_ctas", "maxnreg")}
        text[str(size)] = fields
    _replace(path, json.dumps(text, indent=4) + "\n")


def read_vllm_json(path):
    """{batch size: dict} of such a file."""
    text = json.loads(pathlib.Path(path).read_text())
    return {int(size): fields for size, fields in text.items() if size != "triton_version"}


def write_recording(path, configs, outcome, kernel="kernel", device=""):
    """What was measured, for `kernelsearch compare` and `read_recording`: T4, whose name ends in `.t4.json`."""
    results = []
    for trial in sorted(outcome.trials, key=lambda t: t.index):
        results.append({
            "timestamp": "", "configuration": {k: v for k, v in _fields(configs[trial.index]).items() if v is not None},
            "objectives": ["time"], "invalidity": "correct" if trial.ms is not None else "runtime", "correctness": int(trial.ms is not None),
            "times": {"compilation_time": 1e3 * trial.building, "benchmark": 1e3 * trial.measuring,
                      "runtimes": [] if trial.ms is None else [trial.ms]},
            "measurements": [] if trial.ms is None else [{"name": "time", "value": trial.ms, "unit": "ms"}],
            **({} if trial.ms is not None else {"reason": trial.reason}),
        })  # fmt: skip
    text = {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds", "kernel": kernel, "device": device},
            "results": results}  # fmt: skip
    _replace(path, json.dumps(text, indent=1) + "\n")


def _replace(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    os.replace(beside, path)


def _folder():
    given = os.environ.get("KERNELSEARCH_TRITON_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(given or os.path.join(base, "kernelsearch", "triton"))


# ---------------------------------------------------------------------------------------------------- the decorator


class _Device:
    """Stands for Triton's driver in children, which must not touch the device: what compiling asks of it."""

    def __init__(self, device, target):
        self._device, self._target = device, target

    def get_current_device(self):
        return self._device

    def get_current_stream(self, device=None):
        return 0

    def get_current_target(self):
        return self._target


class _Timer:
    """Times launches on the device by its events, with its second-level cache emptied before each."""

    def __init__(self, tuner, args, kwargs, configs):
        from triton.runtime import driver

        self._tuner, self._args, self._kwargs, self._configs = tuner, args, kwargs, configs
        self._driver = driver.active
        self._interface = self._driver.get_device_interface()
        self._cache = self._driver.get_empty_cache_for_benchmark()

    def _launch(self, config, start=None, end=None):
        tuner, current = self._tuner, dict(self._kwargs, **config.all_kwargs())
        named = {**tuner.nargs, **current}
        if config.pre_hook:
            config.pre_hook(named)
        tuner.pre_hook(named)
        if start is not None:
            start.record()
        try:
            tuner.fn.run(*self._args, **current)
        except Exception as error:
            tuner.post_hook(named, exception=error)
            raise
        if end is not None:
            end.record()
        tuner.post_hook(named, exception=None)

    def warm(self, index):
        from triton.compiler.errors import CompileTimeAssertionFailure
        from triton.runtime.errors import OutOfResources, PTXASError

        config = self._configs[index]
        conflicts = self._kwargs.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"{', '.join(sorted(conflicts))}: given in the call and by the configurations; leave one out")
        try:
            self._launch(config)
            self._interface.synchronize()
        except (OutOfResources, PTXASError, CompileTimeAssertionFailure) as error:
            raise Failed(f"{type(error).__name__}: {error}") from error

    def batch(self, indices, rounds):
        return _launch_in_turns(self._driver, self._cache, indices, rounds, lambda index, start, end: self._launch(self._configs[index], start, end))


def _launch_in_turns(driver, cache, indices, rounds, launch):
    """The milliseconds of each launch, {index: [...]}: `launch(index, start, end)` launches between its two events; `cache` is what the driver of
    Triton empties the second-level cache with before each."""
    interface = driver.get_device_interface()
    events = {index: [] for index in indices}
    for order in list(_in_turns(indices, rounds)):
        for index in order:
            start, end = (interface.Event(enable_timing=True) for _ in range(2))
            driver.clear_cache(cache)
            launch(index, start, end)
            events[index].append((start, end))
    interface.synchronize()
    return {index: [start.elapsed_time(end) for start, end in pairs] for index, pairs in events.items()}


def _expand(space):
    import triton

    options = ("num_warps", "num_stages", "num_ctas", "maxnreg")
    configs = []
    for values in itertools.product(*space.values()):
        fields = dict(zip(space, values))
        configs.append(triton.Config({k: v for k, v in fields.items() if k not in options},
                                     **{k: v for k, v in fields.items() if k in options}))  # fmt: skip
        if len(configs) > 100_000:
            raise ValueError("the space has over 100000 configurations; give a list of those that are sensible")
    return configs


_class = None


def _autotuner_class():
    """Defined when it is first used, since Triton takes a second to import."""
    global _class
    if _class is not None:
        return _class
    import triton
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    class KernelsearchAutotuner(Autotuner):
        def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, *, policy, budget, seed, jobs, keep, record,
                     measurer, compiler, **others):  # fmt: skip
            super().__init__(fn, arg_names, configs, key, reset_to_zero, restore_value, **others)
            self._how = {"policy": policy, "budget": budget, "seed": seed}
            self._jobs, self._keep, self._record = jobs, keep, record
            self._measurer, self._compiler = measurer, compiler
            self.outcome = None  # of the last search

        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            try:
                config = self.configs[0] if len(self.configs) == 1 else self._config_for(args, kwargs)
                self.best_config = config
                if config.pre_hook is not None:
                    config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
                return self.fn.run(*args, **kwargs, **config.all_kwargs())
            finally:
                self.nargs = None

        def _config_for(self, args, kwargs):
            named = {k: v for k, v in {**self.nargs, **kwargs}.items() if k in self.arg_names}
            key = tuple([named[k] for k in self.keys if k in named] + [str(v.dtype) for v in named.values() if hasattr(v, "dtype")])
            if key in self.cache:
                return self.cache[key]
            configs = list(self.prune_configs(kwargs))
            path = self._path(key, configs)
            if path is not None and path.exists():
                index = _kept_index(path, configs)
                if index is not None:
                    self.cache[key] = configs[index]
                    return configs[index]

            self.outcome = None

            began = []

            def benchmark():
                began.append(True)
                begin = time.monotonic()
                self.outcome = self._search(args, kwargs, configs)
                self.bench_time = time.monotonic() - begin
                self.cache[key] = configs[self.outcome.best]
                self.configs_timings = self.outcome.timings(configs)
                self.pre_hook({**self.nargs, **kwargs, **self.cache[key].all_kwargs()}, reset_only=True)

            if self.cache_results:  # Triton's own file of results, read and written as Triton does
                try:
                    self.check_disk_cache(key, configs, benchmark)
                except Exception as error:
                    if began:  # the search's own
                        raise
                    warnings.warn(f"Triton's file of results is not used: {error!r}", stacklevel=2)
                if not began and not self._usable(key, configs):
                    benchmark()
            else:
                benchmark()
            if path is not None and self.outcome is not None:
                write_autotune_json(path, key, self.configs_timings, self.cache[key])
            if self._record is not None and self.outcome is not None:
                write_recording(self._record, configs, self.outcome, self.base_fn.__name__, _device_name())
            if triton.knobs.autotuning.print and self.outcome is not None:
                print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                      f"finished after {self.bench_time:.2f}s,\nbest config selected: {self.cache[key]};")  # fmt: skip
            return self.cache[key]

        def _usable(self, key, configs):
            """Whether what Triton's file said is one of the configurations, and ran."""
            config = self.cache.get(key)
            if config is None:
                return False
            times = (getattr(self, "configs_timings", None) or {}).get(config)
            first = times[0] if isinstance(times, (list, tuple)) and times else times
            fine = any(_same(c, config.__dict__) for c in configs) and (first is None or math.isfinite(first))
            if not fine:
                warnings.warn("Triton's file of results is not used: it is of other configurations, or of none that ran",
                              stacklevel=2)  # fmt: skip
            return fine

        def _path(self, key, configs):
            if not self._keep or any(config.pre_hook for config in configs):
                return None  # a hook is no content that can be compared
            fn = self.fn
            while not isinstance(fn, JITFunction):
                fn = fn.fn
            content = json.dumps([1, fn.cache_key, triton.__version__, str(driver.active.get_current_target()), _device_name(),
                                  [str(part) for part in key], [str(config) for config in configs]])  # fmt: skip
            digest = hashlib.sha256(content.encode()).hexdigest()
            folder = _folder() if self._keep is True else pathlib.Path(self._keep)
            return folder / f"{fn.__name__[:100]}-{digest[:32]}.autotune.json"

        def _search(self, args, kwargs, configs):
            measurer = self._measurer or _Timer
            compiler = self._compiler
            own = compiler is None
            if own:
                stand_in = _Device(driver.active.get_current_device(), driver.active.get_current_target())

                def prepare():
                    driver.set_active(stand_in)

                def compile(index):
                    self.fn.run(*args, **dict(kwargs, warmup=True), **configs[index].all_kwargs())

                compiler = ProcessCompiler(compile, self._jobs, prepare)
            try:
                plain = [{k: v for k, v in config.all_kwargs().items() if v is not None} for config in configs]
                return search(plain, compiler, measurer(self, args, kwargs, configs), **self._how)
            finally:
                if own:
                    compiler.close()

    _class = KernelsearchAutotuner
    return _class


def _same(config, fields):
    return all(getattr(config, name, None) == fields.get(name) for name in ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg"))


def _device_name():
    from triton.runtime import driver

    try:
        return str(driver.active.get_device_interface().get_device_name())
    except Exception:  # a driver without names: its target stands in the key as well
        return ""


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
             warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False, *, policy="bayesian", budget=None,
             seed=0, jobs=None, keep=True, record=None, measurer=None, compiler=None):  # fmt: skip
    """Decorates a function of `triton.jit`, as `triton.autotune` does and with its arguments.

    configs: list of triton.Config, or a dict of names and values, all combinations of which are tried; `num_warps`,
        `num_stages`, `num_ctas` and `maxnreg` among the names are Triton's. key, prune_configs_by, reset_to_zero,
        restore_value, pre_hook, post_hook: as Triton has them; hooks are called around each launch and not timed.
    cache_results: also read and write Triton's own file of results.
    warmup, rep, use_cuda_graph, do_bench: ValueError; pairs decide how long is measured.
    policy, seed, budget: see `search`. jobs: processes that compile; None: one less than there are processors.
    keep: results by content (the kernel's source, the key's values, the device, Triton's version, the configurations) in
        $KERNELSEARCH_TRITON_CACHE, else ~/.cache/kernelsearch/triton; a path: there; False: nowhere.
    record: a file whose name ends in `.t4.json` for what was measured. measurer, compiler: others than the device's timer,
        called as `measurer(autotuner, args, kwargs, configs)`, and ProcessCompiler.
    """
    for name, value in (("warmup", warmup), ("rep", rep), ("use_cuda_graph", use_cuda_graph or None), ("do_bench", do_bench)):
        if value is not None:
            raise ValueError(f"{name} = {value!r}: configurations are timed in pairs with the best, which decide how long; leave it out")
    if isinstance(configs, dict):
        configs = _expand(configs)

    def decorator(fn):
        return _autotuner_class()(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
            prune_configs_by=prune_configs_by, cache_results=cache_results, policy=policy, budget=budget, seed=seed, jobs=jobs, keep=keep,
            record=record, measurer=measurer, compiler=compiler)  # fmt: skip

    return decorator
