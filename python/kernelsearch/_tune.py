# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of problem folders: compiled, checked and timed as `kernelsearch tune` does."""
from __future__ import annotations

import json
import os

from . import _kernelsearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

    import pandas

    from ._optimizer import Policy


_WITHOUT_RUNS = (
    "kernelsearch: this package was built without runs of problem folders; build it with "
    "`pip install . --config-settings cmake.define.KERNELSEARCH_PYTHON_RUN=ON`, or install the wheel (docs/install.md)"
)


class TunedTrial:
    """A kernel that a run judged: `number`, `config`, `key`, `verdict`, `reason`; where it is right, `seconds` of a call with their
    95 % `interval`, and `speedup` over the reference with `speedup_interval` where it was measured; `features`."""

    __slots__ = ("number", "config", "key", "verdict", "reason", "seconds", "interval", "speedup", "speedup_interval", "features")

    def __init__(self, known: Mapping[str, Any]):
        for name in self.__slots__:
            if name != "config":
                setattr(self, name, known[name])
        self.config = _config(known["values"]) if "values" in known else known["config"]

    @property
    def ok(self) -> bool:
        """Whether it was right and timed."""
        return self.verdict == "ok"

    def __repr__(self) -> str:
        result = f"{self.seconds * 1e6:.4g} us" if self.ok else self.verdict
        return f"<TunedTrial {self.number}: {self.key} {result}>"


def _config(values):
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(values).items()}


class TuneResult:
    """What a run came to.

    `best`: the winner, or None. `no_improvement`: why it is none over the reference or the default; empty: it is one. `trials`: all,
    in order. `reason`: why the run ended; `stopped`: by a wish to stop. `run` and `store`: its number and file, to go on or to look
    at with the command. `files`: what was written, by what it is; `unwritten`: what could not be. `wall_seconds`: of the run."""

    def __init__(self, known: Mapping[str, Any]):
        self.run: int = known["run"]
        self.store: str = known["store"]
        self.problem: str = known["problem"]
        self.device: str = known["device"]
        self.reason: str = known["reason"]
        self.stopped: bool = known["stopped"]
        self.wall_seconds: float = known["wall_seconds"]
        self.no_improvement: str = known["no_improvement"]
        self.best: TunedTrial | None = None if known["best"] is None else TunedTrial(known["best"])
        self.trials: list[TunedTrial] = [TunedTrial(trial) for trial in known["trials"]]
        self.files: dict[str, str] = known["files"]
        self.unwritten: list[str] = known["unwritten"]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each trial: number, the tunables, seconds (NaN: failed), speedup, verdict, reason."""
        from ._frames import _pandas

        pandas = _pandas()
        rows = []
        for trial in self.trials:
            row = {"number": trial.number, **trial.config, "seconds": trial.seconds, "speedup": trial.speedup}
            rows.append({**row, "verdict": trial.verdict, "reason": trial.reason})
        frame = pandas.DataFrame(rows)
        for name in ("seconds", "speedup"):
            if name in frame:
                frame[name] = frame[name].astype(float)
        return frame

    def report_html(self) -> str:
        """The page of the run (docs/page.md): one HTML document that needs nothing else. StoreError where the store is gone."""
        return _kernelsearch.report_html(self.store, self.run)

    def _repr_html_(self) -> str:
        """The page, for notebooks: in a frame of its own, which may run its own script and reach nothing of the notebook's."""
        from html import escape

        return (
            f'<iframe sandbox="allow-scripts" title="{escape(repr(self))}" srcdoc="{escape(self.report_html())}" '
            'style="width: 100%; height: 720px; border: 1px solid #8888"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<TuneResult of {self.problem}, run {self.run}: {len(self.trials)} trials, {self.reason}, best {self.best!r}>"


def run_options() -> dict[str, dict[str, Any]]:
    """The options of a run by name, each as JSON Schema describes it: `type`, `description`, `default`, bounds, `enum`; `x-default` says
    in words what decides where it is left out."""
    listed = getattr(_kernelsearch, "run_options", None)
    if listed is None:
        raise ImportError(_WITHOUT_RUNS)
    return json.loads(listed())["properties"]


def tune(
    problem: str | os.PathLike[str],
    trials: int | None = None,
    *,
    budget: str | None = None,
    policy: str | Callable[..., Policy] | Policy = "bayesian",
    policy_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    resume: str | int = "",
    on_trial: Callable[[TunedTrial], Any] | None = None,
    on_message: Callable[[str], Any] | None = None,
    **options: Any,
) -> TuneResult:
    """Tunes the kernel of a problem folder: compiles candidates, checks each against the reference, times the right ones, compares the
    best few with each other in fresh processes, and keeps everything in the store of runs.

    `trials`, or `budget` as the command's (`200`, `30s`, `5m`, joined by commas, `all`); left out: 200 trials. `policy`: as of
    Optimizer. `resume`: the number or name of a stored run to go on with, or `latest`. `on_trial` hears of each trial, and stops
    the run by returning True; `on_message` of what else happens. Ctrl-C stops the run; what was told is in the store.

    `options`: those of `run_options()`, by name, with the meaning that `kernelsearch tune` gives them (docs/options.md); None: as left
    out. TypeError for an unknown name. ConfigError, DeviceError or StoreError as of the command."""
    run = getattr(_kernelsearch, "tune", None)
    if run is None:
        raise ImportError(_WITHOUT_RUNS)
    for name, variable in (("kernelsearch-worker", "KERNELSEARCH_WORKER"), ("kernelsearch-gpu-worker", "KERNELSEARCH_GPU_WORKER")):
        worker = os.path.join(os.path.dirname(__file__), "libexec", name)
        if os.path.exists(worker):
            os.environ.setdefault(variable, worker)
    if trials is not None:
        budget = f"{trials},{budget}" if budget else str(trials)
    if budget:
        options["budget"] = budget
    for name, value in options.items():
        if isinstance(value, os.PathLike):
            options[name] = os.fspath(value)
        elif isinstance(value, dict):
            options[name] = json.dumps(value)
    options["seed"] = seed
    hear = None if on_trial is None else lambda known: on_trial(TunedTrial(known))
    return TuneResult(run(os.fspath(problem), policy, dict(policy_options or {}), options, str(resume), hear, on_message))
