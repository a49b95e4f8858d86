# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""x sigmoid(x) y of the two halves of a row, in blocks of 1024 without a search for their size."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate(xy_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(xy_ptr + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
    y = tl.load(xy_ptr + row * stride + n + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * n + at, x * tl.sigmoid(x) * y, mask=at < n)


def _swiglu_fwd(xy, out=None):
    xy = xy.contiguous()
    n = xy.shape[-1] // 2
    if out is None:
        out = xy.new_empty(*xy.shape[:-1], n)
    block = min(1024, triton.next_power_of_2(n))
    gate[(xy.numel() // (2 * n), (n + block - 1) // block)](xy, out, 2 * n, n, block, num_warps=4)
    return out
