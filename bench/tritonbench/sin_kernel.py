# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sine of each element; blocks of one warp, and nothing is launched for nothing."""

import torch
import triton
import triton.language as tl


@triton.jit
def each(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.sin(x), mask=at < n)


def call_kernel(x):
    y = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        each[((n + 255) // 256,)](x, y, n, 256, num_warps=1)
    return y
