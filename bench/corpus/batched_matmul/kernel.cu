// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of many pairs of 16 x 16 matrices. A block takes BATCH of them, a thread TM x TN elements of a
// product.

constexpr int size = 16, per = (size / TM) * (size / TN), threads = BATCH * per;

struct alignas(4 * VECTOR) Pack {
  float v[VECTOR];
};

__device__ __forceinline__ void fill(float (*to)[size][size + PAD], const float* from, int matrices) {
  for (int i = static_cast<int>(threadIdx.x) * VECTOR; i < matrices * size * size; i += threads * VECTOR) {
    const Pack pack = *reinterpret_cast<const Pack*>(from + i);
    float* const row = &to[i / (size * size)][i / size % size][i % size];
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) row[v] = pack.v[v];
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    batched_matmul(int32_t count, const float* __restrict__ a, const float* __restrict__ b,
                   float* __restrict__ c) {
  const int first = static_cast<int>(blockIdx.x) * BATCH, here = min(BATCH, count - first);
  const size_t begin = static_cast<size_t>(first) * size * size;
#if A_SHARED
  __shared__ float left[BATCH][size][size + PAD];
  fill(left, a + begin, here);
#endif
#if B_SHARED
  __shared__ float right[BATCH][size][size + PAD];
  fill(right, b + begin, here);
#endif
#if A_SHARED || B_SHARED
  __syncthreads();
#endif
  const int m = static_cast<int>(threadIdx.x) / per, t = static_cast<int>(threadIdx.x) % per;
  if (m >= here) return;
  const int row = t / (size / TN), column = t % (size / TN);
  const float* const am = a + begin + m * size * size;
  const float* const bm = b + begin + m * size * size;
  float sum[TM][TN] = {};
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int k = 0; k < size; ++k) {
    float l[TM], r[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int y = row + i * (size / TM);
#if A_SHARED
      l[i] = left[m][y][k];
#else
      l[i] = am[y * size + k];
#endif
    }
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int x = column + j * (size / TN);
#if B_SHARED
      r[j] = right[m][k][x];
#else
      r[j] = bm[k * size + x];
#endif
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] += l[i] * r[j];
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      c[begin + m * size * size + (row + i * (size / TM)) * size + column + j * (size / TN)] = sum[i][j];
}
