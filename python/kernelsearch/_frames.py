# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as NumPy arrays and pandas frames; both are imported here and nowhere else."""
from __future__ import annotations


def _numpy():
    try:
        import numpy
    except ImportError as error:
        raise ImportError("kernelsearch: arrays need NumPy; pip install numpy") from error
    return numpy


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError("kernelsearch: frames need pandas; pip install pandas") from error
    return pandas


def best_so_far(values):
    """The lowest of what came before and each value itself; NaN as long as there is none."""
    numpy = _numpy()
    lowest = numpy.minimum.accumulate(numpy.where(numpy.isnan(values), numpy.inf, values))
    return numpy.where(numpy.isinf(lowest), numpy.nan, lowest)


def result_arrays(result):
    numpy = _numpy()
    trials = result.trials
    values = numpy.array([t.value if t.ok else numpy.nan for t in trials], dtype=numpy.float64)
    return {
        "value": values,
        "best": best_so_far(values),
        "positions": result.optimizer.space.encode([t.config for t in trials]),
    }


def result_frame(result):
    pandas = _pandas()
    trials = result.trials
    arrays = result_arrays(result)
    numbers = pandas.array([t.number for t in trials], dtype="Int64")
    frame = pandas.DataFrame({"number": numbers})
    for name in result.optimizer.space.names:
        frame[name] = [t.config[name] for t in trials]
    frame["value"] = arrays["value"]
    frame["best"] = arrays["best"]
    frame["verdict"] = [t.verdict for t in trials]
    frame["reason"] = [t.reason for t in trials]
    features = [t.features for t in trials]
    for name in sorted({name for one in features for name in one}):
        frame[name] = [one.get(name, float("nan")) for one in features]
    return frame


def recording_frame(recording):
    pandas = _pandas()
    positions = recording.positions
    frame = pandas.DataFrame()
    for i, (name, values) in enumerate(recording.space.values.items()):
        frame[name] = [values[p] for p in positions[:, i]]
    frame["seconds"] = recording.seconds
    frame["verdict"] = recording.verdicts
    frame["reason"] = recording.reasons
    frame["recorded_seconds"] = recording.recorded_seconds
    return frame
