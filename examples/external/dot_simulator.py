# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A simulator of a small accumulator machine: it computes what its program says, and counts the cycles of a 1 GHz clock.

A vector of LANES elements costs a cycle for each instruction of the program, and a miss of 40 cycles less those that
PREFETCH vectors ahead hide; LANES * PREFETCH vectors of two arrays must fit 256 words of scratchpad.
"""

import math

import kernelsearch_external

INSTRUCTIONS = {"load", "multiply", "add"}
MISS_CYCLES, SCRATCHPAD_WORDS = 40, 256


def build(source, configuration):
    lanes, prefetch = configuration["LANES"], configuration["PREFETCH"]
    if 2 * lanes * prefetch > SCRATCHPAD_WORDS:
        raise kernelsearch_external.Declined(
            f"{2 * lanes * prefetch} words of scratchpad, of which there are {SCRATCHPAD_WORDS}"
        )
    program = [line.split() for line in source.splitlines() if line and not line.startswith("#")]
    for words in program:
        if words[0] not in INSTRUCTIONS:
            raise kernelsearch_external.Declined(f"no such instruction: {words[0]}")

    def kernel(n, x, y, total):
        accumulators, cycles = [0.0] * lanes, 0
        for begin in range(0, n, lanes):
            registers = {}
            for words in program:
                if words[0] == "load":
                    registers[words[1]] = {"x": x, "y": y}[words[1]][begin : begin + lanes].tolist()
                elif words[0] == "multiply":
                    registers["p"] = [a * b for a, b in zip(registers["x"], registers["y"])]
                else:
                    for lane, product in enumerate(registers["p"]):
                        accumulators[lane] += product
                cycles += 1
            cycles += max(0, MISS_CYCLES - prefetch * len(program) * 2)
        total[0] = math.fsum(accumulators)
        return (cycles + lanes) * 1e-9

    return kernel, {"instructions": len(program)}


kernelsearch_external.serve(build, name="accumulator simulator", version="1", device="accumulator machine at 1 GHz",
                            times=True)  # fmt: skip
