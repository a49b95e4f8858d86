# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes the kernel of a problem folder, as `kernelsearch tune` does: compiled, checked against the reference, timed in a sandbox.

    tune_a_problem.py FOLDER [TRIALS [STORE]]"""
import sys

import kernelsearch as ks

problem = sys.argv[1]
trials = int(sys.argv[2]) if len(sys.argv) > 2 else 20
options = {"store": sys.argv[3]} if len(sys.argv) > 3 else {}
result = ks.tune(problem, trials, on_trial=print, **options)
print(f"run {result.run}: {result.reason}")
if result.best is not None:
    print(f"best: {result.best.config}, {result.best.seconds * 1e6:.4g} us", result.no_improvement or "faster than the reference")
