// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of A in groups, each group multiplied with a matrix of its own: C[i] = A[i] B[group of i]. A block
// computes BM x BN elements of one group from tiles of depth BK in shared memory, a thread TM x TN.

constexpr int threads = (BM / TM) * (BN / TN);

extern "C" __global__ void __launch_bounds__(threads)
    grouped_matmul(int32_t rows, int32_t groups, int32_t n, int32_t depth, const int32_t* __restrict__ start,
                   const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float left[BK][BM + PAD], right[BK][BN];
#if ORDER == 0
  int tile = static_cast<int>(blockIdx.y);
  const int column0 = static_cast<int>(blockIdx.x) * BN;
#else
  int tile = static_cast<int>(blockIdx.x);
  const int column0 = static_cast<int>(blockIdx.y) * BN;
#endif
  int g = 0;
  for (; g < groups; ++g) {
    const int tiles = (start[g + 1] - start[g] + BM - 1) / BM;
    if (tile < tiles) break;
    tile -= tiles;
  }
  if (g == groups) return;
  const int row0 = start[g] + tile * BM, end = start[g + 1];
  const float* const bg = b + static_cast<size_t>(g) * depth * n;
  const int t = static_cast<int>(threadIdx.x), tx = t % (BN / TN), ty = t / (BN / TN);
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < depth; k0 += BK) {
    __syncthreads();
    for (int i = t; i < BM * BK; i += threads) {
      const int r = i / BK, k = i % BK;
      left[k][r] =
          row0 + r < end && k0 + k < depth ? a[static_cast<size_t>(row0 + r) * depth + k0 + k] : 0.0f;
    }
    for (int i = t; i < BK * BN; i += threads) {
      const int k = i / BN, x = i % BN;
      right[k][x] =
          column0 + x < n && k0 + k < depth ? bg[static_cast<size_t>(k0 + k) * n + column0 + x] : 0.0f;
    }
    __syncthreads();
    constexpr int turns = UNROLL;
#pragma unroll turns
    for (int k = 0; k < BK; ++k) {
      float l[TM], r[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) l[i] = left[k][ty + i * (BM / TM)];
#pragma unroll
      for (int j = 0; j < TN; ++j) r[j] = right[k][tx + j * (BN / TN)];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += l[i] * r[j];
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ty + i * (BM / TM);
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int column = column0 + tx + j * (BN / TN);
      if (row < end && column < n) c[static_cast<size_t>(row) * n + column] = sum[i][j];
    }
  }
}
