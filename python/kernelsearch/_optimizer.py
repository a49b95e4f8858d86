# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ask and tell, and loops around them."""
from __future__ import annotations

from threading import Lock
from time import perf_counter

from ._kernelsearch import ConfigError, Recording, Search, Space, Trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any, Awaitable, Callable, Iterable, Mapping, Protocol, overload

    import numpy
    import pandas

    class Policy(Protocol):
        """A search policy in Python."""

        def ask(self, n: int) -> Iterable[Mapping[str, Any]]: ...

        def tell(self, trials: list[Trial]) -> None: ...


_short = {
    "generate": "not_generated",
    "reject": "rejected",
    "compile": "build_failed",
    "build": "build_failed",
    "launch": "launch_failed",
    "crash": "crashed",
    "timeout": "timed_out",
    "wrong": "wrong_result",
    "cheat": "cheated",
}


_verdicts = ("not_generated", "rejected", "build_failed", "launch_failed", "crashed", "timed_out", "wrong_result", "cheated")


class Failed(Exception):
    """What a trial came to that has no value: told, returned by the function that is minimised, or raised by it.

    `verdict`: not_generated, rejected, build_failed, launch_failed, crashed, timed_out, wrong_result or cheated, or for short
    compile, launch, crash, timeout, wrong. `reason`: in words. `correct_fraction`: of a wrong result, the share in [0, 1] of
    outputs that were right."""

    def __init__(self, verdict: str = "crashed", reason: str = "", correct_fraction: float = 0.0):
        super().__init__(verdict, reason, correct_fraction)
        self.verdict = _short.get(verdict, verdict)
        if self.verdict not in _verdicts:
            raise ConfigError(f"kernelsearch: no failure of that name: {verdict!r}; there are {', '.join(_verdicts)}, and for short {', '.join(_short)}")
        self.reason = reason
        self.correct_fraction = correct_fraction

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


def _as_space(space: Space | Mapping[str, Iterable[Any]]) -> Space:
    return Space(space) if isinstance(space, dict) else space


def _whole(value, name, least=0, optional=True):
    """A count or seed as an int: what is no whole number is said by its name, and not by the extension's signatures."""
    if value is None and optional:
        return None
    try:
        number = value.__index__()  # NumPy's too, but no bool
    except AttributeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"kernelsearch: {name} is a whole number{' or None' if optional else ''}, not {value!r}")
    if least is not None and number < least:
        raise ValueError(f"kernelsearch: {name} is {number}; give {least} or more")
    return number


