# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax along rows. A program takes one row after another, each as a whole (WIDTH >= cols) and in registers, so that every
number is read and written once. The next row's numbers are on their way while this one's are summed."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, rows, cols, WIDTH: tl.constexpr, PROGRAMS: tl.constexpr, STAGES: tl.constexpr):
    column = tl.arange(0, WIDTH)
    inside = column < cols
    for row in tl.range(tl.program_id(0), rows, PROGRAMS, num_stages=STAGES):
        start = row.to(tl.int64) * cols
        values = tl.load(x + start + column, mask=inside, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(y + start + column, powers / tl.sum(powers, axis=0), mask=inside)
