# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The smallest search: a space, a function, forty trials. The function stands for measuring something; it fails where a block would need too
much memory. Its types pass `mypy --strict` and pyright."""
from typing import Any

import kernelsearch as ks

space = ks.Space(
    {"block": ks.powers_of_two(16, 1024), "tile": range(1, 9), "unroll": [1, 2, 4], "vector": [False, True]},
    ["block * tile <= 2048", lambda tile, unroll: tile % unroll == 0],
)


def seconds(config: dict[str, Any]) -> float:
    if config["block"] * config["tile"] * (2 if config["vector"] else 1) > 2048:
        raise ks.Failed("launch", "too much shared memory")
    time = 1e-3 * (1 + abs(config["block"] - 128) / 256 + 1 / config["tile"] + (0.3 if not config["vector"] else 0) + 0.1 / config["unroll"])
    return float(time)


result = ks.minimize(seconds, space, trials=40, seed=1)
print(f"{space.count} configurations, {len(result.trials)} trials, {sum(not t.ok for t in result.trials)} failed")
if result.best is not None and result.best.value is not None:  # None: all failed
    print(f"best: {result.best.config}, {result.best.value * 1e3:.3f} ms")
