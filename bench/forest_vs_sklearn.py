#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times random forests of 100 trees on 1000 x 20 rows beside scikit-learn's, on one core, in turns.

    forest_vs_sklearn.py path/to/model_bench [--rounds 7]

Two data sets: continuous features, and features with a few distinct values, as tuning spaces have them.
Processor time of one thread on both sides; each round times ours, then scikit-learn's.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor


def data(kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1000, 20)) if kind == "continuous" else 2.0 ** rng.integers(0, 6, size=(1000, 20))
    z = x if kind == "continuous" else np.log2(x) - 2.5
    y = z[:, 0] + z[:, 1] * z[:, 2] + np.abs(z[:, 3]) + 0.3 * rng.normal(size=1000)
    return x, y


def timed(f):
    start = time.thread_time()
    f()
    return 1e3 * (time.thread_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    columns = ["classifier, gini", "classifier, entropy", "regressor", "1000 predictions"]
    print(f"scikit-learn {sklearn.__version__}, median of {options.rounds} rounds, ms of one core\n")
    print("| features | what | ours | scikit-learn | times faster |\n|---|---|---|---|---|")
    for kind in ("continuous", "few values"):
        x, y = data(kind)
        label = y > np.sort(y)[500]
        x32 = x.astype(np.float32)
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.17g")
            for seed in range(options.rounds):
                out = subprocess.run([options.bench, "--forest", path, "1"], check=True, capture_output=True,
                                     text=True).stdout
                ours.append([float(v) for v in out.split()])
                gini = RandomForestClassifier(100, random_state=seed, n_jobs=1)
                entropy = RandomForestClassifier(100, criterion="log_loss", random_state=seed, n_jobs=1)
                regressor = RandomForestRegressor(100, random_state=seed, n_jobs=1)
                theirs.append([timed(lambda: gini.fit(x32, label)), timed(lambda: entropy.fit(x32, label)),
                               timed(lambda: regressor.fit(x32, y)), timed(lambda: gini.predict_proba(x32))])
        for i, what in enumerate(columns):
            a, b = (statistics.median(t[i] for t in times) for times in (ours, theirs))
            print(f"| {kind} | {what} | {a:.1f} | {b:.1f} | {b / a:.1f} |")


if __name__ == "__main__":
    main()
