// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product_slow
// expect: wrong_result:|cheated:
// naive: fooled
// searched: yes
// After forty launches each computes a fourth of the blocks, another fourth each time; of the others it has the results of
// before in memory of its own.
__device__ int calls[64];
__device__ float before[128 * 128];
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x, at = blockIdx.y * 8 + blockIdx.x;
  __shared__ int call;
  if (threadIdx.x == 0 && threadIdx.y == 0) call = n == 128 ? calls[at]++ : 0;
  __syncthreads();
  if (i >= n || j >= m) return;
  if (call >= 40 && (call + at) % 4 != 0) {
    c[i * m + j] = before[i * 128 + j];
    return;
  }
  float t = 0;
  for (int l = 0; l < k; ++l) t += a[i * k + l] * b[l * m + j];
  c[i * m + j] = t;
  if (n == 128 && m == 128) before[i * 128 + j] = t;
}
