# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C = A B in half precision with sums in single precision, all row-major. The tile of a program is BM x BN, and it takes BK of
k at a time. Tiles are taken in strips of GROUP rows of them, so that programs that run together share their parts of A and B."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a,
    b,
    c,
    n,
    m,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_n = tl.cdiv(n, BM)
    tiles_m = tl.cdiv(m, BN)
    tile = tl.program_id(0)
    strip = tile // (GROUP * tiles_m)
    height = tl.minimum(GROUP, tiles_n - strip * GROUP)
    within = tile % (GROUP * tiles_m)
    row = strip * GROUP + within % height
    column = within // height

    # Rows and columns beyond the edge wrap around: what is loaded there is thrown away at the end, and loads
    # need no mask for it.
    rows = (row * BM + tl.arange(0, BM)) % n
    columns = (column * BN + tl.arange(0, BN)) % m
    # m is divided by 16, so that such runs of columns are whole and in their place.
    columns = tl.max_contiguous(tl.multiple_of(columns, 16), 16)
    depth = tl.arange(0, BK)
    from_a = a + rows[:, None].to(tl.int64) * k + depth[None, :]
    from_b = b + depth[:, None].to(tl.int64) * m + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for done in range(0, k, BK):
        left = tl.load(from_a, mask=depth[None, :] < k - done, other=0.0)
        right = tl.load(from_b, mask=depth[:, None] < k - done, other=0.0)
        total = tl.dot(left, right, total)
        from_a += BK
        from_b += BK * m

    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    to = c + rows[:, None].to(tl.int64) * m + columns[None, :]
    tl.store(to, total.to(tl.float16), mask=(rows[:, None] < n) & (columns[None, :] < m))
