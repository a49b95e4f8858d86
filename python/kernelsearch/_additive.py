# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A policy for spaces of twenty or thirty tunables of which most matter a little: `kernelsearch.helion` offers it as "additive". It needs NumPy."""

from __future__ import annotations

import math
import random

_NEAR = 2.0  # places between integer values over which their effects are alike
_NAMES_ALIKE = 0.3  # correlation of the effects of two names
_SHARE = 0.8  # of the variance that is of combinations; the rest is a sum of effects of single tunables
_NOISE = 0.01  # variance of the noise over that of the targets
_MOST = 30.0  # bounds of a tunable's weight, this and its inverse
_STARTS, _STEPS = 4, 6  # climbs from this many of the best, each of at most this many changes of one tunable


class Additive:
    """A Gaussian process whose kernel is a sum over tunables plus a product over them, with a weight for each tunable that is fitted as trials come.
    The largest expected improvement is sought by changes of one tunable after another from the best trials, so that a proposal can
    combine what was learned of several tunables. What is being measured counts as measured with its predicted value."""

    def __init__(self, space, seed):
        import numpy

        self._np, self._space, self._random = numpy, space, random.Random(seed)
        self._values = {name: list(values) for name, values in space.values.items()}
        self._told, self._pending = {}, {}
        self._weights = numpy.ones(len(self._values))
        self._alike = []
        for values in self._values.values():
            at = numpy.arange(len(values))
            ordered = len(values) > 2 and all(type(value) is int for value in values)
            distance = abs(at[:, None] - at[None, :])
            self._alike.append(numpy.exp(-distance / _NEAR) if ordered else numpy.where(distance == 0, 1.0, _NAMES_ALIKE))

    def tell(self, trials):
        for trial in trials:
            place = tuple(values.index(trial.config[name]) for name, values in self._values.items())
            self._pending.pop(place, None)
            self._told[place] = math.log(trial.value) if trial.ok and trial.value > 0 else None

    def ask(self, n):
        given = []
        for _ in range(n):
            if sum(value is not None for value in self._told.values()) < 3:
                drawn = [self._places(config) for config in self._space.sample(min(8, self._space.count), seed=self._random.randrange(1 << 30))]
                place = next((one for one in drawn if self._is_new(one)), None)
            else:
                place = self._best_proposal()
            if place is None:  # every change of one tunable near the best is known: any configuration that is not
                drawn = [self._places(config) for config in self._space.sample(min(64, self._space.count), seed=self._random.randrange(1 << 30))]
                place = next((one for one in drawn if self._is_new(one)), None)
            if place is None:
                place = next((one for one in map(self._places, self._space) if self._is_new(one)), None) if self._space.count <= 4096 else None
            if place is None:
                break
            self._pending[place] = True
            given.append(self._config(place))
        return given

    def _places(self, config):
        return tuple(values.index(config[name]) for name, values in self._values.items())

    def _config(self, place):
        return {name: values[i] for (name, values), i in zip(self._values.items(), place)}

    def _is_new(self, place):
        return place not in self._told and place not in self._pending

    def _covariance(self, a, b, weights):
        total = self._np.zeros((len(a), len(b)))
        for d, alike in enumerate(self._alike):
            total += weights[d] * alike[a[:, d][:, None], b[:, d][None, :]]
        total /= weights.sum()
        return (1 - _SHARE) * total + _SHARE * self._np.exp(-3 * (1 - total))

    def _factor(self, places, weights):
        np = self._np
        return np.linalg.cholesky(self._covariance(places, places, weights) + _NOISE * np.eye(len(places)))

    def _targets(self):
        """Logarithms of times over the least, flatter above the median; failures count as the worst."""
        good = sorted(value for value in self._told.values() if value is not None)
        least, spread = good[0], max(1e-3, good[len(good) // 2] - good[0])
        worst = least + 3 * spread

        def target(value):
            if value is None:
                return least + 2 * spread
            over = (value - least) / spread
            return min(worst, least + spread * (over if over <= 1 else 1 + math.log(over)))

        values = self._np.array([target(value) for value in self._told.values()])
        return (values - values.mean()) / (values.std() + 1e-9)

    def _fit(self, places, targets):
        """One pass over the weights: each a third or three times of what it was where that makes the targets more probable."""
        np = self._np

        def cost(weights):
            factor = self._factor(places, weights)
            white = np.linalg.solve(factor, targets)
            scale = (white @ white + 1) / (len(targets) + 1)
            return len(targets) / 2 * math.log(scale) + np.log(np.diag(factor)).sum() + 0.1 * (np.log(weights) ** 2).sum()

        weights, least = self._weights, cost(self._weights)
        for d in self._random.sample(range(len(weights)), len(weights)):
            for factor in (3.0, 1 / 3.0):
                changed = weights.copy()
                changed[d] = min(_MOST, max(1 / _MOST, changed[d] * factor))
                value = cost(changed)
                if value < least:
                    weights, least = changed, value
                    break
        self._weights = weights

    def _best_proposal(self):
        np = self._np
        places, targets = np.array(list(self._told)), self._targets()
        self._fit(places, targets)
        weights = self._weights
        factor = self._factor(places, weights)
        if self._pending:
            pending = np.array(list(self._pending))
            mean = self._covariance(pending, places, weights) @ np.linalg.solve(factor.T, np.linalg.solve(factor, targets))
            places, targets = np.vstack([places, pending]), np.concatenate([targets, mean])
            factor = self._factor(places, weights)
        white = np.linalg.solve(factor, targets)
        alpha, scale = np.linalg.solve(factor.T, white), math.sqrt((white @ white + 1) / (len(targets) + 1))
        least = targets.min()

        def gains(candidates):
            covariance = self._covariance(np.array(candidates), places, weights)
            known = (np.linalg.solve(factor, covariance.T) ** 2).sum(0)
            deviation = np.sqrt(np.maximum(1e-9, 1 - known)) * scale
            z = (least - covariance @ alpha) / deviation
            below = np.array([0.5 * (1 + math.erf(one / math.sqrt(2))) for one in z])
            return deviation * (z * below + np.exp(-z * z / 2) / math.sqrt(2 * math.pi))

        best, most = None, -1.0
        for start in sorted((place for place, value in self._told.items() if value is not None), key=self._told.get)[:_STARTS]:
            place, gain = start, -1.0
            for _ in range(_STEPS):
                near = [place[:d] + (i,) + place[d + 1 :] for d, values in enumerate(self._values.values()) for i in range(len(values)) if i != place[d]]
                near = [one for one in near if self._is_new(one) and self._config(one) in self._space]
                if not near:
                    break
                found = gains(near)
                i = int(found.argmax())
                if found[i] <= gain:
                    break
                place, gain = near[i], float(found[i])
            if gain > most:
                best, most = place, gain
        return best if best is not None and self._is_new(best) else None
