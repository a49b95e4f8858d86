# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots, with matplotlib, of results, recordings and comparisons. Each draws into `ax`, or into a new figure, and returns the axes."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._compare import Comparison
    from ._kernelsearch import Recording
    from ._optimizer import Result


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("kernelsearch: plots need matplotlib; pip install matplotlib") from error
    return pyplot.subplots()[1]


def progress(result: Result, ax: Axes | None = None) -> Axes:
    """The value of each trial as a dot, failures as crosses at the top, and the best so far as a line."""
    from ._frames import _numpy

    numpy = _numpy()
    ax = _axes(ax)
    arrays = result.to_numpy()
    values = arrays["value"]
    numbers = numpy.arange(1, len(values) + 1)
    failed = numpy.isnan(values)
    ax.plot(numbers[~failed], values[~failed], ".", color="0.6", label="trials")
    if failed.any() and not failed.all():
        ax.plot(numbers[failed], numpy.full(failed.sum(), numpy.nanmax(values)), "x", color="tab:red", label="failed")
    ax.step(numbers, arrays["best"], where="post", color="tab:blue", label="best so far")
    ax.set_xlabel("trial")
    ax.set_ylabel("value")
    ax.legend()
    return ax


def times(recording: Recording, ax: Axes | None = None) -> Axes:
    """The times of a recording in order, fastest first, on a logarithmic scale: how rare good configurations are."""
    from ._frames import _numpy

    numpy = _numpy()
    ax = _axes(ax)
    seconds = recording.seconds
    seconds = numpy.sort(seconds[~numpy.isnan(seconds)])
    ax.plot(numpy.arange(1, len(seconds) + 1), seconds)
    ax.set_yscale("log")
    ax.set_xlabel("configurations, fastest first")
    ax.set_ylabel("seconds")
    ax.set_title(recording.name)
    return ax


def curves(comparison: Comparison, space: str | None = None, ax: Axes | None = None) -> Axes:
    """Each policy's best so far in units of the recording's best, the median over the runs, with the middle half as a band.

    `space`: the recording; left out: the only one, or ValueError."""
    from ._frames import _numpy

    numpy = _numpy()
    names = list(dict.fromkeys(run["space"] for run in comparison.runs))
    if space is None:
        if len(names) != 1:
            raise ValueError("kernelsearch: a comparison on several recordings; say which one: " + ", ".join(names))
        space = names[0]
    if space not in names:
        raise ValueError(f"kernelsearch: no such recording in the comparison: {space}; there are " + ", ".join(names))
    least = next(row["best"] for row in comparison._data.landscape_rows() if row["space"] == space)
    ax = _axes(ax)
    by_policy: dict = {}
    for run in comparison.runs:
        if run["space"] == space:
            by_policy.setdefault(run["policy"], []).append(run["best"] / least)
    for name, runs in by_policy.items():
        length = min(len(run) for run in runs)
        table = numpy.array([run[:length] for run in runs])
        # Before anything is right there is no ratio: infinitely slow, so that quartiles stay quartiles of all runs.
        table = numpy.where(numpy.isnan(table), numpy.inf, table)
        low, middle, high = (numpy.quantile(table, q, axis=0, method="nearest") for q in (0.25, 0.5, 0.75))
        x = numpy.arange(1, length + 1)
        (line,) = ax.plot(x, numpy.where(numpy.isinf(middle), numpy.nan, middle), label=name)
        both = numpy.isfinite(low) & numpy.isfinite(high)
        ax.fill_between(x[both], low[both], high[both], color=line.get_color(), alpha=0.2)
    ax.set_xlabel("evaluations")
    ax.set_ylabel("best so far / best of all")
    ax.set_title(space)
    ax.legend()
    return ax
