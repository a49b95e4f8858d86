# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search policy of one's own against built-in ones, on a recording, with paired seeds and a test of the differences."""
import random

import kernelsearch as ks


class StepOrLeap:
    """Steps from the best configuration to a neighbour, and leaps now and then; never proposes anything twice."""

    def __init__(self, space, seed):
        self.space, self.random = space, random.Random(seed)
        self.seen, self.best = set(), None

    def ask(self, n):
        proposals = []
        while len(proposals) < n and len(self.seen) < self.space.count:
            near = self.space.neighbours(self.best[1]) if self.best and self.random.random() < 0.8 else []
            near = [c for c in near if self.space.key(c) not in self.seen]
            config = self.random.choice(near) if near else self.space[self.random.randrange(self.space.count)]
            if self.space.key(config) not in self.seen:
                self.seen.add(self.space.key(config))
                proposals.append(config)
        return proposals

    def tell(self, trials):
        for trial in trials:
            self.seen.add(trial.key)
            if trial.ok and (self.best is None or trial.value < self.best[0]):
                self.best = (trial.value, trial.config)


def made_up(config):
    """What a device that does not exist would have answered."""
    footprint = config["block"] * config["tile"] / 1024
    return 1e-3 * (1 + abs(footprint - 1) + 0.1 * abs(config["unroll"] - 3) + 8 / config["block"])


space = ks.Space({"block": ks.powers_of_two(8, 1024), "tile": range(1, 17), "unroll": range(1, 9)}, ["block * tile <= 8192"])
recording = ks.Recording.of("made_up", space, [(config, made_up(config)) for config in space])
comparison = ks.compare(recording, {"mine": StepOrLeap, "random": "random", "bayesian": "bayesian"}, repeats=10, seed=1, budget=60)
for row in comparison.score_rows():
    if row["space"] == "mean":
        print(f"{row['policy']:10} P@60 {row['P@60']:5.2f} [{row['P@60_low']:5.2f}, {row['P@60_high']:5.2f}]")
