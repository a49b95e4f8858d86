#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search policy in Python: random draws, then the neighbours of the best. It keeps to the contract.

    kernelsearch contract --policy-command 'python3 hill_climber.py'
    kernelsearch compare recordings/ --policies bayesian,hill_climber --policy-command 'python3 hill_climber.py'
    kernelsearch tune problem --policy-command 'python3 hill_climber.py'

Messages are lines of JSON on standard input and output: docs/formats/policy_protocol.md. Nothing but answers may be
printed; notes go to standard error.
"""
import json
import random
import sys


class HillClimber:
    """Configurations are tuples of positions in the tunables' lists of values."""

    def __init__(self, hello):
        self.tunables = hello["space"]["tunables"]
        self.random = random.Random(hello["seed"])
        # Each valid configuration; a space that is too large to be listed comes without, and is drawn from.
        listed = hello["space"]["configurations"]
        self.valid = None if listed is None else {tuple(c) for c in listed}
        self.order = None if listed is None else [tuple(c) for c in listed]
        if self.order is not None:
            self.random.shuffle(self.order)
        elif hello["space"]["constraints"]:
            raise ValueError("the space is not listed, and this policy does not read constraints")
        self.draws = 20
        self.known = set()
        self.best, self.best_objective = None, float("inf")

    def propose(self, n):
        proposals = []
        while len(proposals) < n:
            config = self.neighbour() if len(self.known) >= self.draws and self.best else None
            config = config or self.draw()
            if config is None:
                break
            self.known.add(config)
            proposals.append(config)
        return proposals

    def neighbour(self):
        """A valid configuration, not tried, that differs from the best in one tunable."""
        around = []
        for i, tunable in enumerate(self.tunables):
            for value in range(len(tunable["values"])):
                config = self.best[:i] + (value,) + self.best[i + 1:]
                if config not in self.known and (self.valid is None or config in self.valid):
                    around.append(config)
        return self.random.choice(around) if around else None

    def draw(self):
        if self.order is None:
            while True:
                config = tuple(self.random.randrange(len(t["values"])) for t in self.tunables)
                if config not in self.known:
                    return config
        while self.order:
            config = self.order.pop()
            if config not in self.known:
                return config
        return None

    def learn(self, config, objective):
        self.known.add(config)  # also those that somebody else proposed
        if objective is not None and objective < self.best_objective:
            self.best, self.best_objective = config, objective

    def named(self, config):
        return {t["name"]: t["values"][position] for t, position in zip(self.tunables, config)}

    def positions(self, named):
        return tuple(t["values"].index(named[t["name"]]) for t in self.tunables)


def answer(message):
    print(json.dumps(message), flush=True)  # without flush the answer waits in a buffer


def main():
    policy = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            policy = HillClimber(message)
            answer({"type": "ready", "protocol": 1})
        elif message["type"] == "ask":
            proposals = policy.propose(message["n"])
            answer({"type": "proposals", "configurations": [policy.named(c) for c in proposals]})
        elif message["type"] == "tell":
            for trial in message["trials"]:
                policy.learn(policy.positions(trial["configuration"]), trial["objective"])
        elif message["type"] == "end":
            break


main()
