# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring by coroutines, four at a time: here they wait, as they would for machines at the other end of a network."""
import asyncio

import kernelsearch as ks


async def measure(config):
    await asyncio.sleep(0.001 * config["rows"])
    if config["rows"] * config["columns"] > 48:
        raise ks.Failed("crash", "out of memory")
    return 1 / (config["rows"] * config["columns"]) + 0.01 * config["rows"]


async def main():
    optimizer = ks.Optimizer({"rows": range(1, 17), "columns": range(1, 17)}, "genetic", seed=2)
    result = await optimizer.minimize_async(measure, trials=60, parallel=4)
    print(f"{len(result.trials)} trials, {result.reason}; best: {result.best.config}")


asyncio.run(main())
