# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix times a vector: a block has eight rows and no search for its size."""

import torch
import triton
import triton.language as tl


@triton.jit
def products(a_ptr, b_ptr, c_ptr, n, m, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for first in range(0, m, BLOCK):
        at = first + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row[:, None] * stride + at[None, :], mask=(row < n)[:, None] & (at < m)[None, :], other=0.0)
        total += a.to(tl.float32) * tl.load(b_ptr + at, mask=at < m, other=0.0).to(tl.float32)[None, :]
    tl.store(c_ptr + row, tl.sum(total, axis=1), mask=row < n)


def mv(inp, vec):
    n, m = inp.shape
    out = torch.empty(n, device=inp.device, dtype=inp.dtype)
    inp = inp.contiguous()
    products[((n + 7) // 8,)](inp, vec, out, n, m, m, 8, 64, num_warps=1)
    return out
