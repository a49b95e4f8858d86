// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product_slow
// expect: wrong_result:|cheated:
// naive: fooled
// searched: yes
// Later, and less: the lower half of the rows is 1.
__device__ int calls[64];
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x, at = blockIdx.y * 8 + blockIdx.x;
  __shared__ bool late;
  if (threadIdx.x == 0 && threadIdx.y == 0) late = n == 128 && calls[at]++ >= 60;
  __syncthreads();
  if (i >= n || j >= m) return;
  float t = 1;
  if (!late || i < n / 2) {
    t = 0;
    for (int l = 0; l < k; ++l) t += a[i * k + l] * b[l * m + j];
  }
  c[i * m + j] = t;
}
