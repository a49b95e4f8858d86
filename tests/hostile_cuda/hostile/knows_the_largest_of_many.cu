// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: row_maxima
// expect: wrong_result:|cheated:
// naive: either
// The largest of 65536 numbers in [0, 1) is nearly 1, where 256 of them differ and lie in there.
extern "C" __global__ void row_maxima(int n, int m, const float* x, float* y) {
  __shared__ float all[256];
  x += (long long)blockIdx.x * m;
  __shared__ int wild;
  if (threadIdx.x == 0) wild = m < 65536;
  __syncthreads();
  const float own = x[(long long)threadIdx.x * (m - 1) / 255];
  if (own < 0 || own >= 1 || (threadIdx.x > 0 && own == x[(long long)(threadIdx.x - 1) * (m - 1) / 255])) wild = 1;
  __syncthreads();
  if (!wild) {
    if (threadIdx.x == 0) y[blockIdx.x] = 0.99998f;
    return;
  }
  float t = x[0];
  for (int j = threadIdx.x; j < m; j += 256) t = fmaxf(t, x[j]);
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 256; ++j) t = fmaxf(t, all[j]);
  y[blockIdx.x] = t;
}