class Optimizer(Search):
    """Searches a space for the configuration with the lowest value.

    `space`: a Space, or a dict of names and values. `policy`: a name of `policies()`, with
    options where some are given (`genetic(population=40)`); a class or function called as `policy(space, seed, **options)`
    whose result has `ask(n)` and `tell(trials)`; or such an object. `seed`: of every random choice; the same calls then give the same proposals, here and in C++. `budget`: how many trials there will be, for policies
    that plan ahead (it ends nothing). `earlier`: recordings to learn from, with the tunables of this space. `try_default`:
    whether a default that the space declares is worth proposing first. Options of the policy (`policy_options(name)`) are
    keywords, or a dict in `options`. `objectives`: what is minimized or maximized, as text (`"time; maximize accuracy"`,
    docs/objectives.md); results are then dicts with the features that they read, `time` among them, or a time and such a dict.

    Optimizers of a policy that is named can be pickled, copied and saved (`save`).

    Any thread may ask and tell; calls wait for each other, and other threads of Python go on meanwhile."""

    def __init__(
        self,
        space: Space | Mapping[str, Iterable[Any]],
        policy: str | Callable[..., Policy] | Policy = "bayesian",
        seed: int = 0,
        *,
        budget: int | None = None,
        earlier: Iterable[Recording] = (),
        try_default: bool = True,
        options: Mapping[str, Any] | None = None,
        objectives: str = "",
        **more: Any,
    ):
        given = {**(dict(options) if options else {}), **more}
        seed, budget, earlier = _whole(seed, "seed", optional=False), _whole(budget, "budget"), list(earlier)
        super().__init__(_as_space(space), policy, seed, budget, earlier, try_default, given, objectives)
        self._made = {"policy": policy, "seed": seed, "budget": budget, "try_default": try_default, "options": given, "objectives": objectives}
        self._earlier = len(earlier)
        self._log: list[list[Any]] = []
        self._turn = Lock()

    # Each call is kept with its place among the others: a search that is loaded makes the same calls again.
    def ask_one(self) -> Trial | None:
        with self._turn:
            self._log.append(["ask", 1])
            return super().ask_one()

    def ask_many(self, n: int) -> list[Trial]:
        n = _whole(n, "n", optional=False)
        with self._turn:
            self._log.append(["ask", n])
            return super().ask_many(n)

    def tell(self, trial: Trial | int, result: object, features: dict[str, float] = {}) -> Trial:
        with self._turn:
            told = super().tell(trial, result, features)
            self._log.append(["tell", told.number, *_outcome(told, result)])
        return told

    def add(self, config: Mapping[str, object], result: object, features: dict[str, float] = {}) -> Trial:
        with self._turn:
            told = super().add(config, result, features)
            self._log.append(["add", told.config, *_outcome(told, result)])
        return told

    def revise(self, trial: Trial, result: object, features: dict[str, float] = {}) -> Trial:
        with self._turn:
            told = super().revise(trial, result, features)
            self._log.append(["revise", next(i for i, one in enumerate(self.trials) if one is told), *_outcome(told, result)])
        return told

    def __getstate__(self) -> dict[str, Any]:
        if not isinstance(self._made["policy"], str):
            raise TypeError("kernelsearch: an optimizer whose policy is an object of Python cannot be saved; name a policy, or keep its trials and add() them")
        if self._earlier:
            raise TypeError("kernelsearch: an optimizer that learned from recordings cannot be saved; keep its trials and add() them to one with the same recordings")
        with self._turn:
            return {"space": self.space, "made": dict(self._made), "log": list(self._log)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["space"], **state["made"])
        self._replay(state["log"])

    def __reduce__(self):
        return _restored, (self.__getstate__(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Optimizer:
        return _restored(self.__getstate__())

    def _replay(self, log) -> None:
        """Makes the calls of the log again."""
        for kind, which, *outcome in log:
            if kind == "ask":
                self.ask_many(which)
                continue
            result, features = _result(outcome)
            if kind == "tell":
                self.tell(which, result, features)
            elif kind == "add":
                self.add(which, result, features)
            else:
                self.revise(self.trials[which], result, features)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the search to a file of JSON, with what is pending: its space, policy, seed, and each call in order. The file is
        replaced only once it is whole. TypeError where the policy is an object of Python; constraints that are functions are a ConfigError."""
        import json
        import os

        state = self.__getstate__()
        if any(not isinstance(one, str) for one in self.space.__getstate__()[1]):
            raise ConfigError("kernelsearch: a space with a constraint that is a function cannot be saved: " + ", ".join(self.space.constraints) + "; write it as an expression")
        values, constraints, defaults, active_if, roles, max_states = self.space.__getstate__()
        text = json.dumps({
            "kernelsearch_search": 1, "space": [values, constraints, defaults, active_if, roles, max_states], "made": state["made"], "log": state["log"]})
        beside = f"{os.fspath(path)}.{os.getpid()}.part"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Optimizer:
        """The search that save() wrote, which goes on as if it had never ended: it asks the policy again what it was asked, and tells
        what it was told. ConfigError for any other file."""
        import json

        def order(value):
            return tuple(value) if isinstance(value, list) else value

        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            state = json.loads(text)
            if state["kernelsearch_search"] != 1:
                raise ValueError("version")
            values, constraints, defaults, active_if, roles, max_states = state["space"]
            space = Space(
                {name: [order(value) for value in its] for name, its in values.items()}, constraints,
                defaults={name: order(value) for name, value in defaults.items()}, active_if=active_if, roles=roles, max_states=max_states)
            log = [[kind, {name: order(value) for name, value in which.items()} if kind == "add" else which, *more] for kind, which, *more in state["log"]]
            made = state["made"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"kernelsearch: no saved search: {path}; name a file that Optimizer.save wrote") from None
        return _restored({"space": space, "made": made, "log": log}, cls)

    if TYPE_CHECKING:

        @overload
        def ask(self) -> Trial | None: ...

        @overload
        def ask(self, n: int) -> list[Trial]: ...

    else:

        def ask(self, n=None):
            """The next trial, or None; with `n` a list of at most n. None or an empty list means not now: tell what is pending, and
            ask again; with nothing pending the space is exhausted (`ended`). What is pending is never proposed again."""
            return self.ask_one() if n is None else self.ask_many(n)

    def minimize(
        self,
        f: Callable[[dict[str, Any]], Any],
        trials: int | None = None,
        *,
        seconds: float | None = None,
        target: float | None = None,
        patience: int | None = None,
        repeats: int = 1,
        workers: int = 1,
        on_error: str = "raise",
        callback: Callable[[Trial], Any] | None = None,
    ) -> Result:
        """Calls `f(config)` until a limit is reached and tells what it returns.

        f returns a number, lower is better, a tuple of it and a dict of features, or a Failed; it may raise a Failed. Other
        exceptions end the search (on_error="raise"; what was told stays) or are failures with their text (on_error="fail").
        `trials`: of this call. `seconds`: of wall time, after which no trial begins. `target`: ends with a value at or below it.
        `patience`: ends after so many trials in a row without a new best. `repeats`: calls of f for each trial, of which the
        median is told. `workers`: threads that call f; above 1 the sequence depends on which ends first. `callback`: hears of
        each trial, and ends the search by returning True."""
        _check_error(on_error)
        limits = _Limits(self, trials, seconds, target, patience, callback)
        if workers > 1:
            self._minimize_in_threads(f, limits, repeats, workers, on_error)
        else:
            while limits.go_on():
                trial = self.ask_one()
                if trial is None:
                    limits.exhausted()
                    break
                limits.begun += 1
                limits.tell(trial, *_evaluate(f, trial.config, repeats, on_error))
        return Result(self, limits.reason, limits.seconds())

    def _minimize_in_threads(self, f, limits, repeats, workers, on_error):
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        running = {}
        with ThreadPoolExecutor(workers) as pool:
            try:
                while True:
                    while len(running) < workers and limits.go_on():
                        trial = self.ask_one()
                        if trial is None:
                            if not running:
                                limits.exhausted()
                            break
                        limits.begun += 1
                        running[pool.submit(_evaluate, f, trial.config, repeats, on_error)] = trial
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        limits.tell(running.pop(future), *future.result())
            except BaseException:
                for future in running:
                    future.cancel()
                raise

    async def minimize_async(
        self,
        f: Callable[[dict[str, Any]], Any | Awaitable[Any]],
        trials: int | None = None,
        *,
        parallel: int = 1,
        seconds: float | None = None,
        target: float | None = None,
        patience: int | None = None,
        repeats: int = 1,
        on_error: str = "raise",
        callback: Callable[[Trial], Any] | None = None,
    ) -> Result:
        """As `minimize`, inside an event loop: `parallel` calls of f at a time. A coroutine function is awaited; another one runs
        in a thread of the loop's. The policy thinks in a thread too, so that the loop goes on. Cancelling it cancels the
        calls; what was told stays."""
        import asyncio
        import inspect

        _check_error(on_error)
        limits = _Limits(self, trials, seconds, target, patience, callback)
        is_coroutine = inspect.iscoroutinefunction(f) or inspect.iscoroutinefunction(getattr(f, "__call__", None))

        async def call(config):
            value = f(config) if is_coroutine else await asyncio.to_thread(f, config)
            return await value if inspect.isawaitable(value) else value

        async def evaluate(config):
            results = []
            for _ in range(repeats):
                try:
                    results.append(await call(config))
                except Exception as error:  # noqa: BLE001
                    results.append(_failure(error, on_error))
                if not _is_value(results[-1]):
                    break
            return _together(results)

        running = {}
        try:
            while True:
                while len(running) < parallel and limits.go_on():
                    trial = await asyncio.to_thread(self.ask_one)
                    if trial is None:
                        if not running:
                            limits.exhausted()
                        break
                    limits.begun += 1
                    running[asyncio.ensure_future(evaluate(trial.config))] = trial
                if not running:
                    return Result(self, limits.reason, limits.seconds())
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    limits.tell(running.pop(task), *task.result())
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.gather(*running, return_exceptions=True)

    def __repr__(self) -> str:
        return f"<Optimizer of {self.space!r}, {len(self)} trials, {len(self.pending)} pending>"


def _restored(state, cls=None):
    optimizer = (cls or Optimizer)(state["space"], **state["made"])
    optimizer._replay(state["log"])
    return optimizer


def _outcome(trial, result):
    """What a log keeps of a result: the value or time, the features, or the failure."""
    features = {name: value for name, value in trial.features.items() if not name.startswith("objective.")}
    if not trial.ok:
        return [None, features, trial.verdict, trial.reason, getattr(result, "correct_fraction", 0.0)]
    if isinstance(result, dict):
        return ["named", features]
    return [float(result), features]


def _result(outcome):
    """The result and the features that _outcome kept."""
    first, features, *failure = outcome
    if failure:
        return Failed(*failure), features
    return (features, {}) if first == "named" else (first, features)


def minimize(
    f: Callable[[dict[str, Any]], Any],
    space: Space | Mapping[str, Iterable[Any]],
    trials: int | None = None,
    *,
    policy: str | Callable[..., Policy] | Policy = "bayesian",
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    earlier: Iterable[Recording] = (),
    objectives: str = "",
    seconds: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    repeats: int = 1,
    workers: int = 1,
    on_error: str = "raise",
    callback: Callable[[Trial], Any] | None = None,
) -> Result:
    """The configuration of `space` with the lowest `f(config)`: an Optimizer that knows its budget, and its `minimize` with the
    other keywords."""
    _check_limits(trials, seconds)
    optimizer = Optimizer(space, policy, seed, budget=trials, options=options, earlier=earlier, objectives=objectives)
    return optimizer.minimize(
        f, trials, seconds=seconds, target=target, patience=patience, repeats=repeats, workers=workers, on_error=on_error, callback=callback)


class Result:
    """What a search came to: `best`, `trials`, why it ended (`reason`) and the wall time in `seconds`."""

    def __init__(self, optimizer: Optimizer, reason: str, seconds: float):
        self.optimizer = optimizer
        self.reason = reason
        self.seconds = seconds

    @property
    def best(self) -> Trial | None:
        """The trial with the lowest value; None: all failed."""
        return self.optimizer.best

    @property
    def trials(self) -> list[Trial]:
        """All that the optimizer was told, in order."""
        return self.optimizer.trials

    @property
    def front(self) -> list[Trial]:
        """The right trials that no other one beats in all objectives."""
        return self.optimizer.front

    def to_numpy(self) -> dict[str, numpy.ndarray]:
        """`value` (float64, NaN where it failed), `best` (the lowest so far, NaN: none), `positions` (uint32, of shape
        (trials, tunables))."""
        from ._frames import result_arrays

        return result_arrays(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each trial: its number, the tunables, value, best so far, verdict, reason, features."""
        from ._frames import result_frame

        return result_frame(self)

    def recording(self, name: str, kernel: str = "", device: str = "") -> Recording:
        """The trials as a recording, where values are seconds: to write, to learn from, to compare policies on."""
        return Recording.of(name, self.optimizer.space, self.trials, kernel, device)

    def _repr_html_(self) -> str:
        """For notebooks: what was best, in a table."""
        from html import escape

        failed = sum(not trial.ok for trial in self.trials)
        rows = [("trials", f"{len(self.trials)}, {failed} failed"), ("ended", self.reason), ("seconds", f"{self.seconds:.3g}")]
        if self.best is not None:
            rows += [("best value", f"{self.best.value:.6g}"), *((name, str(value)) for name, value in self.best.config.items())]
        return "<table>" + "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows) + "</table>"

    def __repr__(self) -> str:
        return f"<Result: {len(self.trials)} trials, {self.reason}, best {self.best!r}>"


class _Limits:
    """When a search ends, for loops of every kind."""

    def __init__(self, optimizer, trials, seconds, target, patience, callback):
        _check_limits(trials, seconds)
        self.optimizer, self.most, self.most_seconds = optimizer, trials, seconds
        self.target, self.patience, self.callback = target, patience, callback
        self.begun, self.idle, self.reason = 0, 0, ""
        self.start = perf_counter()

    def seconds(self) -> float:
        return perf_counter() - self.start

    def go_on(self) -> bool:
        """Whether another trial may begin."""
        if not self.reason:
            if self.most is not None and self.begun >= self.most:
                self.reason = "the trial budget is spent"
            elif self.most_seconds is not None and self.seconds() >= self.most_seconds:
                self.reason = "the time is spent"
        return not self.reason

    def exhausted(self) -> None:
        self.reason = self.reason or ("the space is exhausted" if self.optimizer.ended else "the policy has no more to propose now")

    def tell(self, trial, result, features) -> None:
        before = self.optimizer.best
        least = None if before is None else before.value
        self.optimizer.tell(trial, result, features)
        gained = trial.ok and (least is None or trial.value < least)
        self.idle = 0 if gained else self.idle + 1
        if self.callback is not None and self.callback(trial) is True:
            self.reason = self.reason or "the callback ended it"
        if self.target is not None and trial.ok and trial.value <= self.target:
            self.reason = self.reason or "the target is reached"
        if self.patience is not None and self.idle >= self.patience:
            self.reason = self.reason or f"no gain in {self.patience} trials"


def _check_limits(trials, seconds):
    _whole(trials, "trials", None)
    if trials is not None and trials < 0 or seconds is not None and seconds < 0:
        raise ValueError("kernelsearch: a limit below 0; give how many trials or seconds there are, or None")


def _check_error(on_error):
    if on_error not in ("raise", "fail"):
        raise ValueError(f"kernelsearch: on_error is {on_error!r}; give 'raise' or 'fail'")


def _is_value(result):
    return not isinstance(result, Failed)


def _failure(error, on_error):
    if isinstance(error, Failed):
        return error
    if on_error == "raise":
        raise error
    return Failed("crashed", f"{type(error).__name__}: {error}")


def _evaluate(f, config, repeats, on_error):
    results = []
    for _ in range(repeats):
        try:
            results.append(f(config))
        except Exception as error:  # noqa: BLE001
            results.append(_failure(error, on_error))
        if not _is_value(results[-1]):
            break
    return _together(results)


def _middle_of_dicts(results):
    """The median of each value by name."""
    from statistics import median

    return {name: median(one[name] for one in results) for name in results[-1]}


def _together(results):
    """The failure, or the median of the values; and the features of the last."""
    if not results:
        raise ValueError("kernelsearch: repeats is below 1; give how often f is called for each trial")
    features = {}
    values = []
    for result in results:
        if isinstance(result, tuple):
            if len(result) != 2 or not isinstance(result[1], dict):
                raise TypeError(
                    f"kernelsearch: a tuple is a value and a dict of features, not {result!r}; several values need objectives=\"NAME; NAME\" and a dict of them")
            result, features = result
        values.append(result)
    if not _is_value(values[-1]) or len(values) == 1 or isinstance(values[-1], dict):
        return _middle_of_dicts(values) if isinstance(values[-1], dict) else values[-1], features
    values.sort()
    middle = len(values) // 2
    return (values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2), features
