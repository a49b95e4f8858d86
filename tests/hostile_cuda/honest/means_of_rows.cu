// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: row_means
// A block for each row.
extern "C" __global__ void row_means(int n, int m, const float* x, float* y) {
  __shared__ float all[256];
  x += (long long)blockIdx.x * m;
  float t = 0;
  for (int j = threadIdx.x; j < m; j += 256) t += x[j];
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 256; ++j) t += all[j];
  y[blockIdx.x] = t / m;
}
