#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes fixtures/*.csv: data, and what scikit-learn makes of it, for the tests of the learners.

A file holds tables one after another: a line `# name rows columns`, then the rows. Run it again with a newer
scikit-learn to see whether the tests still hold; the files in the tree name the version they came from.
"""
import os

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")


def write(name, tables):
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name + ".csv"), "w") as out:
        out.write(f"# scikit-learn {sklearn.__version__}; written by make_sklearn_fixtures.py\n")
        for key, values in tables.items():
            values = np.atleast_2d(np.asarray(values, dtype=float))
            out.write(f"# {key} {values.shape[0]} {values.shape[1]}\n")
            for row in values:
                out.write(",".join(f"{v:.12g}" for v in row) + "\n")


def normalisers(rng):
    x = np.round(rng.normal(3, 2, size=(12, 4)), 3)
    x[:, 2] = 5
    write("normaliser", {"x": x, "min_max": MinMaxScaler().fit_transform(x),
                         "z_score": StandardScaler().fit_transform(x)})


def logistic(rng):
    x = np.round(rng.normal(size=(96, 4)), 3)
    y = (x @ [1.5, -1, 0.5, 0] + 0.3 + rng.logistic(size=96) > 0).astype(int)
    sgd = SGDClassifier(loss="log_loss", penalty="l2", alpha=1e-3, learning_rate="constant", eta0=0.05,
                        shuffle=False)
    for start in range(0, 96, 32):
        sgd.partial_fit(x[start:start + 32], y[start:start + 32], classes=[0, 1])
    optimum = LogisticRegression(C=1 / (1e-3 * 96), tol=1e-10, max_iter=10000).fit(x, y)
    write("logistic", {"x": x, "y": y, "streamed": np.append(sgd.coef_[0], sgd.intercept_),
                       "optimum": np.append(optimum.coef_[0], optimum.intercept_)})


def clusters(rng):
    centres = rng.uniform(-3, 3, size=(5, 4))
    blobs = np.round(centres[rng.integers(0, 5, 250)] + rng.normal(size=(250, 4)), 3)
    flat = np.round(rng.uniform(size=(150, 4)), 3)
    tables = {"blobs": blobs, "flat": flat}
    for name, x in (("blobs", blobs), ("flat", flat)):
        tables[name + "_inertia"] = [KMeans(k, n_init=10, random_state=0).fit(x).inertia_ for k in (2, 3, 4, 5)]
    write("kmeans", tables)


def same_for_every_seed(make, x, y, test):
    """What all orders of trying the features agree on: ties between splits would be broken by chance."""
    answers = [make(seed).fit(x, y).predict(test) for seed in range(20)]
    assert all(np.allclose(answers[0], a, rtol=0, atol=1e-9) for a in answers), "draw other data"
    return answers[0]


def forests(rng):
    x = np.round(rng.normal(size=(400, 6)), 3)
    y = np.round(x[:, 0] + x[:, 1] * x[:, 2] + np.abs(x[:, 3]) + 0.5 * rng.normal(size=400), 3)
    label = (y > np.median(y)).astype(int)
    weight = np.round(rng.uniform(0.1, 3, size=200), 3)
    train, test = slice(0, 200), slice(200, 400)
    tables = {"x": x, "y": y, "label": label, "weight": weight}

    def classifier(**k):
        return RandomForestClassifier(1000, random_state=0, oob_score=True, **k)
    for name, forest in (("gini", classifier()), ("entropy", classifier(criterion="log_loss"))):
        forest.fit(x[train], label[train])
        tables[name + "_probability"] = forest.predict_proba(x[test])[:, 1]
        tables[name + "_scores"] = [forest.score(x[test], label[test]), 1 - forest.oob_score_]
    # Weights count at splits, as they did in forests up to scikit-learn 1.8; since then they steer the draws.
    weighted = np.zeros(200)
    for tree in range(1000):
        drawn = np.bincount(rng.integers(0, 200, 200), minlength=200)
        tree = DecisionTreeClassifier(criterion="log_loss", max_features="sqrt", random_state=tree)
        weighted += tree.fit(x[train], label[train], weight * drawn).predict_proba(x[test])[:, 1] / 1000
    tables["weighted_probability"] = weighted
    regressor = RandomForestRegressor(1000, random_state=0, oob_score=True).fit(x[train], y[train])
    tables["regressor"] = regressor.predict(x[test])
    tables["regressor_scores"] = [regressor.score(x[test], y[test]),
                                  np.mean((regressor.oob_prediction_ - y[train]) ** 2)]
    tables["regressor_variance"] = np.var([t.predict(x[test]) for t in regressor.estimators_], axis=0)
    tables["tree_classes"] = same_for_every_seed(
        lambda seed: DecisionTreeClassifier(min_samples_leaf=8, max_depth=4, random_state=seed), x[train], label[train], x[test])
    tables["tree_entropy"] = same_for_every_seed(
        lambda seed: DecisionTreeClassifier(criterion="log_loss", max_depth=3, random_state=seed), x[train],
        label[train], x[test])
    tables["tree_values"] = same_for_every_seed(
        lambda seed: DecisionTreeRegressor(min_samples_leaf=5, random_state=seed), x[train], y[train], x[test])
    write("forest", tables)


if __name__ == "__main__":
    normalisers(np.random.default_rng(1))
    logistic(np.random.default_rng(2))
    clusters(np.random.default_rng(3))
    forests(np.random.default_rng(7))
