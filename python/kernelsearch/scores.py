# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures that papers state of a benchmark, over stored runs, one for each task.

    for run in 1 2 3; do kernelsearch export $run -o $run.jsonl; done
    python -m kernelsearch.scores 1.jsonl 2.jsonl 3.jsonl [--faster 1.1] [--iterations 0,3,6,9] [--json]

A run's trials are its iterations, counted from 0, which is the problem's own kernel. A trial's speedup is the one that was measured in pairs with the
reference; one without pairs (only trials that are the best so far have them) has the first paired trial's reference time over its own. Of each
iteration: the trial itself, and the best right one up to it. Needs no extension of the package."""
from __future__ import annotations

import argparse
import json
import math
import sys

from kernelsearch import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence


def speedups(run: exports.ExportedRun) -> list[float]:
    """The speedup of each trial; 0 where it is not right or nothing is known of the reference's time."""
    paired = next((trial for trial in run.trials if trial.ok and trial.speedup is not None), None)
    reference = paired.objective * paired.speedup if paired is not None and paired.speedup is not None else 0.0
    return [(trial.speedup if trial.speedup is not None else reference / trial.objective) if trial.ok else 0.0 for trial in run.trials]


def geometric_mean(values: Iterable[float]) -> float:
    """The mean of those above 0; 0 without any."""
    logs = [math.log(value) for value in values if value > 0]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def row_of(values: Sequence[float], faster: float) -> dict[str, float]:
    """`values`: one speedup for each task, 0 where there is no right answer."""
    right = [value for value in values if value > 0]
    return {
        "tasks": len(values),
        "right": len(right) / len(values),  # share of tasks
        "fast_p": sum(value > faster for value in values) / len(values),  # KernelBench's fast_p and KernelBand's Fast@1
        "mean": sum(right) / len(right) if right else 0.0,
        "geometric_mean": geometric_mean(right),
        "best": max(right, default=0.0),
    }


def scores(runs: Sequence[exports.ExportedRun], faster: float = 1.0, iterations: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """A row for each iteration with `each` (the trial itself) and `so_far` (the best up to it). A run that ended earlier keeps its best, and has no
    trial of its own. ValueError without runs."""
    if not runs:
        raise ValueError("kernelsearch: there are no runs to score; name files of `kernelsearch export RUN --format jsonl`")
    known = [speedups(run) for run in runs]
    rows = []
    for at in iterations if iterations is not None else range(max(map(len, known))):
        if at < 0:
            raise ValueError(f"kernelsearch: {at} is no iteration; they are counted from 0")
        each = [one[at] for one in known if at < len(one)]
        rows.append({
            "iteration": at, "each": row_of(each, faster) if each else None,
            "so_far": row_of([max(one[:at + 1]) for one in known], faster),
        })
    return rows


def table(rows: Sequence[dict[str, Any]], faster: float) -> str:
    """In Markdown."""
    head = ["iteration", "tasks", "right", f"faster than {faster:g}", "mean speedup", "geometric mean", "best",
            "so far: right", f"faster than {faster:g}", "mean speedup", "geometric mean", "best"]
    lines = ["| " + " | ".join(head) + " |", "|" + "--:|" * len(head)]

    def cells(one: dict[str, float] | None) -> list[str]:
        if one is None:
            return ["-"] * 5
        return [f"{100 * one['right']:.1f} %", f"{100 * one['fast_p']:.1f} %", f"{one['mean']:.3g}", f"{one['geometric_mean']:.3g}", f"{one['best']:.3g}"]

    for row in rows:
        own = row["each"]
        lines.append("| " + " | ".join([str(row["iteration"]), str(own["tasks"] if own else 0), *cells(own), *cells(row["so_far"])]) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kernelsearch.scores", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="of `kernelsearch export RUN --format jsonl`, one for each task")
    parser.add_argument("--faster", type=float, default=1.0, metavar="P", help="the speedup that counts as faster; KernelBand's Fast@1 has 1.1")
    parser.add_argument("--iterations", metavar="N,N", help="only these; default all")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        wanted = [int(word) for word in given.iterations.split(",")] if given.iterations else None
        rows = scores([exports.read(file) for file in given.files], given.faster, wanted)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 3
    print(json.dumps(rows) if given.json else table(rows, given.faster))
    return 0


if __name__ == "__main__":
    sys.exit(main())
