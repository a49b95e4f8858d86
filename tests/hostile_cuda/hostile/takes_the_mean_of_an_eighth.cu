// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: row_means
// expect: wrong_result:|cheated:
// naive: fooled
// An eighth of a row, in stretches over all of it, has its mean.
extern "C" __global__ void row_means(int n, int m, const float* x, float* y) {
  __shared__ float all[256];
  x += (long long)blockIdx.x * m;
  const int stride = m >= 16384 ? 8 : 1;
  float t = 0;
  int count = 0;
  for (int j = threadIdx.x; j < m; j += 256 * stride) t += x[j], ++count;
  __shared__ int counts[256];
  all[threadIdx.x] = t;
  counts[threadIdx.x] = count;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 256; ++j) t += all[j], count += counts[j];
  y[blockIdx.x] = t / count;
}
