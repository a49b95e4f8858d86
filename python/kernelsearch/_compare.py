# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Policies against each other on recordings."""
from __future__ import annotations

from os import PathLike, fspath

from ._kernelsearch import ComparisonData, Recording, policies as known_policies, read_recording, run_comparison

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

    import pandas


def compare(
    recordings: Iterable[Recording | str | PathLike[str]],
    policies: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    repeats: int = 20,
    seed: int = 0,
    budget: int | None = None,
    recorded_seconds: float | None = None,
    in_flight: int = 1,
    strict: bool = False,
    declared_default: bool = False,
    threads: int = 0,
    folder: str | PathLike[str] = "",
    learn_from: Iterable[Recording] = (),
    progress: Callable[[int, int], Any] | None = None,
) -> Comparison:
    """Runs every policy on every recording `repeats` times, on `threads` cores (0: all), with the same seeds for all policies.

    `recordings`: recordings or their files. `policies`: names, with options where some are given
    (`genetic(population=40)`), or classes and functions called as `policy(space, seed)`; or a dict of a name and one of
    these, or a tuple of one and a dict of its options. Left out: all that there are but exhaustive.
    `budget`: evaluations of each run; left out, what is scored of the space, at least 200. `recorded_seconds`: ends runs by
    recorded time as well. `in_flight`: evaluations that a run has outstanding. `strict`: a policy that proposes again, leaves
    the space or ends early ends the comparison. `declared_default`: policies see the default that the space declares, else one
    drawn at random. `folder`: keeps finished runs, and goes on from there. `learn_from`: recordings that policies may learn
    from. `progress(finished, runs)` is called as runs end. Ctrl-C ends it.

    What it means: docs/comparing.md. ConfigError for options that do not fit, and for what a policy raises."""
    if isinstance(recordings, (str, PathLike, Recording)):
        recordings = [recordings]
    read = [r if isinstance(r, Recording) else read_recording(fspath(r)) for r in recordings]
    data = run_comparison(
        read,
        _contestants(policies),
        repeats,
        seed,
        budget,
        recorded_seconds,
        in_flight,
        strict,
        declared_default,
        threads,
        fspath(folder),
        learn_from,
        progress,
    )
    return Comparison(data)


def _contestants(policies):
    if policies is None:
        policies = [name for name in known_policies() if name != "exhaustive"]
    elif isinstance(policies, str):
        policies = [policies]
    contestants = {}
    if not hasattr(policies, "items"):
        policies = {p if isinstance(p, str) else getattr(p, "__name__", type(p).__name__): p for p in policies}
    for name, given in policies.items():
        policy, options = given if isinstance(given, tuple) else (given, {})
        if not isinstance(policy, (str, type)) and hasattr(policy, "ask"):
            raise TypeError(
                f"kernelsearch: the policy {name} is an object, but each run needs a fresh one; give its class, or a function that is "
                "called as policy(space, seed)"
            )
        contestants[name] = (policy, dict(options))
    return contestants


class Comparison:
    """What a comparison measured; the words are those of docs/comparing.md."""

    def __init__(self, data: ComparisonData):
        self._data = data
        self._runs: list[dict[str, Any]] | None = None

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Each run: space, policy, repeat, `evaluations` (numbers of the recording's trials, uint32), `value` and `best` (seconds
        of each and of the best so far, float64, NaN: failed, none yet), `seconds` (recorded, cumulative)."""
        if self._runs is None:
            self._runs = self._data.runs()
        return self._runs

    def score_rows(self, bootstrap: int = 500) -> list[dict[str, Any]]:
        """A dict for each policy and space and one for the mean over spaces (`space` is mean): P and other areas with 95 %
        intervals (`P_low`, `P_high`, from `bootstrap` resamplings), ratio@k, n5, n1."""
        return self._data.score_rows(bootstrap)

    def scores(self, bootstrap: int = 500) -> pandas.DataFrame:
        """The rows of `score_rows`, with the index (policy, space)."""
        from ._frames import _pandas

        return _pandas().DataFrame(self.score_rows(bootstrap)).set_index(["policy", "space"])

    def summary(self, bootstrap: int = 500) -> pandas.DataFrame:
        """The means over the spaces, the highest P first."""
        scores = self.scores(bootstrap).xs("mean", level="space")
        return scores.dropna(axis="columns", how="all").sort_values("P", ascending=False)

    def differences(self, against: str | None = None) -> pandas.DataFrame:
        """Every other policy against one (the one with the highest P), by the pairs of runs with the same seed: mean difference,
        95 % interval, p and p after Holm for each area; index (policy, area)."""
        from ._frames import _pandas

        if against is None:
            means = [row for row in self.score_rows(0) if row["space"] == "mean"]
            against = max(means, key=lambda row: row["P"])["policy"]
        return _pandas().DataFrame(self._data.difference_rows(against)).set_index(["policy", "area"])

    def traces(self) -> pandas.DataFrame:
        """A row for each evaluation of each run: space, policy, repeat, evaluation (from 1), trial, value, best; seconds."""
        from ._frames import _numpy, _pandas

        numpy, pandas = _numpy(), _pandas()
        frames = []
        for run in self.runs:
            frame = pandas.DataFrame({"evaluation": numpy.arange(1, len(run["value"]) + 1), "trial": run["evaluations"]})
            frame["value"] = run["value"]
            frame["best"] = run["best"]
            for i, name in enumerate(("space", "policy", "repeat")):
                frame.insert(i, name, run[name])
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def spaces(self) -> pandas.DataFrame:
        """What was compared on: configurations, right ones, best and median seconds, the budget that is scored."""
        from ._frames import _pandas

        return _pandas().DataFrame(self._data.landscape_rows()).set_index("space")

    def __repr__(self) -> str:
        names = dict.fromkeys(run["policy"] for run in self.runs)
        return f"<Comparison of {', '.join(names)}: {len(self.runs)} runs>"
