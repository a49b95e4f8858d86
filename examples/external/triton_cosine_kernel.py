# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import triton
import triton.language as tl


@triton.jit
def cosine(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    k = tl.program_id(0) * BM + tl.arange(0, BM)
    sums = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, n, BN):
        j = begin + tl.arange(0, BN)
        # The angle in parts of a turn, 4 n of them: exact, and a product that wraps around stays right.
        part = (k[:, None] * (2 * j + 1)[None, :]) & (4 * n - 1)
        sums += tl.load(x + j)[None, :] * tl.cos(part.to(tl.float32) * (1.5707963267948966 / n))
    scale = tl.sqrt(tl.where(k == 0, 1.0, 2.0) / n)
    tl.store(y + k, tl.sum(sums, 1) * scale)


def run(n, x, y, BM, BN, WARPS):
    """x, y: tensors of n elements on the device."""
    cosine[(n // BM,)](x, y, n, BM=BM, BN=BN, num_warps=WARPS)
