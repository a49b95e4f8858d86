# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One kernel: a product of 8-bit floats for each 128 of k, scaled and added to sums in single precision."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def multiply(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
    # Blocks that run at the same time share rows of A and of B, which the second-level cache then has.
    tile = tl.program_id(0)
    first = tile // (GROUP * tiles_n) * GROUP
    size = min(tiles_m - first, GROUP)
    tile_m = first + tile % (GROUP * tiles_n) % size
    tile_n = tile % (GROUP * tiles_n) // size
    rows, columns = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, 128)
    a = a_ptr + (rows % m)[:, None] * k + depth[None, :]
    b = b_ptr + (columns % n)[None, :] * k + depth[:, None]
    blocks = k // 128
    a_scale, b_scale = a_scale_ptr + (rows % m) * blocks, b_scale_ptr + tile_n * BN // 128 * blocks
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for block in range(blocks):
        part = tl.dot(tl.load(a + block * 128), tl.load(b + block * 128))
        sums += part * (tl.load(a_scale + block) * tl.load(b_scale + block))[:, None]
    at = c_ptr + rows[:, None] * n + columns[None, :]
    tl.store(at, sums.to(tl.bfloat16), mask=(rows < m)[:, None] & (columns < n)[None, :])


BM, BN, WARPS, STAGES = 64, 64, 4, 6


class ModelNew(nn.Module):
    def forward(self, a, a_scale, b, b_scale):
        (m, k), n = a.shape, b.shape[0]
        c = torch.empty(m, n, dtype=torch.bfloat16, device=a.device)
        grid = (triton.cdiv(m, BM) * triton.cdiv(n, BN),)
        multiply[grid](a, a_scale, b, b_scale, c, m, n, k, BM, BN, 8, num_warps=WARPS, num_stages=STAGES)
        return c
