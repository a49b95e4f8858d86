# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The caller owns the loop: trials are asked for, measured by a pool of processes, and told as they come home. What was known before is added first."""
from concurrent.futures import ProcessPoolExecutor, as_completed

import kernelsearch as ks


def measure(config):
    """Stands for a build farm, a simulator, a board."""
    return 10 / config["block"] + 0.01 * config["block"] + 0.3 / config["stages"] + 0.05 * config["stages"]


def main():
    optimizer = ks.Optimizer({"block": range(1, 65), "stages": range(1, 9)}, "iterated_local_search", seed=5)
    known = {"block": 16, "stages": 2}
    optimizer.add(known, measure(known))
    with ProcessPoolExecutor(2) as pool:
        while len(optimizer) < 120 and (trials := optimizer.ask(8)):
            running = {pool.submit(measure, trial.config): trial for trial in trials}
            for future in as_completed(running):
                optimizer.tell(running[future], future.result())
    print("best:", optimizer.best.config, f"at {optimizer.best.value:.4f}")


if __name__ == "__main__":
    main()
