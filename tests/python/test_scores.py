# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The papers' figures over runs: each is computed here by hand."""
import json

import pytest

from kernelsearch import exports, scores


def run(*trials):
    """A run of trials: (seconds, or None where it failed; the paired speedup, or None)."""
    lines = []
    for number, (seconds, ratio) in enumerate(trials):
        measurement = {} if seconds is None else {"seconds": seconds}
        if ratio is not None:
            measurement["speedup"] = {"ratio": ratio, "interval": [ratio, ratio], "pairs": 3}
        lines.append(json.dumps({
            "id": number, "objective": "Infinity" if seconds is None else seconds, "at": "2026-11-27T10:00:00.000Z", "position": number,
            "evaluation": {"verdict": "wrong_result" if seconds is None else "ok", "measurement": measurement}, "run": {"problem": "p"}}))
    return lines


FIRST = run((4.0, 1.0), (None, None), (2.0, 2.1), (8.0, None))
SECOND = run((3.0, 1.0), (2.5, 1.05))
NEVER = run((None, None), (None, None))


def test_speedups_are_those_of_pairs_and_else_by_the_first_paired_trial():
    assert scores.speedups(exports.read(FIRST)) == [1.0, 0.0, 2.1, 0.5]
    assert scores.speedups(exports.read(NEVER)) == [0.0, 0.0]


def test_rows_by_iteration():
    runs = [exports.read(lines) for lines in (FIRST, SECOND, NEVER)]
    rows = scores.scores(runs, faster=1.1)
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3]
    assert rows[0]["each"] == rows[0]["so_far"] == {"tasks": 3, "right": 2 / 3, "fast_p": 0.0, "mean": 1.0, "geometric_mean": 1.0, "best": 1.0}
    assert rows[1]["each"] == {"tasks": 3, "right": 1 / 3, "fast_p": 0.0, "mean": 1.05, "geometric_mean": pytest.approx(1.05), "best": 1.05}
    so_far = rows[2]["so_far"]
    assert rows[2]["each"]["tasks"] == 1 and so_far["tasks"] == 3
    assert so_far["fast_p"] == 1 / 3 and so_far["right"] == 2 / 3 and so_far["best"] == 2.1
    assert so_far["mean"] == pytest.approx((2.1 + 1.05) / 2) and so_far["geometric_mean"] == pytest.approx((2.1 * 1.05) ** 0.5)
    assert rows[3]["each"]["best"] == 0.5 and rows[3]["so_far"] == so_far
    assert scores.scores(runs)[1]["so_far"]["fast_p"] == 1 / 3  # only the second, by any margin
    late = scores.scores(runs, iterations=[9])
    assert late[0]["each"] is None and late[0]["so_far"]["best"] == 2.1
    with pytest.raises(ValueError, match="no runs"):
        scores.scores([])
    with pytest.raises(ValueError, match="-1 is no iteration"):
        scores.scores(runs, iterations=[-1])


def test_command(tmp_path, capsys):
    files = []
    for number, lines in enumerate((FIRST, SECOND)):
        files.append(str(tmp_path / f"{number}.jsonl"))
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    assert scores.main([*files, "--faster", "1.1", "--iterations", "2,9"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[2] == "| 2 | 1 | 100.0 % | 100.0 % | 2.1 | 2.1 | 2.1 | 100.0 % | 50.0 % | 1.58 | 1.48 | 2.1 |"
    assert told[3].startswith("| 9 | 0 | - | - | - | - | - | 100.0 % | 50.0 % |")
    assert scores.main([*files, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 4
    assert scores.main([str(tmp_path / "none.jsonl")]) == 3
    assert "none.jsonl" in capsys.readouterr().err
