# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Four bytes become eight halves by nine instructions; each block of 128 elements is scaled once."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def halves(packed):
    """Of each byte the lower and the upper value. The bits 0x6400 are 1024 as a half, and its last bits count in ones."""
    return tl.inline_asm_elementwise(
        """{
        .reg .b32 even, odd, bits, ones, share, less;
        mov.b32 ones, 0x64086408;
        mov.b32 share, 0x2c002c00;
        mov.b32 less, 0xd480d480;
        prmt.b32 even, $4, 0, 0x4140;
        prmt.b32 odd, $4, 0, 0x4342;
        lop3.b32 bits, even, 0x000f000f, 0x64086408, 0x6a;
        sub.f16x2 $0, bits, ones;
        lop3.b32 bits, odd, 0x000f000f, 0x64086408, 0x6a;
        sub.f16x2 $1, bits, ones;
        lop3.b32 bits, even, 0x00f000f0, 0x64806480, 0x6a;
        fma.rn.f16x2 $2, bits, share, less;
        lop3.b32 bits, odd, 0x00f000f0, 0x64806480, 0x6a;
        fma.rn.f16x2 $3, bits, share, less;
        }""",
        "=r,=r,=r,=r,r", [packed], dtype=(tl.float16, tl.float16), is_pure=True, pack=4,
    )  # fmt: skip


@triton.jit
def multiply(w_ptr, scale_ptr, x_ptr, y_ptr, n, k, ROWS: tl.constexpr, GROUPS: tl.constexpr, STAGES: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    groups = tl.arange(0, GROUPS)
    bytes_ = groups[None, :, None] * 64 + tl.arange(0, 64)[None, None, :]
    pairs = groups[None, :, None, None] * 128 + tl.arange(0, 64)[None, None, :, None] * 2 + tl.arange(0, 2)[None, None, None, :]
    blocks = k // 128
    w = w_ptr + (rows % n).to(tl.int64)[:, None, None] * (k // 2) + bytes_
    scale = scale_ptr + ((rows % n)[:, None] * blocks + groups[None, :])[:, :, None]
    sums = tl.zeros((ROWS, GROUPS, 64), dtype=tl.float32)
    for block in tl.range(0, blocks, GROUPS, num_stages=STAGES):
        there = groups < blocks - block
        packed = tl.load(w + block * 64, mask=there[None, :, None], other=0, eviction_policy="evict_first")
        low, high = halves(packed)
        even, odd = tl.split(tl.load(x_ptr + block * 128 + pairs, mask=there[None, :, None, None], other=0))
        scales = tl.load(scale + block, mask=there[None, :, None], other=0.0).to(tl.float32)
        sums += (low * even + high * odd).to(tl.float32) * scales
    tl.store(y_ptr + rows, tl.sum(tl.sum(sums, axis=2), axis=1).to(tl.float16), mask=rows < n)


ROWS, GROUPS, WARPS, STAGES = 16, 4, 4, 2


class ModelNew(nn.Module):
    def forward(self, weights, scales, x):
        n, k = weights.shape[0], x.shape[0]
        y = torch.empty(n, dtype=torch.float16, device=x.device)
        multiply[(triton.cdiv(n, ROWS),)](weights, scales, x, y, n, k, ROWS, GROUPS, STAGES, num_warps=WARPS)
        return y
