# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import signal

import pytest

import kernelsearch as ks


@pytest.fixture
def source():
    return pathlib.Path(os.environ["KERNELSEARCH_TEST_SOURCE"])


@pytest.fixture(scope="session")
def space():
    return ks.Space(
        {"block": ks.powers_of_two(1, 64), "tile": range(1, 17), "vector": [False, True]},
        ["block * tile <= 256"],
    )


def heed_ctrl_c():
    """In a child: what shells start in the background ignores the signal, and its children do too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def time_of(config):
    """Made-up seconds; the best is block 32, tile 6, vector."""
    return 1e-3 * (1 + abs(config["block"] - 32) / 32 + abs(config["tile"] - 6) / 12 + (not config["vector"]) * 0.5)


@pytest.fixture(scope="session")
def recording(space):
    return ks.Recording.of(
        "made", space, [(c, ks.Failed("launch", "no 13") if c["tile"] == 13 else time_of(c)) for c in space], "kernel", "device"
    )


class Shuffled:
    """A policy of Python: every configuration once, in an order drawn from the seed."""

    def __init__(self, space, seed=0, told=None):
        import random

        self.space, self.told = space, told if told is not None else []
        self.left = list(range(space.count))
        random.Random(seed).shuffle(self.left)

    def ask(self, n):
        return [self.space[self.left.pop()] for _ in range(min(n, len(self.left)))]

    def tell(self, trials):
        self.told.extend((t.number, t.config, t.value, t.verdict) for t in trials)
