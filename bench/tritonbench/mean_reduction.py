# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mean over neighbouring dimensions of a contiguous array, read where it is instead of from a copy; otherwise as PyTorch has it."""

import torch
import triton
import triton.language as tl


@triton.jit
def means(x_ptr, y_ptr, count, middle, inner, BLOCK: tl.constexpr, MIDDLE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < count
    base = at // inner * middle * inner + at % inner
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, middle, MIDDLE):
        step = first + tl.arange(0, MIDDLE)
        mask = there[:, None] & (step < middle)[None, :]
        total += tl.sum(tl.load(x_ptr + base[:, None] + step[None, :] * inner, mask=mask, other=0.0).to(tl.float32), axis=1)
    tl.store(y_ptr + at, total / middle, mask=there)


def mean_dim(x, dim, keepdim=False, *, dtype=None):
    dims = sorted(one % x.ndim for one in ([dim] if isinstance(dim, int) else dim))
    kept = [1 if i in dims else extent for i, extent in enumerate(x.shape)]
    if not x.is_contiguous() or dims != list(range(dims[0], dims[-1] + 1)):
        return x.float().mean(dims, keepdim=keepdim).to(dtype or x.dtype)
    out = torch.empty(kept, dtype=dtype or x.dtype, device=x.device)
    middle = inner = 1
    for i, extent in enumerate(x.shape):
        if i in dims:
            middle *= extent
        elif i > dims[-1]:
            inner *= extent
    means[((out.numel() + 31) // 32,)](x, out, out.numel(), middle, inner, 32, 16, num_warps=1)
    return out if keepdim else out.squeeze(dims)
