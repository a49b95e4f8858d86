# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often kernelsearch.triton.search chooses the same winner where configurations cannot be told apart; needs no GPU.

    PYTHONPATH=python python bench/python/triton_repeated.py [--runs 200] [--noise 0.01] [--shift 0.001] [--spaces 3]

A scripted device has the numbers of configurations and the best times of bench/results/h200_2026-11-23_triton.json, with the
ratios of the winners that were seen there; which places these had in the list, and what all others take, is drawn (each
`--spaces` times), as the results do not tell. Each launch scatters by `--noise`, each configuration is off by `--shift` in each
run (both standard deviations), and the clock has 32 ns. A row: the share of the most frequent winner and the worst winner over
the best, in true times, by the rule of 2026-11-23 (the best six within 3 % in 40 rounds; the first within 0.3 % by medians)
and by the present one; and launches and milliseconds of the device that the last step took.
"""

import argparse
import json
import pathlib
import random
import statistics
from collections import Counter

import kernelsearch.triton as kt

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results/h200_2026-11-23_triton.json"


class Compiler:
    """Has compiled everything."""

    def __init__(self):
        self.waiting = []

    def start(self, index):
        self.waiting.append(index)

    def pending(self):
        return len(self.waiting)

    def ready(self, wait):
        done, self.waiting = self.waiting[:1], self.waiting[1:]
        return [(index, "", 0.0) for index in done]


class Device:
    def __init__(self, ms, draw, noise, shift):
        self.ms, self.draw, self.noise = [m * draw.gauss(1, shift) for m in ms], draw, noise
        self.speed, self.launches, self.spent = 1.0, 0, 0.0

    def warm(self, index):
        pass

    def batch(self, indices, rounds):
        samples = {index: [] for index in indices}
        for order in kt._in_turns(indices, rounds):
            self.speed *= self.draw.gauss(1, 0.001)
            for index in order:
                ms = self.ms[index] * self.speed * self.draw.gauss(1, self.noise)
                if self.draw.random() < 0.02:
                    ms *= 1 + self.draw.random()  # something else
                samples[index].append(round(ms / 32e-6) * 32e-6)
                self.launches += 1
                self.spent += ms + 0.2
        return samples


def final_before(best, _, known, measurer):
    right = [trial for trial in known.values() if trial.ms is not None]
    near = sorted((t for t in right if t.ms <= 1.03 * known[best].ms), key=lambda t: t.ms)[:6]
    indices = sorted({best, *(t.index for t in near)})
    if len(indices) == 1:
        return best
    samples = measurer.batch(indices, 40)
    least = min(indices, key=lambda index: statistics.median(samples[index]))
    return next(i for i in indices if statistics.median(a / b for a, b in zip(samples[i], samples[least])) <= 1.003)


def space(row, draw):
    """Times in milliseconds: the ratios seen, and others from 0.2 to 100 % above the best, which grow denser towards it."""
    ratios = sorted({1.0, *row["ours_over_best"], *row["triton_over_best"]})
    while len(ratios) < row["configurations"]:
        ratios.append(1.002 * 2 ** draw.random() ** 2)
    draw.shuffle(ratios)
    return [row["best_ms"] * ratio for ratio in ratios]


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("runs", 200), ("noise", 0.01), ("shift", 0.001), ("spaces", 3)):
        parser.add_argument("--" + name, type=type(value), default=value)
    options = parser.parse_args()
    present = kt._final
    print("| kernel | configurations | within 0.7 % | the same, before | worst | the same, now | worst | launches | ms |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in json.loads(RESULTS.read_text())["rows"]:
        for drawn in range(options.spaces):
            ms = space(row, random.Random(f"{row['kernel']} {drawn}"))
            configs, cells = [{"C": index} for index in range(len(ms))], []
            for rule in (final_before, present):
                winners, took = Counter(), []
                for run in range(options.runs):
                    device = Device(ms, random.Random(run), options.noise, options.shift)

                    def final(best, near, known, measurer):
                        before = device.launches, device.spent
                        index = rule(best, near, known, measurer)
                        took.append((device.launches - before[0], device.spent - before[1]))
                        return index

                    kt._final = final
                    winners[kt.search(configs, Compiler(), device, policy="in order").best] += 1
                worst = max(ms[index] for index in winners) / min(ms)
                cells += [f"{100 * max(winners.values()) / options.runs:.0f} %", f"{worst:.4f}"]
            near = sum(m <= 1.007 * min(ms) for m in ms)
            cells += [f"{statistics.median(part):.0f}" for part in zip(*took)]
            print(f"| {row['kernel']} | {len(ms)} | {near} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
