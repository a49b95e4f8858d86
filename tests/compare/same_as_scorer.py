#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `kernelsearch compare` on recorded spaces and checks its scores against the reference scorer's.

    same_as_scorer.py COMMAND SHARED

Ends with 77 (skipped) where the scorer, its spaces, numpy or scipy are not there. Point scores must agree to
1e-9; the ends of intervals, which two random generators make, to a fraction of the interval's width.
"""
import json, os, subprocess, sys, tempfile

SPACES = ("convolution_A100", "pnpoly_RTX_3060_laptop")


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def differences(mine, reference, path=""):
    """Where `mine` lacks or differs from what `reference` has; more in `mine` is fine."""
    if isinstance(reference, dict):
        for key, value in reference.items():
            if key == "group":
                continue
            if key not in mine:
                yield f"{path}/{key} is missing"
            elif key.endswith("_ci95"):
                width = value[1] - value[0]
                if any(abs(a - b) > 0.35 * width + 1e-9 for a, b in zip(mine[key], value)):
                    yield f"{path}/{key}: {mine[key]} for {value}"
            else:
                yield from differences(mine[key], value, f"{path}/{key}")
    elif isinstance(reference, list):
        if mine != reference:
            yield f"{path}: {mine} for {reference}"
    elif isinstance(reference, bool) or isinstance(reference, str):
        if mine != reference:
            yield f"{path}: {mine} for {reference}"
    elif isinstance(mine, str) or abs(mine - reference) > 1e-9:
        yield f"{path}: {mine} for {reference}"


def main():
    command, shared = sys.argv[1], sys.argv[2]
    scorer = os.path.join(shared, "tools/score.py")
    spaces = os.path.join(shared, "data/spaces")
    if not os.path.exists(scorer) or not os.path.isdir(spaces):
        skip("the reference scorer and its spaces are not here; set KERNELSEARCH_SHARED")
    try:
        import numpy, scipy.optimize  # noqa: F401
    except ImportError as error:
        skip(f"{error}: pip install numpy scipy, and let cmake find that Python (-DPython3_EXECUTABLE=...)")
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        # 60: a budget that ends inside the scored range; 4 in flight; the default: all of the range
        for name, options in (("cut", ["--budget", "60", "--in-flight", "4"]), ("whole", [])):
            out = os.path.join(folder, name)
            subprocess.run([command, "compare", *(os.path.join(spaces, s + ".json.gz") for s in SPACES), "--policies",
                            "random,iterated_local_search", "--repeats", "6", "--quiet", "--out", out, *options],
                           check=True, stdout=subprocess.DEVNULL)
            reference = os.path.join(folder, name + ".json")
            subprocess.run([sys.executable, scorer, os.path.join(out, "traces.jsonl"), "--out", reference], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "SPACES": spaces})
            with open(os.path.join(out, "scores.json")) as f:
                mine = json.load(f)
            with open(reference) as f:
                theirs = json.load(f)
            wrong = list(differences(mine, theirs))
            print(name, len(json.dumps(theirs)), "characters of scores;", len(wrong), "differences")
            for line in wrong:
                print(" ", line)
            checked += len(wrong)
    return 1 if checked else 0


sys.exit(main())
