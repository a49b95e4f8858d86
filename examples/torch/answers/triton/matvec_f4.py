# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bits of a 4-bit float are those of a half whose exponent counts from another number: a product with 2^14 makes up for it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def halves(packed):
    """Of each byte the lower and the upper value."""
    return tl.inline_asm_elementwise(
        """{
        .reg .b32 even, odd, bits, sign, large;
        mov.b32 large, 0x74007400;
        prmt.b32 even, $4, 0, 0x4140;
        prmt.b32 odd, $4, 0, 0x4342;
        shl.b32 bits, even, 9;
        shl.b32 sign, even, 12;
        and.b32 sign, sign, 0x80008000;
        lop3.b32 bits, bits, 0x0e000e00, sign, 0xea;
        mul.f16x2 $0, bits, large;
        shl.b32 bits, odd, 9;
        shl.b32 sign, odd, 12;
        and.b32 sign, sign, 0x80008000;
        lop3.b32 bits, bits, 0x0e000e00, sign, 0xea;
        mul.f16x2 $1, bits, large;
        shl.b32 bits, even, 5;
        shl.b32 sign, even, 8;
        and.b32 sign, sign, 0x80008000;
        lop3.b32 bits, bits, 0x0e000e00, sign, 0xea;
        mul.f16x2 $2, bits, large;
        shl.b32 bits, odd, 5;
        shl.b32 sign, odd, 8;
        and.b32 sign, sign, 0x80008000;
        lop3.b32 bits, bits, 0x0e000e00, sign, 0xea;
        mul.f16x2 $3, bits, large;
        }""",
        "=r,=r,=r,=r,r", [packed], dtype=(tl.float16, tl.float16), is_pure=True, pack=4,
    )  # fmt: skip


@triton.jit
def multiply(w_ptr, scale_ptr, x_ptr, y_ptr, n, k, ROWS: tl.constexpr, GROUPS: tl.constexpr, STAGES: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    groups = tl.arange(0, GROUPS)
    bytes_ = groups[None, :, None] * 8 + tl.arange(0, 8)[None, None, :]
    pairs = groups[None, :, None, None] * 16 + tl.arange(0, 8)[None, None, :, None] * 2 + tl.arange(0, 2)[None, None, None, :]
    blocks = k // 16
    w = w_ptr + (rows % n).to(tl.int64)[:, None, None] * (k // 2) + bytes_
    scale = scale_ptr + ((rows % n)[:, None] * blocks + groups[None, :])[:, :, None]
    sums = tl.zeros((ROWS, GROUPS, 8), dtype=tl.float32)
    for block in tl.range(0, blocks, GROUPS, num_stages=STAGES):
        there = groups < blocks - block
        packed = tl.load(w + block * 8, mask=there[None, :, None], other=0, eviction_policy="evict_first")
        low, high = halves(packed)
        even, odd = tl.split(tl.load(x_ptr + block * 16 + pairs, mask=there[None, :, None, None], other=0))
        scales = tl.load(scale + block, mask=there[None, :, None], other=0.0).to(tl.float32)
        sums += (low * even + high * odd).to(tl.float32) * scales
    tl.store(y_ptr + rows, tl.sum(tl.sum(sums, axis=2), axis=1).to(tl.float16), mask=rows < n)


ROWS, GROUPS, WARPS, STAGES = 4, 64, 4, 3


class ModelNew(nn.Module):
    def forward(self, weights, scales, x):
        n, k = weights.shape[0], x.shape[0]
        y = torch.empty(n, dtype=torch.float16, device=x.device)
        multiply[(triton.cdiv(n, ROWS),)](weights, scales, x, y, n, k, ROWS, GROUPS, STAGES, num_warps=WARPS)
        return y
