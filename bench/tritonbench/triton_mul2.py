# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twice each element; blocks of a size that fits the device instead of the one that is asked for."""

import torch
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def launch(x, y):
    n = x.numel()
    if n > 0:
        twice[((n + 2047) // 2048,)](x, y, n, 2048, num_warps=4)
    return y


def triton_mul2(x, BLOCK_SIZE=16):
    return launch(x, torch.empty_like(x))


def triton_mul2_inplace(x, BLOCK_SIZE=16):
    return launch(x, x)
